"""Pairs of numbers and how often each occurs, as a sparse matrix: who neighbours whom."""

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_matrix

from kgdash.graph.sorted_slices import run_lengths


def counted_pairs(
    blocks: Iterable[tuple[np.ndarray, np.ndarray]], most: int, size: int
) -> csr_matrix:
    """Count pairs of two different numbers: ``(size, size)``.

    Sorting some of them at a time, as one number each, takes little beside what is returned, and
    SciPy's conversion several times as much.

    :param blocks: rows and columns, int64, ``(n,)``: the rows of a block are above those before
    :param most: pairs of all blocks at most
    """
    dtype = np.int32 if max(most, size) <= np.iinfo(np.int32).max else np.int64
    columns, counts = np.empty(most, dtype=dtype), np.empty(most, dtype=np.int32)
    of_rows, end = np.zeros(size + 1, dtype=np.int64), 0
    for row, column in blocks:
        keys = (row * size + column)[row != column]
        keys.sort()
        pairs, times = run_lengths(keys)
        found, place = np.divmod(pairs, max(1, size))
        here = slice(end, end + len(pairs))
        columns[here], counts[here] = place, times
        own, number = run_lengths(found)
        of_rows[own + 1] = number
        end = here.stop
    starts = np.cumsum(of_rows).astype(dtype)
    # What was not filled was never touched, and takes no memory; nor does what is kept of it.
    return csr_matrix((counts[:end], columns[:end], starts), shape=(size, size))
