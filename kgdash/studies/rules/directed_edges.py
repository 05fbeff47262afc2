"""The facts of a graph as steps from entity to entity, in the orders that rules ask for.

Defined in numbers.md#9-rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from kgdash.graph.known_triples import with_inverses
from kgdash.graph.sorted_slices import distinct


@dataclass(frozen=True)
class DirectedEdges:
    """The facts as steps from entity to entity: relations forwards (id) and backwards (id + |R|).

    ``start, step, end`` are int64 arrays with one entry per step, two per fact.
    """

    start: np.ndarray
    step: np.ndarray
    end: np.ndarray
    num_entities: int
    num_relations: int

    @classmethod
    def of(cls, triples: np.ndarray, num_entities: int, num_relations: int) -> DirectedEdges:
        """Turn distinct triples, shape ``(n, 3)``, into steps."""
        start, step, end = np.ascontiguousarray(with_inverses(triples, num_relations).T)
        return cls(start, step, end, num_entities, num_relations)

    def matrix(self, step: int) -> sparse.csr_array:
        """Return the pairs of one step: bool, shape ``(|E|, |E|)``."""
        at = self._of_step[step]
        return self._sparse(self.start[at], self.end[at], self.num_entities)

    @cached_property
    def _of_step(self) -> list[np.ndarray]:
        order = np.argsort(self.step, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.step, minlength=2 * self.num_relations)))

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct ``start · |E| + end``, sorted, and each step's position therein."""
        return np.unique(self.start * self.num_entities + self.end, return_inverse=True)

    @cached_property
    def of_pair(self) -> sparse.csr_array:
        """Return which steps join which pair: shape ``(pairs, 2·|R|)``."""
        keys, position = self.pairs
        shape = (len(keys), 2 * self.num_relations)
        return sparse.csr_array((np.ones(len(position)), (position, self.step)), shape=shape)

    @cached_property
    def facts_of_pair(self) -> sparse.csr_array:
        """Return which relations hold of which pair: shape ``(pairs, |R|)``."""
        return self.of_pair[:, : self.num_relations]

    @cached_property
    def ends(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return which relation has which entities as heads, and as tails: ``(|R|, |E|)`` each."""
        shape = (2 * self.num_relations, self.num_entities)
        step, end = np.divmod(distinct(self.step * self.num_entities + self.start), shape[1])
        seen = sparse.csr_array((np.ones(len(step)), (step, end)), shape=shape)
        return seen[: self.num_relations], seen[self.num_relations :]

    def _sparse(self, row: np.ndarray, column: np.ndarray, width: int) -> sparse.csr_array:
        return sparse.csr_array(
            (np.ones(len(row), dtype=bool), (row, column)), shape=(self.num_entities, width)
        )
