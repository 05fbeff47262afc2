"""numbers.md#1-ranks and numbers.md#4-relik by their definitions: sets of tuples, plain loops,
nothing clever."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Triple = tuple[int, int, int]
Score = Callable[..., float]

RANK_TYPES = ("optimistic", "realistic", "pessimistic")


def candidates(triple: Triple, side: str, entities: int, relations: int) -> list[Triple]:
    """List the corrupted triples of a side, the true one among them."""
    head, relation, tail = triple
    if side == "head":
        return [(e, relation, tail) for e in range(entities)]
    if side == "tail":
        return [(head, relation, e) for e in range(entities)]
    return [(head, r, tail) for r in range(relations)]


def ranks(
    score: Score, triple: Triple, side: str, known: Iterable[Triple], entities: int, relations: int
) -> tuple[float, float, float, int]:
    """Rank a triple among the candidates that are not known (numbers.md#1-ranks).

    :param known: the triples to filter; nothing for raw ranks
    :return: optimistic, realistic and pessimistic rank, candidates left (the true one counted)
    """
    known = set(known)
    own, better, tied, left = score(*triple, side), 0, 0, 1
    for other in candidates(triple, side, entities, relations):
        if other == triple or other in known:
            continue
        left += 1
        if score(*other, side) > own:
            better += 1
        elif score(*other, side) == own:
            tied += 1
    return better + 1, better + tied / 2 + 1, better + tied + 1, left


def negatives(
    triple: Triple, side: str, known: Iterable[Triple], entities: int, relations: int
) -> list[Triple]:
    """List N⁻(h) for side "head", N⁻(t) for side "tail" (numbers.md#4-relik); the triple itself may
    be in it."""
    known = set(known)
    everything = [
        (triple[0], r, e) if side == "head" else (e, r, triple[2])
        for r in range(relations)
        for e in range(entities)
    ]
    return [other for other in everything if other not in known]


def relik_rank(
    score: Score,
    triple: Triple,
    side: str,
    known: Iterable[Triple],
    entities: int,
    relations: int,
    rank_type: str = "optimistic",
) -> float:
    """Rank a triple among the negatives that share its head, or its tail (numbers.md#4-relik)."""
    # Negatives around the head differ in the tail, so they score as tail candidates do.
    scored_as = "tail" if side == "head" else "head"
    own, better, tied = score(*triple, scored_as), 0, 0
    for other in negatives(triple, side, known, entities, relations):
        if other != triple:
            better += score(*other, scored_as) > own
            tied += score(*other, scored_as) == own
    return 1 + better + {"optimistic": 0, "realistic": tied / 2, "pessimistic": tied}[rank_type]


def relik(
    score: Score,
    triple: Triple,
    known: Iterable[Triple],
    entities: int,
    relations: int,
    rank_type: str = "optimistic",
) -> float:
    """Return ½ (1/rank_H + 1/rank_T) (numbers.md#4-relik)."""
    head, tail = (
        relik_rank(score, triple, side, known, entities, relations, rank_type)
        for side in ("head", "tail")
    )
    return 0.5 * (1 / head + 1 / tail)
