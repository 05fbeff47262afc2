"""Which entities and relations NaN scores belong to."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kgdash.health.sweep import all_scores, distinct_queries
from kgdash.progress import Progress, phases, silent
from kgdash.scoring import ENTITY_SIDES, Scorer


def missing_scores(
    scorer: Scorer,
    triples: np.ndarray,
    sides: Sequence[str] = ENTITY_SIDES,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Count the NaN scores that each entity and relation takes part in.

    All candidates of all distinct queries are looked at, known answers too. An entity takes part
    in all scores of its queries, and in every query as one candidate.

    :param triples: int64, ``(n, 3)``: what asks the queries
    :param sides: "head", "tail" or both
    :return: one row per entity and relation with a NaN score, those with the largest share first:
        ``kind`` ("entity" or "relation"), ``id``, ``nan``, ``scores`` (int64: how many it has),
        ``share`` (float64, in (0, 1]; 1: every score is NaN)
    """
    of_entities = np.zeros((2, scorer.num_entities), dtype=np.int64)
    of_relations = np.zeros((2, scorer.num_relations), dtype=np.int64)
    for side, report in zip(sides, phases(progress, [1.0] * len(sides)), strict=True):
        anchors, relations = distinct_queries(triples, side)
        for start, scores in all_scores(scorer, side, anchors, relations, progress=report):
            missing = np.isnan(scores)
            rows = slice(start, start + len(scores))
            for counts, ids in ((of_entities, anchors[rows]), (of_relations, relations[rows])):
                np.add.at(counts[0], ids, missing.sum(axis=1))
                np.add.at(counts[1], ids, missing.shape[1])
            # An anchor's score of itself is counted already.
            itself = np.zeros_like(missing)
            itself[np.arange(len(itself)), anchors[rows]] = True
            of_entities[0] += (missing & ~itself).sum(axis=0)
            of_entities[1] += (~itself).sum(axis=0)
            report(rows.stop, len(anchors))
    parts = [
        pd.DataFrame({"kind": kind, "id": np.arange(counts.shape[1])}).assign(
            nan=counts[0], scores=counts[1]
        )
        for kind, counts in (("entity", of_entities), ("relation", of_relations))
    ]
    table = pd.concat(parts, ignore_index=True)
    table = table[table["nan"] > 0].assign(share=lambda rows: rows["nan"] / rows["scores"])
    return table.sort_values("share", ascending=False, kind="stable", ignore_index=True)
