"""A triple inspected: candidates and ranks on each side, ReliK, and the negatives that beat it.

The parts are those of numbers.md#21-inspecting-a-prediction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgdash.errors import KgdashError, check_name, unknown_name
from kgdash.graph import FILTERS, default_filter
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.relik import relik_of_ranks
from kgdash.runs import Run
from kgdash.runs.preparation import is_counted_unasked, least_hours
from kgdash.scoring import ENTITY_SIDES
from kgdash.studies.inspection.better_negatives import (
    BetterNegatives,
    better_negatives,
    count_negatives_around,
)
from kgdash.studies.inspection.candidates import SideCandidates, side_candidates
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from kgdash.studies.inspection.triple_relik import Relik, sampled_relik

#: what counts as known, unless told otherwise
FILTER: str = default_filter(None)

#: of the negatives that beat a triple, so many are listed unless told otherwise, and at most
K, _MOST = 10, 100_000

#: hours of a core up to which all negatives around both ends are counted unasked: 3 seconds
_MOMENT = 3 / 3600


@dataclass(frozen=True)
class Inspection:
    """What a model says of one triple.

    ``sides``: the candidates by side, of a whole triple "tail", "relation" and "head", else of the
    open side alone. ``relik``: None for an open triple. ``k``: how many of the negatives that beat
    it are listed. ``better``: these by end, where ReliK was counted by them; else empty.
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
    method: str | None = None,
) -> Inspection:
    """Score a triple's candidates and take its ReliK.

    :param filter: what counts as known in ranks, as in `Run.ranks`; default: all splits
    :param k: how many of the negatives that beat it are listed, 1 to 100,000
    :param progress: called with (done, total); may raise to cancel
    :param method: of ReliK: "exact" or "sampled"; default: exact where it takes but a moment
    :raises KgdashError: on an unknown filter or method, a k out of range, or NaN scores
    """
    if not 1 <= k <= _MOST:
        raise KgdashError(f"expected k from 1 to {_MOST:,}; found {k:,}")
    filter = FILTER if filter is None else filter
    if filter not in FILTERS:
        raise unknown_name("filter", filter, list(FILTERS), "kgdash")
    if method is not None:
        check_name("method", method, ("exact", "sampled"), "Inspect")
    sides = {side: side_candidates(run, triple, side, filter) for side in triple.sides}
    if triple.open_side is not None:
        return Inspection(run, triple, filter, sides, None, k)
    better: dict[str, BetterNegatives] = {}
    at_hand = _is_at_hand(run, triple)
    if method == "sampled" or (method is None and not at_hand and not takes_a_moment(run)):
        relik = sampled_relik(run, triple, sides, progress)
        return Inspection(run, triple, filter, sides, relik, k)
    if at_hand:
        found = run.relik(triples=triple.row, progress=progress).iloc[0]
        head, tail = int(found["head_rank"]), int(found["tail_rank"])
    else:  # one pass over all scores counts both
        better = _around_both_ends(run, triple, k, progress)
        head, tail = (better[side].count + 1 for side in ENTITY_SIDES)
    relik = Relik(relik_of_ranks(head, tail), head, tail, *_negatives(run, triple))
    return Inspection(run, triple, filter, sides, relik, k, better)


def takes_a_moment(run: Run) -> bool:
    """Tell whether the negatives around both ends of a triple are counted within seconds."""
    return least_hours(run, len(ENTITY_SIDES)) <= _MOMENT


def _is_at_hand(run: Run, triple: InspectedTriple) -> bool:
    """Tell whether a whole triple's exact ReliK is mostly counted already, or will be by itself."""
    known = run.graph.positions(triple.row)[0] >= 0
    return bool(known) and is_counted_unasked(run)


def _negatives(run: Run, triple: InspectedTriple) -> tuple[int, int]:
    """Count the negatives around the head and around the tail."""
    head, tail = (count_negatives_around(run.graph, triple.row[0], side) for side in ENTITY_SIDES)
    return head, tail


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
