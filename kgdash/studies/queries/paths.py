"""Paths of queries: the triples by which an entity is reached from the anchors, counted.

Defined in numbers.md#8-queries. A query may reach an entity by millions of paths. They are numbered
without being listed; `list_paths` writes down those whose numbers were drawn. An example of three
triples: what is sold with what ann **or** bob drinks? The entities are ann 0, bob 1, tea 2, cake 3;
the relations drinks 0, sold with 1.

>>> facts = Adjacency.of(np.array([[0, 0, 2], [1, 0, 2], [2, 1, 3]]), num_relations=2)
>>> drinks, sold_with = np.array([0]), np.array([1])  # of each query, and here there is one
>>> ann, bob = (Reached.at_anchors(np.array([anchor]), width=4) for anchor in (0, 1))
>>> branches = [follow_relation(facts, anchor, drinks) for anchor in (ann, bob)]
>>> either = merge_branches(QUERY_TYPES["up"], branches)
>>> either.entity, either.num_paths  # tea, by either branch
(array([2]), array([2]))
>>> cake = follow_relation(facts, either, sold_with)
>>> list_paths(cake, np.array([0, 0]), np.array([0, 1])).tolist()
[[[0, 0, 2], [2, 1, 3]], [[1, 0, 2], [2, 1, 3]]]

With what ann **and** bob drink, there is one path, and it holds all three triples:

>>> cake = follow_relation(facts, merge_branches(QUERY_TYPES["ip"], branches), sold_with)
>>> list_paths(cake, np.array([0]), np.array([0])).tolist()
[[[0, 0, 2], [1, 0, 2], [2, 1, 3]]]
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
class LastEdges:
    """The edges by which ``n`` entities were reached from entities before them, ``m ≥ n`` edges.

    They are ordered by the entity that they lead to. ``first`` int64 ``(n,)``: the position of each
    entity's first edge. ``source`` int64 ``(m,)``: which of the entities before an edge starts
    from, by position. ``relation`` int64 ``(m,)``: as in the query, id + |R| if followed backwards.
    ``paths_before`` int64 ``(m + 1,)``: paths by all edges that stand before an edge, together.
    """

    first: np.ndarray
    source: np.ndarray
    relation: np.ndarray
    paths_before: np.ndarray


@dataclass(frozen=True)
class Reached:
    """Entities that queries have reached, and by how many paths.

    ``keys`` int64 ``(n,)`` are ``query * width + entity``, ascending, each once; ``num_paths``
    int64 ``(n,)``, ≥ 1. What was reached by following a relation has the entities ``before`` and
    the ``edges`` from there. Where branches meet that must all be taken, ``branches`` are what each
    of them reached. Anchors have neither: a path to one is empty.
    """

    keys: np.ndarray
    num_paths: np.ndarray
    width: int
    before: Reached | None = None
    edges: LastEdges | None = None
    branches: tuple[Reached, ...] = ()

    @classmethod
    def at_anchors(cls, anchors: np.ndarray, width: int) -> Reached:
        """Start one query at each anchor.

        :param anchors: entity ids, int64, shape ``(n,)``
        :param width: above every entity's id: the number of entities
        """
        keys = np.arange(len(anchors)) * width + anchors
        return cls(keys, np.ones(len(keys), dtype=np.int64), width)

    @classmethod
    def by_edges(
        cls, before: Reached, source: np.ndarray, relation: np.ndarray, target: np.ndarray
    ) -> Reached:
        """Collect what edges lead to.

        :param before: what the edges start from
        :param source: positions in ``before``, int64, shape ``(m,)``
        :param relation: relations as in the query, int64, shape ``(m,)``
        :param target: keys, int64, shape ``(m,)``, in any order
        """
        order = np.argsort(target, kind="stable")
        target, source = target[order], source[order]
        first = np.flatnonzero(np.diff(target, prepend=-1))
        paths_before = np.concatenate([[0], np.cumsum(before.num_paths[source])])
        num_paths = np.diff(paths_before[np.append(first, len(target))])
        edges = LastEdges(first, source, relation[order], paths_before)
        return cls(target[first], num_paths, before.width, before, edges)

    @property
    def query(self) -> np.ndarray:
        """Return the query that reached each entity, int64 ``(n,)``."""
        return self.keys // self.width

    @property
    def entity(self) -> np.ndarray:
        """Return the entities, int64 ``(n,)``."""
        return self.keys % self.width

    def find(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Look keys up.

        :param keys: int64, shape ``(m,)``
        :return: their positions, int64 ``(m,)`` (any position where there is none), and whether
            they were reached, bool ``(m,)``
        """
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return place, self.keys[place] == keys


def follow_relation(facts: Adjacency, reached: Reached, relations: np.ndarray) -> Reached:
    """Follow a relation of each query from all that it reached, along facts.

    :param facts: of `Adjacency.both_ways` where relations may be followed backwards
    :param relations: one of each query, int64, shape ``(queries,)``
    """
    query = reached.query
    source, entity = facts.follow(reached.entity, relations[query])
    query = query[source]
    return Reached.by_edges(reached, source, relations[query], query * reached.width + entity)


def add_answer_edges(
    reached: Reached, relations: np.ndarray, answers: np.ndarray, mask: np.ndarray | None = None
) -> Reached:
    """Draw an edge from what each query reached to an answer of it, whether it is a fact or not.

    :param relations: one of each query, int64, shape ``(queries,)``
    :param answers: one of each query, int64, shape ``(queries,)``
    :param mask: which of the reached entities to start from, bool ``(n,)``; None for all
    """
    source = np.arange(len(reached.keys)) if mask is None else np.flatnonzero(mask)
    query = reached.query[source]
    target = query * reached.width + answers[query]
    return Reached.by_edges(reached, source, relations[query], target)


def merge_branches(kind: QueryType, branches: Sequence[Reached]) -> Reached:
    """Merge what the branches of queries reached, as their type says.

    :param kind: "and" keeps the entities that all branches reached, by each combination of their
        paths; "or" those that any reached, by the paths of all
    :param branches: at least one; for "or", each reached by one relation from the anchors
    """
    if len(branches) == 1:
        return branches[0]
    return _unite(branches) if kind.join == "or" else _intersect(branches)


def _intersect(branches: Sequence[Reached]) -> Reached:
    keys = reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), [b.keys for b in branches])
    num_paths = [branch.num_paths[branch.find(keys)[0]] for branch in branches]
    combinations = np.prod(num_paths, axis=0, dtype=np.int64)
    return Reached(keys, combinations, branches[0].width, branches=tuple(branches))


def _unite(branches: Sequence[Reached]) -> Reached:
    width = branches[0].width
    edges = [b.edges for b in branches if b.edges is not None]
    anchors = [b.before.keys for b in branches if b.before is not None]
    offsets = np.cumsum([0, *map(len, anchors)])
    keys = np.concatenate(anchors)
    return Reached.by_edges(
        Reached(keys, np.ones(len(keys), dtype=np.int64), width),
        np.concatenate([e.source + at for e, at in zip(edges, offsets, strict=False)]),
        np.concatenate([e.relation for e in edges]),
        np.concatenate([np.repeat(b.keys, b.num_paths) for b in branches]),
    )


def reach_before_last_hop(
    facts: Adjacency, kind: QueryType, anchors: np.ndarray, relations: np.ndarray
) -> list[Reached]:
    """Reach the entities from which the last relations lead to the answers, along facts.

    :param facts: of `Adjacency.both_ways`
    :param kind: type of the queries
    :param anchors: int64, shape ``(queries, branches)``
    :param relations: int64, shape ``(queries, kind.num_relations)``
    :return: one for each of ``kind.last_columns``
    """

    def walk(reached: Reached, columns: Sequence[int]) -> Reached:
        return reduce(lambda at, c: follow_relation(facts, at, relations[:, c]), columns, reached)

    starts = [Reached.at_anchors(column, facts.num_entities) for column in anchors.T]
    branches = list(zip(starts, kind.branch_columns, strict=True))
    if not kind.after:
        return [walk(start, columns[:-1]) for start, columns in branches]
    merged = merge_branches(kind, [walk(start, columns) for start, columns in branches])
    return [walk(merged, kind.after_columns[:-1])]


def last_hop(
    kind: QueryType, before: Sequence[Reached], hop: Callable[[Reached, int, int], Reached]
) -> Reached:
    """Take the last hop of queries, and merge the branches that end in the answer.

    :param kind: type of the queries
    :param before: of `reach_before_last_hop`, or of a beam
    :param hop: takes the hop, given one of ``before``, the column of the relation in the queries,
        and the number of the hop, from 0
    """
    hops = zip(before, kind.last_columns, strict=True)
    return merge_branches(kind, [hop(at, column, i) for i, (at, column) in enumerate(hops)])


def draw_path_numbers(
    num_paths: np.ndarray, most: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw paths without repetition, each as likely as any other of the same owner.

    :param num_paths: how many paths each owner has, int64, shape ``(n,)``
    :param most: how many of them to draw at most, int64, shape ``(n,)``
    :param rng: where an owner has more paths than that
    :return: owner (position in ``num_paths``, ascending) and number of each path drawn, from 0 to
        the owner's ``num_paths`` − 1, ascending within an owner; both int64 ``(m,)``
    """
    counts = np.minimum(num_paths, most)
    owner, number = expand_slices(np.zeros_like(counts), counts)
    first = np.cumsum(counts) - counts
    for place in np.flatnonzero(num_paths > counts):
        drawn = rng.choice(num_paths[place], counts[place], replace=False, shuffle=False)
        number[first[place] : first[place] + counts[place]] = np.sort(drawn)
    return owner, number


def list_paths(reached: Reached, places: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Write down paths.

    :param reached: where they end
    :param places: positions in ``reached``, int64, shape ``(m,)``
    :param numbers: which path to each, int64, shape ``(m,)``, from 0 to ``num_paths`` − 1 there
    :return: int64, shape ``(m, k, 3)``: triples from the anchors on, as the query follows them:
        entity, relation (id + |R| if backwards), entity
    """
    return np.stack(_triples(reached, places, numbers), axis=1)


def _triples(reached: Reached, places: np.ndarray, numbers: np.ndarray) -> list[np.ndarray]:
    triples: list[np.ndarray] = []
    for branch in reached.branches:
        # A combination's number has one digit per branch: the number of that branch's path.
        at, _ = branch.find(reached.keys[places])
        numbers, digit = np.divmod(numbers, branch.num_paths[at])
        triples += _triples(branch, at, digit)
    edges, before = reached.edges, reached.before
    if edges is None or before is None:
        return triples
    wanted = edges.paths_before[edges.first[places]] + numbers
    edge = np.searchsorted(edges.paths_before, wanted, side="right") - 1
    source = edges.source[edge]
    last = np.column_stack([before.entity[source], edges.relation[edge], reached.entity[places]])
    return [*_triples(before, source, wanted - edges.paths_before[edge]), last]
