"""A triple inspected: candidates and ranks on each side, ReliK, and the negatives that beat it.

The parts are those of numbers.md#21-inspecting-a-prediction.
"""

from dataclasses import dataclass

from kgdash.errors import unknown_name
from kgdash.graph import FILTERS, default_filter
from kgdash.progress import Progress, phases, silent
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
    open side alone. ``relik``: None for an open triple.
    """

    run: Run
    triple: InspectedTriple
    filter: str
    sides: dict[str, SideCandidates]
    relik: Relik | None

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
    run: Run, triple: InspectedTriple, filter: str | None = None, progress: Progress = silent
) -> Inspection:
    """Score a triple's candidates and take its ReliK.

    :param filter: what counts as known in ranks, as in `Run.ranks`; default: all splits
    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: on an unknown filter, or NaN scores
    """
    filter = FILTER if filter is None else filter
    if filter not in FILTERS:
        raise unknown_name("filter", filter, list(FILTERS), "kgdash")
    sides = {side: side_candidates(run, triple, side, filter) for side in triple.sides}
    relik = None
    if triple.open_side is None:
        found = run.relik(triples=triple.row, progress=progress).iloc[0]
        ranks = (int(found["head_rank"]), int(found["tail_rank"]))
        around = (count_negatives_around(run.graph, triple.row[0], s) for s in ENTITY_SIDES)
        relik = Relik(float(found["relik"]), *ranks, *around)
    return Inspection(run, triple, filter, sides, relik)


def what_beats(
    inspection: Inspection, k: int = 10, progress: Progress = silent
) -> dict[str, BetterNegatives]:
    """Find the negatives that beat the triple, around its "head" and around its "tail".

    :param k: how many of the highest are listed
    :return: empty for an open triple
    :raises KgdashError: on NaN scores
    """
    if inspection.triple.open_side is not None:
        return {}
    row, reports = inspection.triple.row[0], phases(progress, [0.5, 0.5])
    return {
        side: better_negatives(inspection.run, row, side, k, report)
        for side, report in zip(ENTITY_SIDES, reports, strict=True)
    }
