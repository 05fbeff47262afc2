"""Who ties: with a true answer, and entities that no score of the model tells apart."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph.known_triples import SIDES, KnownTriples
from kgdash.health.sweep import all_scores, distinct_queries
from kgdash.progress import Progress, phases, silent
from kgdash.scoring import ENTITY_SIDES, Scorer

#: queries after which entities are compared for the first time: few are equal by then
_FIRST = 8


def tie_groups(ranks: pd.DataFrame, count: int = 50) -> pd.DataFrame:
    """Return the ranks with the most other candidates at the true answer's score.

    :param ranks: of `kgdash.ranking.ranks.rank_triples`
    :return: ``head, relation, tail, side, equal_scores`` (int64, ≥ 1: other candidates with the
        true answer's score), ``optimistic``, ``pessimistic``, ``candidates``; the largest group
        first, equal ones in the order of the table
    """
    table = ranks.assign(equal_scores=ranks["pessimistic"] - ranks["optimistic"])
    table = table[table["equal_scores"] > 0]
    table = table.sort_values("equal_scores", ascending=False, kind="stable").head(count)
    columns = ["head", "relation", "tail", "side", "equal_scores"]
    columns += ["optimistic", "pessimistic", "candidates"]
    return table[columns].reset_index(drop=True)


def tied_candidates(
    scorer: Scorer, triple: Sequence[int], side: str, known: KnownTriples | None
) -> np.ndarray:
    """List the other candidates that score exactly what the true answer of a query does.

    :param triple: ids of head, relation, tail
    :param side: "head" or "tail": what is asked for
    :param known: triples removed from the candidates, or None for raw
    :return: entity ids, int64, ascending; none where the true score is NaN
    :raises KgdashError: on an unknown side
    """
    if side not in ENTITY_SIDES:
        raise KgdashError(f"expected side head or tail; found {side!r}")
    row = np.array([triple], dtype=np.int64)
    _, scores = next(all_scores(scorer, side, *distinct_queries(row, side)))
    answer = row[0, SIDES[side][1]]
    tied = scores[0] == scores[0, answer]
    if known is not None:
        tied[known.known_answers(row, side)[1]] = False
    tied[answer] = False
    return np.flatnonzero(tied)


def always_tied(
    scorer: Scorer,
    triples: np.ndarray,
    sides: Sequence[str] = ENTITY_SIDES,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Find entities that score the same as candidates in every query, on all sides.

    Equal embeddings do that, all-zero ones too. Queries are compared until no two entities are left
    that never differed, or to the end.

    :param triples: int64, ``(n, 3)``: what asks the queries
    :param sides: "head", "tail" or both
    :return: ``group`` (int64, from 0, the largest first), ``entity`` (int64 id); entities in
        ascending order. A NaN equals nothing
    """
    group = np.zeros(scorer.num_entities, dtype=np.int64)
    entities = np.arange(scorer.num_entities)
    for side, report in zip(sides, phases(progress, [1.0] * len(sides)), strict=True):
        if not len(entities):
            break
        anchors, relations = distinct_queries(triples, side)
        for start, scores in all_scores(scorer, side, anchors, relations, _FIRST, report):
            entities, group = _never_differed(entities, group, scores[:, entities])
            report(start + len(scores), len(anchors))
            if not len(entities):
                break
    progress(1, 1)
    sizes = np.bincount(group)
    place = np.argsort(np.argsort(-sizes, kind="stable"))
    table = pd.DataFrame({"group": place[group], "entity": entities})
    return table.sort_values(["group", "entity"], ignore_index=True)


def _never_differed(
    entities: np.ndarray, group: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Split groups by scores, ``(rows, entities)``, and keep what has company."""
    kept = ~np.isnan(scores).any(axis=0)
    entities, group = entities[kept], group[kept]
    # -0.0 equals 0.0, by other bits.
    columns = np.column_stack([group, scores[:, kept].T + 0.0]).astype(np.float64)
    if not len(columns):
        return entities, group
    as_bytes = np.ascontiguousarray(columns).view(f"V{8 * columns.shape[1]}").ravel()
    _, group, sizes = np.unique(as_bytes, return_inverse=True, return_counts=True)
    several = sizes[group] > 1
    return entities[several], np.unique(group[several], return_inverse=True)[1]
