"""What an inspection says, in plain words: never more than was counted."""

from kgdash.statistics.estimate import number
from kgdash.studies.inspection.candidates import Rank
from kgdash.studies.inspection.inspection import Inspection
from kgdash.studies.inspection.triple_relik import DRAWN


def verdict(inspection: Inspection) -> str:
    """Say how the triple ranks, which negatives beat it, and whether it is known.

    Ranks are filtered by the inspection's filter; the numbers of negatives are exact, or said to be
    of a sample.
    """
    if inspection.triple.open_side is not None:
        return _open(inspection, inspection.triple.open_side)
    return " ".join([_ranks(inspection), _relik(inspection), _known(inspection)])


def ordinal(number: int) -> str:
    """Write 1 as 1st, 12 as 12th, 1203 as 1,203rd."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{'th' if 10 <= number % 100 <= 20 else ending}"


def count_text(number: int) -> str:
    """Write a number of things: from a million on in millions, to three digits."""
    if number < 10**6:
        return f"{number:,}"
    return f"{number / 1e6:.3g} million" if number < 10**9 else f"{number / 1e6:,.0f} million"


def _of(number: int, thing: str) -> str:
    return f"{count_text(number)} {thing}{'s' * (number != 1)}"


def rank_text(rank: Rank) -> str:
    """Write a rank; where others have an equal score, between which places it is."""
    if rank.optimistic == rank.pessimistic:
        return ordinal(rank.optimistic)
    return f"between {ordinal(rank.optimistic)} and {ordinal(rank.pessimistic)}"


def _ranks(inspection: Inspection) -> str:
    ranks = {
        side: found.rank(found.answer)
        for side, found in inspection.sides.items()
        if found.answer is not None
    }
    parts = [
        f"this {side} {rank_text(ranks[side])} of {count_text(ranks[side].candidates)}"
        for side in ("tail", "head", "relation")
    ]
    left_out = "" if inspection.filter == "none" else ", known facts left out"
    return f"The model ranks {parts[0]}, {parts[1]} and {parts[2]}{left_out}."


def _relik(inspection: Inspection) -> str:
    relik = inspection.relik
    assert relik is not None, "the triple is whole"
    around = _of(relik.head_negatives, "negative"), count_text(relik.tail_negatives)
    better = relik.head_rank - 1, relik.tail_rank - 1
    if relik.interval is None:
        said, about = f"ReliK {number(relik.value)}", ""
    else:
        low, high = map(number, relik.interval)
        said = f"ReliK {low} to {high}, by {count_text(DRAWN)} negatives of other relations a side"
        about = "about "
    head, tail = (
        f"{about}{count_text(count)} of {of}" if count else f"none of {of}"
        for count, of in zip(better, around, strict=True)
    )
    return f"{said}: {head} with this head score higher, {tail} with this tail."


def _known(inspection: Inspection) -> str:
    if inspection.known is None:
        return "It is in no split: a negative itself, true or not."
    return f"It is a known fact, in {inspection.known}."


def _open(inspection: Inspection, side: str) -> str:
    found = inspection.sides[side]
    is_known, are_best = found.split >= 0, found.scores == found.scores.max()
    best, alike = found.top(1).iloc[0], int(are_best.sum())
    graph = inspection.run.graph
    lookup = graph.relation_lookup if side == "relation" else graph.entity_lookup
    name = lookup.distinct_label(int(best["id"]))
    if alike == 1:
        known = f"a known fact, in {best['known']}" if best["known"] else "in no split"
        first = f"{name} first ({known})"
    else:
        known = f"of these {count_text(alike)}, {_facts(int((is_known & are_best).sum()))}"
        first = f"{name} and {_of(alike - 1, 'other')} first, alike: {known}"
    return (
        f"Of {_of(len(found.scores), 'candidate')} for the {side}, {_facts(int(is_known.sum()))}. "
        f"The model puts {first}."
    )


def _facts(number: int) -> str:
    return f"{count_text(number)} {'is a known fact' if number == 1 else 'are known facts'}"
