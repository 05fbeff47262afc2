"""Bounds of groups: what scores are compared with, and the counts turned back to triples.

Each triple puts two bounds into its group: its own score, and the float next below it. A score that
exceeds the first is strictly greater; one that exceeds the second but not the first is equal. So
one strict comparison gives both, for +inf and -0.0 too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgdash.engine.kernels import Bounds, Counts, finish, tabulate

#: from this many bounds on, a group gets a table (see `kgdash.engine.kernels.Bounds`)
_TABLE_FROM = 80
#: bins that a table has at most: float32, in which bins are computed, holds no more whole numbers
_MOST_BINS = 2**24


@dataclass(frozen=True)
class Thresholds:
    """The bounds of all triples, and where each triple's two stand."""

    bounds: Bounds
    own: np.ndarray
    below: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, group: np.ndarray, groups: int) -> Thresholds:
        """Sort the bounds of triples into their groups.

        :param scores: each triple's own score, float32, ``(n,)``, finite
        :param group: the group of each triple, int64, ``(n,)``, in ``[0, groups)``
        """
        with np.errstate(over="ignore"):
            below = np.nextafter(scores, np.float32(-np.inf))
        values = np.concatenate([scores, below]).astype(np.float32, copy=False)
        both = np.concatenate([group, group])
        order = np.lexsort((values, both))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        sizes = np.bincount(both, minlength=groups)
        bins = np.zeros(groups, dtype=np.int64)
        many = sizes > _TABLE_FROM
        # Four bins per bound: most of them then hold one bound or none.
        bins[many] = 2 ** np.ceil(np.log2(4 * sizes[many])).astype(np.int64)
        bins = np.minimum(bins, _MOST_BINS)
        lengths = np.where(many, bins + 1, 0)
        bounds = Bounds(
            values=values[order],
            starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            bins=bins,
            places=(np.cumsum(lengths) - lengths).astype(np.int64),
            table=np.zeros(int(lengths.sum()), dtype=np.int64),
            scales=np.zeros(groups, dtype=np.float32),
        )
        tabulate(bounds)
        return cls(bounds, place[: len(scores)], place[len(scores) :])

    def counts(self) -> Counts:
        """Return counts of nothing yet, for one thread."""
        size, groups = len(self.bounds.values), len(self.bounds.bins)
        return Counts(np.zeros(size, dtype=np.int64), np.zeros(size + groups, dtype=np.int64))

    def result(self, parts: list[Counts]) -> tuple[np.ndarray, np.ndarray]:
        """Add up the threads' counts.

        :return: for each triple the scores counted in its group that are strictly greater than its
            own, and those equal to it: int64, ``(n,)`` each
        """
        whole = Counts(
            sum((p.above for p in parts[1:]), parts[0].above),
            sum((p.tally for p in parts[1:]), parts[0].tally),
        )
        total = finish(self.bounds, whole)
        greater = total[self.own]
        return greater, total[self.below] - greater
