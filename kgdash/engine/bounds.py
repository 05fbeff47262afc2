"""Bounds of groups: what scores are compared with, and the counts turned back to triples.

Each triple's own score is a bound of its group; equal ones are one bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgdash.engine.row_kernels import Bounds, Counts, finish, tabulate

#: from this many bounds on, a group gets a table (see `kgdash.engine.row_kernels.Bounds`)
_TABLE_FROM = 512
#: bins that a table has at most: float32, in which bins are computed, holds no more whole numbers
_MOST_BINS = 2**24


@dataclass(frozen=True)
class Thresholds:
    """The bounds of all triples, and where each triple's stands."""

    bounds: Bounds
    place: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, group: np.ndarray, groups: int) -> Thresholds:
        """Sort the bounds of triples into their groups.

        :param scores: each triple's own score, float32, ``(n,)``, no NaN
        :param group: the group of each triple, int64, ``(n,)``, in ``[0, groups)``
        """
        order = np.lexsort((scores, group))
        values, owner = scores[order].astype(np.float32, copy=False), group[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (values[1:] != values[:-1]) | (owner[1:] != owner[:-1])
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.cumsum(new) - 1
        sizes = np.bincount(owner[new], minlength=groups)
        bins = np.zeros(groups, dtype=np.int64)
        many = sizes > _TABLE_FROM
        # Four bins per bound: most of them then hold one bound or none.
        bins[many] = 2 ** np.ceil(np.log2(4 * sizes[many])).astype(np.int64)
        bins = np.minimum(bins, _MOST_BINS)
        lengths = np.where(many, bins + 1, 0)
        bounds = Bounds(
            values=values[new],
            starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            bins=bins,
            places=(np.cumsum(lengths) - lengths).astype(np.int64),
            table=np.zeros(int(lengths.sum()), dtype=np.int64),
            scales=np.zeros(groups, dtype=np.float32),
        )
        tabulate(bounds)
        return cls(bounds, place)

    def counts(self) -> Counts:
        """Return counts of nothing yet, for one thread."""
        size, groups = len(self.bounds.values), len(self.bounds.bins)
        above, equal, tally = (np.zeros(n, dtype=np.int64) for n in (size, size, size + groups))
        return Counts(above, equal, tally)

    def result(self, parts: list[Counts]) -> tuple[np.ndarray, np.ndarray]:
        """Add up the threads' counts.

        :return: for each triple the scores counted in its group that are strictly greater than its
            own, and those equal to it: int64, ``(n,)`` each
        """
        whole = Counts(*(sum(of[1:], of[0]) for of in zip(*parts, strict=True)))
        return finish(self.bounds, whole)[self.place], whole.equal[self.place]
