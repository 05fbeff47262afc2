"""Candidates for queries, grown around held-out triples by random facts (numbers.md#8-queries)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgdash.graph import KnowledgeGraph
from kgdash.graph.known_triples import with_inverses
from kgdash.studies.queries.adjacency import Adjacency
from kgdash.studies.queries.query_types import QueryType, in_order


@dataclass(frozen=True)
class Growth:
    """What queries grow from and by.

    ``by_relation``: facts ordered by relation, ``(n, 3)``; ``starts``: where each relation's begin.
    """

    outgoing: Adjacency
    incoming: Adjacency
    held_out: np.ndarray
    by_relation: np.ndarray
    starts: np.ndarray
    num_relations: int

    @classmethod
    def of(cls, graph: KnowledgeGraph, held_out: np.ndarray, follow_backwards: bool) -> Growth:
        """Prepare to grow from ``held_out``, shape ``(n, 3)``, by all facts of a graph."""
        facts, count = graph.all_triples, graph.num_relations
        if follow_backwards:
            facts, held_out = with_inverses(facts, count), with_inverses(held_out, count)
        by_relation = facts[np.argsort(facts[:, 1], kind="stable")]
        return cls(
            Adjacency.of(facts, 2 * count),
            Adjacency.of(facts, 2 * count, by="tail"),
            held_out,
            by_relation,
            np.searchsorted(by_relation[:, 1], np.arange(2 * count + 1)),
            count,
        )

    def candidates(
        self, kind: QueryType, count: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Grow at most ``count`` queries.

        :return: anchors ``(n, branches)`` and relations ``(n, kind.num_relations)``; some may be
            equal, and not all have a hard answer
        """
        columns = rng.integers(kind.num_relations, size=count)
        grown = [
            _Batch(self, kind, int((columns == column).sum()), rng).grown(column)
            for column in range(kind.num_relations)
        ]
        anchors, relations = (np.concatenate(part) for part in zip(*grown, strict=True))
        mixed = rng.permutation(len(anchors))
        anchors, relations = in_order(kind, anchors[mixed], relations[mixed])
        kept = (np.diff(np.sort(anchors, axis=1), axis=1) > 0).all(axis=1)
        kept &= ~self._turns_back(kind, relations)
        return anchors[kept], relations[kept]

    def _turns_back(self, kind: QueryType, relations: np.ndarray) -> np.ndarray:
        turns = np.zeros(len(relations), dtype=bool)
        for columns in kind.branch_columns:
            path = relations[:, [*columns, *kind.after_columns]]
            turns |= (np.abs(np.diff(path, axis=1)) == self.num_relations).any(axis=1)
        return turns

    def fact_of(self, relations: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a fact of each relation, which must have some: shape ``(n, 3)``."""
        start, stop = self.starts[relations], self.starts[relations + 1]
        return self.by_relation[start + (rng.random(len(relations)) * (stop - start)).astype(int)]


class _Batch:
    """Queries that grow together; ``whole`` tells which found a fact wherever they needed one."""

    def __init__(
        self, growth: Growth, kind: QueryType, count: int, rng: np.random.Generator
    ) -> None:
        self.growth, self.kind, self.rng = growth, kind, rng
        self.anchors = np.zeros((count, len(kind.branches)), dtype=np.int64)
        self.relations = np.zeros((count, kind.num_relations), dtype=np.int64)
        self.whole = np.ones(count, dtype=bool)

    def grown(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Put held-out triples at a relation and grow the rest around them."""
        held_out, kind = self.growth.held_out, self.kind
        head, self.relations[:, column], tail = held_out[
            self.rng.integers(len(held_out), size=len(self.anchors))
        ].T
        own = next((i for i, c in enumerate(kind.branch_columns) if column in c), None)
        if own is None:
            join = self.back(head, range(kind.after_columns[0], column))
            self.on(tail, range(column + 1, kind.num_relations))
        else:
            columns = kind.branch_columns[own]
            self.anchors[:, own] = self.back(head, range(columns[0], column))
            join = self.on(tail, range(column + 1, columns[-1] + 1))
            self.on(join, kind.after_columns)
        for branch, columns in enumerate(kind.branch_columns):
            if branch != own:
                other = kind.join == "or" and branch != (0 if own is None else own)
                end = self.alike(own) if other else join
                self.anchors[:, branch] = self.back(end, columns)
        return self.anchors[self.whole], self.relations[self.whole]

    def alike(self, own: int | None) -> np.ndarray:
        """Draw entities that could stand where the branches of a union meet."""
        if self.kind.after:
            return self.growth.fact_of(self.relations[:, self.kind.after_columns[0]], self.rng)[
                :, 0
            ]
        last = self.kind.branch_columns[own or 0][-1]
        return self.growth.fact_of(self.relations[:, last], self.rng)[:, 2]

    def back(self, ends: np.ndarray, columns: Sequence[int]) -> np.ndarray:
        """Grow from ``ends`` back to where relations start; return these entities."""
        for column in reversed(columns):
            drawn = self.growth.incoming.draw(ends, self.rng)
            self.relations[:, column], ends = drawn[:2]
            self.whole &= drawn[2]
        return ends

    def on(self, ends: np.ndarray, columns: Sequence[int]) -> np.ndarray:
        """Grow from ``ends`` on along relations; return where they lead."""
        for column in columns:
            drawn = self.growth.outgoing.draw(ends, self.rng)
            self.relations[:, column], ends = drawn[:2]
            self.whole &= drawn[2]
        return ends
