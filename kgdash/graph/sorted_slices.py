"""Slices of sorted arrays: everything that belongs to many keys, found at once."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


def expand_slices(starts: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Write slices of different lengths out, one after another.

    Slices ``[5, 0]`` with counts ``[2, 3]`` give owners ``[0, 0, 1, 1, 1]`` and positions
    ``[5, 6, 0, 1, 2]``.

    :param starts: of each slice, int64, shape ``(n,)``
    :param counts: length of each slice, ≥ 0, int64, shape ``(n,)``
    :return: owner (which slice, ascending) and position (from the slice's start on), both int64, of
        length ``counts.sum()``
    """
    owner = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) + np.repeat(starts - first, counts)


def distinct(numbers: np.ndarray) -> np.ndarray:
    """Return the distinct numbers, ascending, as `numpy.unique` does.

    Sorting many takes a fiftieth of the time of the hashing there (NumPy 2.4).

    :param numbers: integers, shape ``(n,)``
    """
    found = np.sort(numbers)
    first = np.ones(len(found), dtype=bool)
    np.not_equal(found[1:], found[:-1], out=first[1:])
    return found if first.all() else found[first]


class DistinctRows(NamedTuple):
    """Rows of a table, each once, ascending by the first column, then by the next ones.

    ``rows`` ``(d, k)``; ``first``: where each stands first; ``of`` ``(n,)``: which of them each
    row of the table is; ``times``: how often each occurs (int64).
    """

    rows: np.ndarray
    first: np.ndarray
    of: np.ndarray
    times: np.ndarray


def distinct_rows(table: np.ndarray) -> DistinctRows:
    """Find the distinct rows of a table of numbers.

    `numpy.unique` with an axis finds the same, but takes several times as long, seconds for a
    million rows, and no other thread of the process comes to a turn while it sorts.

    :param table: without NaN, ``(n, k)`` with k ≥ 1
    """
    order = np.lexsort(table.T[::-1])
    ordered = table[order]
    new = np.ones(len(table), dtype=bool)
    np.any(ordered[1:] != ordered[:-1], axis=1, out=new[1:])
    place = np.flatnonzero(new)
    of = np.empty(len(table), dtype=np.int64)
    of[order] = np.cumsum(new) - 1
    return DistinctRows(ordered[place], order[place], of, np.diff(place, append=len(table)))


def run_lengths(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct numbers of a sorted array, ascending, and how often each occurs.

    :param numbers: integers, shape ``(n,)``
    """
    first = np.ones(len(numbers), dtype=bool)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    place = np.flatnonzero(first)
    return numbers[place], np.diff(place, append=len(numbers))


@dataclass(frozen=True)
class SortedSlices:
    """Sorted integers ``prefix * width + value`` that answer "all values under this prefix"."""

    keys: np.ndarray

    def lookup(self, prefixes: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the values under each prefix.

        :param prefixes: shape ``(n,)``, dtype int64
        :param width: number of values that a prefix can have
        :return: two int64 arrays of equal length: the position in ``prefixes`` that a value belongs
            to (ascending) and the value, in ``[0, width)``
        """
        prefixes = np.asarray(prefixes, dtype=np.int64)
        start, count = self._ends(prefixes, width)
        owner, position = expand_slices(start, count)
        return owner, self.keys[position] - prefixes[owner] * width

    def counts(self, prefixes: np.ndarray, width: int) -> np.ndarray:
        """Count the values under each prefix, int64: what `lookup` would write out."""
        return self._ends(np.asarray(prefixes, dtype=np.int64), width)[1]

    def _ends(self, prefixes: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        start = np.searchsorted(self.keys, prefixes * width)
        return start, np.searchsorted(self.keys, (prefixes + 1) * width) - start
