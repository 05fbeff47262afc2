"""The ReliK of one triple, by all its negatives or by some.

Defined in numbers.md#4-relik; by some of them in numbers.md#21-inspecting-a-prediction.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kgdash.progress import Progress, phases, silent
from kgdash.ranking.better_interval import better_interval
from kgdash.ranking.relik import relik_of_ranks
from kgdash.ranking.relik_sampled import draw_negatives, scores_of
from kgdash.runs import Run
from kgdash.scoring import ENTITY_SIDES
from kgdash.studies.inspection.candidates import SideCandidates
from kgdash.studies.inspection.inspected_triple import InspectedTriple

#: negatives of other relations that are drawn a side where all would take long
DRAWN = 100_000

#: of a side's interval, so that both hold at once with 95%
_LEVEL = 0.975


@dataclass(frozen=True)
class Relik:
    """The ReliK of a triple, its ranks among the negatives, and how many these are.

    The triple itself is not counted among the negatives. ``interval``: None where all of them were
    counted; else that of 95%, and ``value`` and the ranks are geometric middles of such intervals.
    """

    value: float
    head_rank: int
    tail_rank: int
    head_negatives: int
    tail_negatives: int
    interval: tuple[float, float] | None = None


def sampled_relik(
    run: Run,
    triple: InspectedTriple,
    sides: Mapping[str, SideCandidates],
    progress: Progress = silent,
) -> Relik:
    """Estimate a whole triple's ReliK: its relation's negatives are all counted, of others some.

    :param sides: its candidates, by side
    :param progress: called with (done, total); may raise to cancel
    :return: the same each time
    :raises KgdashError: on NaN scores
    """
    reports = phases(progress, [0.5, 0.5])
    head, tail = (
        _estimate(run, triple.row, anchor, sides["tail" if anchor == "head" else "head"], report)
        for anchor, report in zip(ENTITY_SIDES, reports, strict=True)
    )
    low = relik_of_ranks(head.highest, tail.highest)
    high = relik_of_ranks(head.lowest, tail.lowest)
    return Relik(
        math.sqrt(low * high),
        head.rank,
        tail.rank,
        head.negatives,
        tail.negatives,
        (low, high),
    )


@dataclass(frozen=True)
class _Estimate:
    """The bounds that a rank among ``negatives`` lies between, with `_LEVEL`."""

    lowest: int
    highest: int
    negatives: int

    @property
    def rank(self) -> int:
        """Return the geometric middle of both: a sample that nothing beats is not taken for all."""
        return round(math.sqrt(self.lowest * self.highest))


def _estimate(
    run: Run, triple: np.ndarray, anchor: str, candidates: SideCandidates, progress: Progress
) -> _Estimate:
    """Estimate the triple's rank among the negatives that share one end.

    :param triple: ids, shape ``(1, 3)``
    :param candidates: for the other end, so that their negatives have the triple's relation
    """
    graph, answer = run.graph, candidates.answer
    assert answer is not None, "the triple is whole"
    relation, entities = int(triple[0, 1]), graph.num_entities
    unknown = candidates.split < 0
    here = int((candidates.scores[unknown] > candidates.score(answer)).sum())
    same = int(unknown.sum()) - int(unknown[answer])

    end = triple[0, [0 if anchor == "head" else 2]]
    known = graph.known().triples_with_entity(end, anchor)[1]
    known = known[known // entities != relation]
    # Numbered without the triple's own relation: those behind it move up by one.
    known = known - entities * (known // entities > relation)
    size = entities * (graph.num_relations - 1)
    drawn = draw_negatives(known, size, DRAWN, np.random.default_rng(0))
    relations, others = np.divmod(drawn, entities)
    rows = np.repeat(triple, len(drawn) + 1, axis=0)
    rows[1:, 1] = relations + (relations >= relation)
    rows[1:, 2 if anchor == "head" else 0] = others
    scores = scores_of(run.scorer, rows, candidates.side, progress)
    progress(1, 1)

    better, left = int((scores[1:] > scores[0]).sum()), size - len(known)
    sample = np.array([better]), np.array([len(drawn)]), np.array([left])
    lowest, highest = (int(bound[0]) for bound in better_interval(*sample, _LEVEL))
    return _Estimate(1 + here + lowest, 1 + here + highest, same + left)
