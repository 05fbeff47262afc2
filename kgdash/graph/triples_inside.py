"""Which triples lie in which parts of a graph, in as little memory as that takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from kgdash.errors import KgdashError
from kgdash.files.memory import memory_budget
from kgdash.graph.subgraph import Subgraph

#: bytes that a triple inside a subgraph takes with all that is made of it
_BYTES = 64

#: triples inside subgraphs that are summed over at once
_AT_ONCE = 2**21


@dataclass(frozen=True)
class Inside:
    """Which of some triples have both ends in which subgraph.

    ``rows``: their numbers, int32 or int64, subgraph after subgraph, ascending in each; ``starts``:
    int64 ``(subgraphs + 1,)``, where each one's begin; ``triples``: how many there are in all.
    """

    rows: np.ndarray
    starts: np.ndarray
    triples: int

    @property
    def counts(self) -> np.ndarray:
        """Return how many are inside each subgraph: int64."""
        return np.diff(self.starts)

    @property
    def anywhere(self) -> np.ndarray:
        """Tell which triples are in any subgraph: bool, ``(triples,)``."""
        found = np.zeros(self.triples, dtype=bool)
        found[self.rows] = True
        return found

    def of(self, chosen: np.ndarray) -> Inside:
        """Return the same of some of the triples, which get the numbers from 0.

        :param chosen: bool, ``(triples,)``
        """
        number = np.cumsum(chosen) - 1
        ends = zip(self.starts[:-1], self.starts[1:], strict=True)
        each = (self.rows[start:end] for start, end in ends)
        return _joined((number[rows[chosen[rows]]] for rows in each), int(chosen.sum()))

    def means(self, values: np.ndarray) -> np.ndarray:
        """Average values over each subgraph; NaN where no triple is inside.

        :param values: float64, of triples, ``(triples,)`` or ``(triples, n)``
        :return: ``(subgraphs,)`` or ``(subgraphs, n)``
        """
        sums = np.empty((len(self.counts), *values.shape[1:]))
        values, first = np.ascontiguousarray(values), 0
        while first < len(sums):
            end = int(np.searchsorted(self.starts, self.starts[first] + _AT_ONCE, "right")) - 1
            end = min(max(end, first + 1), len(sums))
            sums[first:end] = self.matrix(first, end) @ values
            first = end
        with np.errstate(invalid="ignore"):
            return (sums.T / self.counts).T

    def matrix(self, first: int = 0, end: int | None = None) -> csr_array:
        """Return it of the subgraphs from ``first`` to before ``end``: 0 and 1 as float64."""
        starts = self.starts[first : None if end is None else end + 1]
        rows = self.rows[starts[0] : starts[-1]]
        parts = (np.ones(len(rows)), rows, starts - starts[0])
        return csr_array(parts, shape=(len(starts) - 1, self.triples))


def triples_inside(subgraphs: Sequence[Subgraph], triples: np.ndarray) -> Inside:
    """Tell which triples have both ends in which subgraph.

    :param triples: ids of it, shape ``(n, 3)``
    :raises KgdashError: if there is no memory for so many triples
    """
    return _joined((part.rows_inside(triples) for part in subgraphs), len(triples))


def _joined(parts: Iterable[np.ndarray], triples: int) -> Inside:
    kind = np.dtype(np.int32 if triples < 2**31 else np.int64)
    # Grown in place: rows apart, and joined, would be there twice.
    rows, starts, most = bytearray(), [0], memory_budget() // _BYTES * kind.itemsize
    for part in parts:
        rows += part.astype(kind).data
        starts.append(len(rows) // kind.itemsize)
        if len(rows) > most:
            raise KgdashError(
                f"the triples inside {len(starts) - 1:,} subgraphs and more take more than "
                "$KGDASH_MEMORY holds: draw fewer subgraphs, or smaller ones"
            )
    return Inside(np.frombuffer(rows, dtype=kind), np.array(starts), triples)
