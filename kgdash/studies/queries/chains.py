"""Chains of queries: how an entity is reached from the anchors, counted, and drawn at random.

Defined in numbers.md#8-queries.

A query may reach an entity in millions of ways. They are counted and numbered without being listed;
`chains` writes down those whose numbers were drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from kgdash.graph.sorted_slices import expand_slices
from kgdash.studies.queries.adjacency import Adjacency
from kgdash.studies.queries.query_types import QueryType


@dataclass(frozen=True)
class Edges:
    """The triples that lead to the entities of an `Ends`, ordered by these.

    ``first`` int64: which edge is the first of each of these entities. ``place``: where an edge
    comes from, in ``source``. ``before``: ways to take any of the edges before an edge; one value
    more than edges. ``relation``: as in the query, id + |R| if followed backwards.
    """

    source: Ends
    first: np.ndarray
    place: np.ndarray
    before: np.ndarray
    relation: np.ndarray


@dataclass(frozen=True)
class Ends:
    """Entities that queries reach, and in how many ways.

    ``keys`` are ``query * width + entity``, ascending, each once; ``ways`` int64, ≥ 1. Anchors have
    no ``edges``; where branches meet, ``parts`` are theirs and there are no edges either.
    """

    keys: np.ndarray
    ways: np.ndarray
    width: int
    edges: Edges | None = None
    parts: tuple[Ends, ...] = ()

    @classmethod
    def of_anchors(cls, anchors: np.ndarray, width: int) -> Ends:
        """Start one query at each anchor, shape ``(n,)``."""
        keys = np.arange(len(anchors)) * width + anchors
        return cls(keys, np.ones(len(keys), dtype=np.int64), width)

    @classmethod
    def by_edges(
        cls, source: Ends, place: np.ndarray, relation: np.ndarray, target: np.ndarray
    ) -> Ends:
        """Collect what edges lead to.

        :param source: where the edges come from
        :param place: shape ``(m,)``, positions in ``source``
        :param relation: shape ``(m,)``
        :param target: shape ``(m,)``, keys, in any order
        """
        order = np.argsort(target, kind="stable")
        target, place = target[order], place[order]
        first = np.flatnonzero(np.diff(target, prepend=-1))
        before = np.concatenate([[0], np.cumsum(source.ways[place])])
        ways = np.diff(before[np.append(first, len(target))])
        edges = Edges(source, first, place, before, relation[order])
        return cls(target[first], ways, source.width, edges)

    @property
    def query(self) -> np.ndarray:
        """Return which query each end is of."""
        return self.keys // self.width

    @property
    def entity(self) -> np.ndarray:
        """Return the entities."""
        return self.keys % self.width

    def places(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find keys: their positions (any where there is none), and whether they are there."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return place, self.keys[place] == keys


def follow(facts: Adjacency, ends: Ends, relations: np.ndarray) -> Ends:
    """Follow a relation of each query, ``(n,)``, from all that it reached, along facts."""
    query = ends.query
    place, reached = facts.follow(ends.entity, relations[query])
    query = query[place]
    return Ends.by_edges(ends, place, relations[query], query * ends.width + reached)


def lead(
    ends: Ends, relations: np.ndarray, goals: np.ndarray, kept: np.ndarray | None = None
) -> Ends:
    """Draw an edge from some ends to a goal of their query, be it a fact or not.

    :param relations: of each query, ``(n,)``
    :param goals: an entity for each query, ``(n,)``
    :param kept: which ends to start from, bool, as many as ``ends`` has; None for all
    """
    place = np.arange(len(ends.keys)) if kept is None else np.flatnonzero(kept)
    query = ends.query[place]
    return Ends.by_edges(ends, place, relations[query], query * ends.width + goals[query])


def join(kind: QueryType, parts: Sequence[Ends]) -> Ends:
    """Join the ends of a query's branches as its type says."""
    if len(parts) == 1:
        return parts[0]
    return _any(parts) if kind.join == "or" else _all(parts)


def _all(parts: Sequence[Ends]) -> Ends:
    keys = reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), [p.keys for p in parts])
    ways = [part.ways[part.places(keys)[0]] for part in parts]
    return Ends(keys, np.prod(ways, axis=0, dtype=np.int64), parts[0].width, parts=tuple(parts))


def _any(parts: Sequence[Ends]) -> Ends:
    """Join branches of one relation each: an edge from any anchor counts."""
    edges = [part.edges for part in parts if part.edges is not None]
    anchors = np.concatenate([e.source.keys for e in edges])
    offsets = np.cumsum([0, *(len(e.source.keys) for e in edges)])
    return Ends.by_edges(
        Ends(anchors, np.ones(len(anchors), dtype=np.int64), parts[0].width),
        np.concatenate([e.place + at for e, at in zip(edges, offsets, strict=False)]),
        np.concatenate([e.relation for e in edges]),
        np.concatenate([np.repeat(p.keys, p.ways) for p in parts]),
    )


def on_graph(
    facts: Adjacency, kind: QueryType, anchors: np.ndarray, relations: np.ndarray
) -> list[Ends]:
    """Reach the entities from which the last relations lead to the answers, along facts.

    :param facts: of `Adjacency.both_ways`
    :param anchors: int64, shape ``(n, branches)``
    :param relations: int64, shape ``(n, kind.num_relations)``
    :return: one for each of ``kind.last_columns``
    """

    def walk(ends: Ends, columns: Sequence[int]) -> Ends:
        return reduce(lambda at, column: follow(facts, at, relations[:, column]), columns, ends)

    starts = [Ends.of_anchors(column, facts.num_entities) for column in anchors.T]
    branches = list(zip(starts, kind.branch_columns, strict=True))
    if not kind.after:
        return [walk(start, columns[:-1]) for start, columns in branches]
    joined = join(kind, [walk(start, columns) for start, columns in branches])
    return [walk(joined, kind.after_columns[:-1])]


def finish(kind: QueryType, before: Sequence[Ends], last: Callable[[Ends, int, int], Ends]) -> Ends:
    """Take the last step of queries.

    :param before: of `on_graph`, or the like
    :param last: given one of ``before``, the column of the relation and the number of the step
    """
    steps = zip(before, kind.last_columns, strict=True)
    return join(kind, [last(ends, column, i) for i, (ends, column) in enumerate(steps)])


def draw_numbers(
    ways: np.ndarray, most: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw ways without repetition: at most ``most`` of each.

    :param ways: how many there are, ``(n,)``
    :return: owner (position in ``ways``, ascending) and number, below ``ways``, ascending within
    """
    counts = np.minimum(ways, most)
    owner, number = expand_slices(np.zeros_like(counts), counts)
    first = np.cumsum(counts) - counts
    for place in np.flatnonzero(ways > counts):
        drawn = np.sort(rng.choice(ways[place], counts[place], replace=False, shuffle=False))
        number[first[place] : first[place] + counts[place]] = drawn
    return owner, number


def chains(ends: Ends, places: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Write down ways of reaching ends.

    :param places: shape ``(m,)``, positions in ``ends``
    :param numbers: shape ``(m,)``, from 0 to the ends' ``ways`` − 1: which way
    :return: int64, shape ``(m, k, 3)``: triples from anchors to end, as the query follows them:
        entity, relation (id + |R| if backwards), entity
    """
    return np.stack(_triples(ends, places, numbers), axis=1)


def _triples(ends: Ends, places: np.ndarray, numbers: np.ndarray) -> list[np.ndarray]:
    found: list[np.ndarray] = []
    for part in ends.parts:
        at, _ = part.places(ends.keys[places])
        numbers, own = np.divmod(numbers, part.ways[at])
        found += _triples(part, at, own)
    if ends.edges is None:
        return found
    edges = ends.edges
    wanted = edges.before[edges.first[places]] + numbers
    taken = np.searchsorted(edges.before, wanted, side="right") - 1
    source = edges.place[taken]
    triple = (edges.source.entity[source], edges.relation[taken], ends.entity[places])
    before = _triples(edges.source, source, wanted - edges.before[taken])
    return [*before, np.column_stack(triple)]
