"""A triple inspected: candidates and ranks on each side, ReliK, and the negatives that beat it.

The parts are those of numbers.md#21-inspecting-a-prediction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgdash.errors import unknown_name
from kgdash.graph import FILTERS, default_filter
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.relik import relik_of_ranks
from kgdash.runs import Run
from kgdash.scoring import ENTITY_SIDES
from kgdash.studies.inspection.better_negatives import (
    BetterNegatives,
    better_negatives,
    count_negatives_around,
)
from kgdash.studies.inspection.candidates import SideCandidates, side_candidates
from kgdash.studies.inspection.inspected_triple import InspectedTriple

#: what counts as known, unless told otherwise
FILTER = default_filter(None)

#: of the negatives that beat a triple, so many are listed unless told otherwise
K = 10


@dataclass(frozen=True)
class Relik:
    """The exact ReliK of a triple, its ranks among the negatives, and how many these are.

    The triple itself is not counted among the negatives.
    """

    value: float
    head_rank: int
    tail_rank: int
    head_negatives: int
    tail_negatives: int


@dataclass(frozen=True)
class Inspection:
    """What a model says of one triple.

    ``sides``: the candidates by side, of a whole triple "tail", "relation" and "head", else of the
    open side alone. ``relik``: None for an open triple. ``k``: how many of the negatives that beat
    it are listed. ``better``: these by end, where ReliK was counted of them; else empty.
    """

    run: Run
    triple: InspectedTriple
    filter: str
    sides: dict[str, SideCandidates]
    relik: Relik | None
    k: int = K
    better: Mapping[str, BetterNegatives] = field(default_factory=dict)

    @property
    def known(self) -> str | None:
        """Return the first split that holds the triple; None if none does, or a side is open."""
        if self.triple.open_side is not None:
            return None
        split = str(self.run.graph.split_of(self.triple.row)[0])
        return None if split == "none" else split

    @property
    def score(self) -> float | None:
        """Return the triple's score, as candidates for the tail are scored; None for an open one.

        Models with inverse relations score heads otherwise: ``sides["head"]`` has that score.
        """
        tail = self.sides.get("tail")
        return None if tail is None or tail.answer is None else tail.score(tail.answer)


def inspect_triple(
    run: Run,
    triple: InspectedTriple,
    filter: str | None = None,
    k: int = K,
    progress: Progress = silent,
) -> Inspection:
    """Score a triple's candidates and take its ReliK.

    :param filter: what counts as known in ranks, as in `Run.ranks`; default: all splits
    :param k: how many of the negatives that beat it are listed
    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: on an unknown filter, or NaN scores
    """
    filter = FILTER if filter is None else filter
    if filter not in FILTERS:
        raise unknown_name("filter", filter, list(FILTERS), "kgdash")
    sides = {side: side_candidates(run, triple, side, filter) for side in triple.sides}
    relik, better = None, {}
    if triple.open_side is None:
        # One pass over all scores counts both; a known triple's ReliK mostly needs none.
        if run.graph.positions(triple.row)[0] < 0:
            better = _around_both_ends(run, triple, k, progress)
            head, tail = (better[side].count + 1 for side in ENTITY_SIDES)
        else:
            found = run.relik(triples=triple.row, progress=progress).iloc[0]
            head, tail = int(found["head_rank"]), int(found["tail_rank"])
        around = (count_negatives_around(run.graph, triple.row[0], s) for s in ENTITY_SIDES)
        relik = Relik(relik_of_ranks(head, tail), head, tail, *around)
    return Inspection(run, triple, filter, sides, relik, k, better)


def what_beats(
    inspection: Inspection, progress: Progress = silent
) -> Mapping[str, BetterNegatives]:
    """Find the negatives that beat the triple, around its "head" and around its "tail".

    :return: empty for an open triple
    :raises KgdashError: on NaN scores
    """
    if inspection.triple.open_side is not None or inspection.better:
        return inspection.better
    return _around_both_ends(inspection.run, inspection.triple, inspection.k, progress)


def _around_both_ends(
    run: Run, triple: InspectedTriple, k: int, progress: Progress
) -> dict[str, BetterNegatives]:
    reports = phases(progress, [0.5, 0.5])
    return {
        side: better_negatives(run, triple.row[0], side, k, report)
        for side, report in zip(ENTITY_SIDES, reports, strict=True)
    }
