"""Facts sorted so that relations can be followed from many entities at once.

Defined in numbers.md#8-queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kgdash.graph import SPLITS, KnowledgeGraph
from kgdash.graph.known_triples import triple_keys, with_inverses
from kgdash.graph.sorted_slices import distinct, expand_slices


@dataclass(frozen=True)
class Adjacency:
    """Facts sorted by an entity (and relation), so that those of one are a contiguous slice.

    ``keys`` is ``entity * num_relations + relation``, ascending; ``others`` the entity at the other
    end. `both_ways` makes one in which relations can be followed backwards.
    """

    keys: np.ndarray
    others: np.ndarray
    num_relations: int
    num_entities: int = 0

    @classmethod
    def both_ways(cls, graph: KnowledgeGraph, splits: Sequence[str] = SPLITS) -> Adjacency:
        """Sort the facts of a graph, each in both directions: relation r + |R| goes tail to head.

        :param graph: its facts of ``splits``, each once
        :param splits: some of its splits
        :raises KgdashError: as `kgdash.graph.known_triples.triple_keys`
        """
        count, width = 2 * graph.num_relations, graph.num_entities
        nothing = np.empty((0, 3), dtype=np.int64)
        facts = np.concatenate([nothing, *(graph.splits[s] for s in splits)])
        facts = with_inverses(facts, graph.num_relations)
        sorted_facts = distinct(triple_keys(facts, width, count))
        return cls(*np.divmod(sorted_facts, width), count, width)

    @classmethod
    def of(cls, triples: np.ndarray, num_relations: int, by: str = "head") -> Adjacency:
        """Sort triples, shape ``(n, 3)``, by "head" (others = tails) or by "tail" (heads)."""
        entity, other = (triples[:, 0], triples[:, 2])[:: 1 if by == "head" else -1]
        keys = entity * num_relations + triples[:, 1]
        order = np.lexsort((other, keys))
        return cls(keys[order], other[order], num_relations)

    def count(self, entity: np.ndarray, relation: np.ndarray) -> np.ndarray:
        """Count the entities that a relation leads to from each entity: int64, shape ``(n,)``."""
        start, stop = self._slices(entity, relation)
        return stop - start

    @cached_property
    def of_relation(self) -> np.ndarray:
        """Return how many facts each relation has: int64, shape ``(num_relations,)``."""
        return np.bincount(self.keys % self.num_relations, minlength=self.num_relations)

    @cached_property
    def widest(self) -> np.ndarray:
        """Return how many facts of each relation one entity has at most: int64, likewise."""
        first = np.flatnonzero(np.diff(self.keys, prepend=-1))
        widest = np.zeros(self.num_relations, dtype=np.int64)
        counts = np.diff(np.append(first, len(self.keys)))
        np.maximum.at(widest, self.keys[first] % self.num_relations, counts)
        return widest

    def follow(self, entity: np.ndarray, relation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return all entities that a relation leads to from each entity.

        :return: two int64 arrays of equal length: position in ``entity`` (ascending), entity there
        """
        start, stop = self._slices(entity, relation)
        owner, place = expand_slices(start, stop - start)
        return owner, self.others[place]

    def draw(
        self, entity: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw one fact of each entity, uniformly over its facts.

        :return: relation and other entity (int64), and whether the entity has a fact (bool)
        """
        start, stop = np.searchsorted(
            self.keys, np.stack([entity, entity + 1]) * self.num_relations
        )
        at = start + (rng.random(len(entity)) * (stop - start)).astype(np.int64)
        at = np.minimum(at, len(self.keys) - 1)
        return self.keys[at] % self.num_relations, self.others[at], stop > start

    def _slices(self, entity: np.ndarray, relation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        keys = entity * self.num_relations + relation
        return np.searchsorted(self.keys, keys), np.searchsorted(self.keys, keys, side="right")
