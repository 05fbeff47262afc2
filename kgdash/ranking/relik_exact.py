"""Scores → table of head and tail ranks among all negatives, from which ReliK follows.

Defined in `kgdash.ranking.relik`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from kgdash.engine.counting import count_both_sides
from kgdash.engine.counting import count_negatives as count_by_form
from kgdash.graph.known_triples import KnownTriples
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.relik import SideCounts
from kgdash.ranking.relik_rows import count_in_rows
from kgdash.scoring import ENTITY_SIDES, Scorer

#: how many scores counted on one side cost as much as one that is counted on both
_BOTH_COST = 1.6


def relik_exact(
    scorer: Scorer, triples: np.ndarray, known: KnownTriples, progress: Progress = silent
) -> pd.DataFrame:
    """Compute ReliK's ranks exactly.

    The |R|·|E| scores of an anchor (the head, then the tail) are computed once for all its triples.

    :param scorer: the model
    :param triples: int64, shape ``(n, 3)``; they may be known triples or not
    :param known: F, the triples that are no negatives
    :param progress: called with (done, total)
    :return: one row per triple, in the given order: ``head, relation, tail`` (ids) and for side in
        head, tail: ``{side}_greater, {side}_equal, {side}_negatives`` (int64, see `SideCounts`)
    :raises KgdashError: if a score is NaN
    """
    table = pd.DataFrame(triples, columns=["head", "relation", "tail"])
    for side, counts in _both_sides(scorer, triples, known, progress):
        table[f"{side}_greater"] = counts.greater
        table[f"{side}_equal"] = counts.equal
        table[f"{side}_negatives"] = counts.negatives
    return table


def _both_sides(
    scorer: Scorer, triples: np.ndarray, known: KnownTriples, progress: Progress
) -> Iterator[tuple[str, SideCounts]]:
    form = scorer.form
    anchors = [len(np.unique(triples[:, column])) for column in (0, 2)]
    if (
        form is not None
        and form.one_function
        and form.device.type == "cpu"
        and sum(anchors) > _BOTH_COST * scorer.num_entities
    ):
        both = count_both_sides(form, triples, known, progress)
        for side, (greater, equal) in zip(ENTITY_SIDES, both, strict=True):
            negatives = _population(scorer, triples, known, side)
            yield side, SideCounts(greater, equal, negatives)
        return
    reports = phases(progress, [float(count) for count in anchors])
    for side, report in zip(ENTITY_SIDES, reports, strict=True):
        yield side, count_negatives(scorer, triples, known, side, report)


def count_negatives(
    scorer: Scorer,
    triples: np.ndarray,
    known: KnownTriples,
    side: str,
    progress: Progress = silent,
) -> SideCounts:
    """Count the negatives that share the head (or tail) and score higher than, or as, each triple.

    :param side: "head" for N⁻(h), "tail" for N⁻(t)
    """
    if scorer.form is not None:
        greater, equal = count_by_form(scorer.form, triples, known, side, progress)
        return SideCounts(greater, equal, _population(scorer, triples, known, side))
    greater, equal = count_in_rows(scorer, triples, known, side, progress).T
    return SideCounts(greater, equal, _population(scorer, triples, known, side))


def _population(scorer: Scorer, triples: np.ndarray, known: KnownTriples, side: str) -> np.ndarray:
    """Count the negatives around each triple's head (or tail): int64, ``(n,)``."""
    anchors, group = np.unique(triples[:, 0 if side == "head" else 2], return_inverse=True)
    owner, _ = known.triples_with_entity(anchors, side)
    everything = scorer.num_entities * scorer.num_relations
    return everything - np.bincount(owner, minlength=len(anchors))[group]
