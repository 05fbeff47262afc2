"""The index of known triples: which answers of a query are already facts.

A triple is encoded as one integer whose leading digits are the query and whose last digits are the
answer, so that the answers of a query are one contiguous slice of a sorted array. Three orders
serve every question of ranking (numbers.md#1-ranks) and ReliK (numbers.md#4-relik).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from kgdash.errors import KgdashError
from kgdash.graph.sorted_slices import SortedSlices, distinct

#: side -> (columns of the query, column of the answer) in a (head, relation, tail) array
SIDES: dict[str, tuple[tuple[int, int], int]] = {
    "head": ((1, 2), 0),
    "relation": ((0, 2), 1),
    "tail": ((0, 1), 2),
}

#: how ties count (numbers.md#1-ranks)
RANK_TYPES = ("optimistic", "realistic", "pessimistic")

#: pairs of ends whose relations are looked for without sorting all triples by their ends
_FEW = 16

#: triples that are read out of their order at once: of millions, the steps between take no memory
_BLOCK = 2**18


def with_inverses(triples: np.ndarray, num_relations: int) -> np.ndarray:
    """Append each triple from tail to head, with its relation's id plus |R|.

    :param triples: int64, shape ``(n, 3)``
    :return: int64, shape ``(2n, 3)``
    """
    return np.concatenate([triples, triples[:, ::-1] + np.array([0, num_relations, 0])])


def triple_keys(triples: np.ndarray, num_entities: int, num_relations: int) -> np.ndarray:
    """Number triples, int64 ``(n, 3)``, by head, then relation, then tail: int64, ``(n,)``.

    :raises KgdashError: where 64 bits do not number all that there may be
    """
    _check_size(num_entities, num_relations)
    head, relation, tail = triples.T
    return (head * num_relations + relation) * num_entities + tail


def _check_size(num_entities: int, num_relations: int) -> None:
    if num_entities**2 * num_relations >= 2**63:
        raise KgdashError(
            f"expected |E|²·|R| below 2⁶³, so that 64 bits number all triples; found "
            f"{num_entities:,} entities and {num_relations:,} relations, inverse ones where those "
            "are followed, too: take a part of the graph, or leave out its rarest relations"
        )


def holds_twice(triples: np.ndarray, num_entities: int, num_relations: int) -> bool:
    """Tell whether a triple occurs twice.

    :param triples: ids, whole numbers of any type, shape ``(n, 3)``
    :raises KgdashError: as `triple_keys`
    """
    _check_size(num_entities, num_relations)
    keys = triples[:, 0].astype(np.int64)
    for column, size in ((1, num_relations), (2, num_entities)):
        keys *= size
        keys += triples[:, column].astype(np.int64)
    if not (keys[1:] > keys[:-1]).all():
        keys.sort()
    return bool((keys[1:] == keys[:-1]).any())


class KnownTriples:
    """A set of triples that can be asked for membership and for the known answers of queries."""

    def __init__(self, triples: np.ndarray, num_entities: int, num_relations: int) -> None:
        """Index ``triples``: shape ``(n, 3)``, ids of head, relation, tail; duplicates are fine."""
        self.num_entities, self.num_relations = num_entities, num_relations
        self._by_head = SortedSlices(distinct(self._keys(triples)))

    @classmethod
    def of_parts(
        cls, parts: Iterable[np.ndarray], num_entities: int, num_relations: int
    ) -> "KnownTriples":
        """Index triples of several arrays together, which are not copied."""
        found = cls(np.empty((0, 3), dtype=np.int64), num_entities, num_relations)
        keys = [found._by_head.keys, *map(found._keys, parts)]
        found._by_head = SortedSlices(distinct(np.concatenate(keys)))
        return found

    def _keys(self, triples: np.ndarray) -> np.ndarray:
        rows = np.asarray(triples, dtype=np.int64).reshape(-1, 3)
        return triple_keys(rows, self.num_entities, self.num_relations)

    @classmethod
    def of_orders(
        cls, orders: tuple[np.ndarray, np.ndarray], sizes: tuple[int, int]
    ) -> "KnownTriples":
        """Take what `orders` gave of equal triples.

        :param sizes: numbers of entities and of relations
        """
        found = cls(np.empty((0, 3), dtype=np.int64), *sizes)
        found._by_head, found._by_tail = map(SortedSlices, orders)
        return found

    def orders(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the triples as one number each, sorted by head and by tail: int64, ``(n,)``."""
        return self._by_head.keys, self._by_tail.keys

    # The other orders are sorted when they are first asked for: membership needs none of them.
    @cached_property
    def _by_tail(self) -> SortedSlices:
        return self._ordered(lambda h, r, t: (t * self.num_relations + r) * self.num_entities + h)

    @cached_property
    def _by_pair(self) -> SortedSlices:
        return self._ordered(lambda h, r, t: (h * self.num_entities + t) * self.num_relations + r)

    def _ordered(self, number: Callable[..., np.ndarray]) -> SortedSlices:
        """Sort the triples by a number that each has alone, made of head, relation and tail."""
        keys = np.empty(len(self), dtype=np.int64)
        start = 0
        for triples in self.blocks():
            keys[start : start + len(triples)] = number(*triples.T)
            start += len(triples)
        keys.sort()
        return SortedSlices(keys)

    def __len__(self) -> int:
        """Return the number of distinct known triples."""
        return len(self._by_head.keys)

    def triples(self) -> np.ndarray:
        """Return the distinct known triples: int64, shape ``(n, 3)``, sorted."""
        found = np.empty((len(self), 3), dtype=np.int64)
        start = 0
        for triples in self.blocks():
            found[start : start + len(triples)] = triples
            start += len(triples)
        return found

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield what `triples` returns, some at a time."""
        for start in range(0, len(self), _BLOCK):
            yield self.at(slice(start, start + _BLOCK))

    def at(self, rows: np.ndarray | slice) -> np.ndarray:
        """Return some rows of `triples`: int64, shape ``(n, 3)``."""
        keys = self._by_head.keys[rows]
        found = np.empty((len(keys), 3), dtype=np.int64)
        queries, found[:, 2] = np.divmod(keys, max(1, self.num_entities))
        np.divmod(queries, max(1, self.num_relations), out=(found[:, 0], found[:, 1]))
        return found

    def positions(self, triples: np.ndarray) -> np.ndarray:
        """Find triples, ``(n, 3)``, among `triples`: rows, int64, ``(n,)``; −1 where unknown."""
        keys, known = self._keys(triples), self._by_head.keys
        if not len(known):
            return np.full(len(keys), -1)
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.where(known[place] == keys, place, -1)

    def neighbours(self, sides: Sequence[str]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield each triple's entity on a side and the other one, those of some entities at a time.

        :param sides: of "head" and "tail"
        :return: blocks of entities, those of a block above those before, and the others: int64
        """
        width, size = max(1, self.num_relations * self.num_entities), max(1, self.num_entities)
        step = max(1, size * _BLOCK // max(1, len(sides) * len(self)))
        orders = [self._around(side).keys for side in sides]
        for first in range(0, size, step):
            ends = np.array([first, min(first + step, size)]) * width
            parts = [keys[slice(*np.searchsorted(keys, ends))] for keys in orders]
            found = np.concatenate(parts)
            yield found // width, found % size

    def inside(self, entities: np.ndarray) -> np.ndarray:
        """Return the known triples with both ends among entities: int64, ``(n, 3)``, sorted."""
        heads = np.unique(entities)
        owner, keys = self.triples_with_entity(heads, "head")
        relations, tails = np.divmod(keys, self.num_entities)
        found = np.stack([heads[owner], relations, tails], axis=1)
        return found[np.isin(tails, heads)]

    def contains(self, triples: np.ndarray) -> np.ndarray:
        """Tell for each triple, shape ``(n, 3)``, whether it is known: bool, shape ``(n,)``."""
        return self.positions(triples) >= 0

    def known_answers(self, triples: np.ndarray, side: str) -> tuple[np.ndarray, np.ndarray]:
        """Find the known answers of each triple's query on a side; what numbers.md#1-ranks removes.

        :param triples: shape ``(n, 3)``; the column of the answer is ignored
        :param side: "head" for (?, r, t), "relation" for (h, ?, t), "tail" for (h, r, ?)
        :return: owner (position in ``triples``) and answer id, both int64, of equal length
        """
        if side == "relation" and len(triples) <= _FEW:
            return self._relations_between(np.asarray(triples, dtype=np.int64).reshape(-1, 3))
        slices, queries, width = self._asked(triples, side)
        return slices.lookup(queries, width)

    def _relations_between(self, triples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the known relations of each triple's ends among all triples of its head."""
        owner, keys = self.triples_with_entity(triples[:, 0], "head")
        relations, tails = np.divmod(keys, self.num_entities)
        found = tails == triples[owner, 2]
        return owner[found], relations[found]

    def count_known_answers(self, triples: np.ndarray, side: str) -> np.ndarray:
        """Count what `known_answers` finds for each triple: int64, shape ``(n,)``."""
        slices, queries, width = self._asked(triples, side)
        return slices.counts(queries, width)

    def _asked(self, triples: np.ndarray, side: str) -> tuple[SortedSlices, np.ndarray, int]:
        """Return the order that serves a side, each triple's query in it, and answers at most."""
        head, relation, tail = np.asarray(triples, dtype=np.int64).reshape(-1, 3).T
        if side == "tail":
            return self._by_head, head * self.num_relations + relation, self.num_entities
        if side == "head":
            return self._by_tail, tail * self.num_relations + relation, self.num_entities
        return self._by_pair, head * self.num_entities + tail, self.num_relations

    def triples_with_entity(self, anchors: np.ndarray, side: str) -> tuple[np.ndarray, np.ndarray]:
        """Find all known triples that share an anchor entity; what N⁻ of numbers.md#4-relik lacks.

        :param anchors: shape ``(n,)``, entity ids
        :param side: ``"head"`` if the anchors are heads, ``"tail"`` if they are tails
        :return: owner (position in ``anchors``) and ``relation * |E| + other entity``, both int64
        """
        return self._around(side).lookup(anchors, self.num_relations * self.num_entities)

    def count_with_entity(self, anchors: np.ndarray, side: str) -> np.ndarray:
        """Count what `triples_with_entity` finds for each anchor: int64, shape ``(n,)``."""
        return self._around(side).counts(anchors, self.num_relations * self.num_entities)

    def _around(self, side: str) -> SortedSlices:
        return self._by_head if side == "head" else self._by_tail
