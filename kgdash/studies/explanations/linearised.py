"""What the loss of an entity's facts is near one vector, fact by fact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


def add_scaled(total: np.ndarray, part: np.ndarray, weight: float) -> None:
    """Add ``weight`` times a float32 matrix to a float64 one, in its place and precision."""
    for row, more in zip(total, part, strict=True):
        row += np.multiply(more, weight, dtype=np.float64)


@dataclass(frozen=True)
class Linearised:
    """The loss at one vector x, fact by fact.

    ``losses``: float64, ``(n,)``; ``gradients``: float64, ``(n, D)``; ``total``: float64,
    ``(D, D)``, what facts' queries (``query``: int64, ``(n,)``, which one each is of) add to the
    Fisher matrix with ``weights``, ``(n,)``, and ``part``: what a fact of one query does; ``rays``:
    float64, ``(n, D)``, to whose outer products with themselves it adds besides; ``bends``:
    float64, ``(n, D)``, the diagonal that it adds since distances to its ends are curved
    themselves, 0 for inner products. All are empty unless they were asked for.
    """

    losses: np.ndarray
    gradients: np.ndarray
    query: np.ndarray
    weights: np.ndarray
    total: np.ndarray
    part: Callable[[int], np.ndarray]
    rays: np.ndarray
    bends: np.ndarray

    def curvature(self, weights: np.ndarray) -> np.ndarray:
        """Return the Fisher matrix of some facts, ``(D, D)``; their weights ``(n,)`` are 0 or 1.

        Each query where they are others than those that it was made with takes a while.
        """
        rays = self.rays[weights > 0]
        found = np.asarray(rays.T @ rays)
        kept = np.bincount(self.query, weights)
        more = kept - np.bincount(self.query, self.weights)
        # Few that are left are summed anew: nothing is left of none, not even what rounding leaves.
        if np.count_nonzero(kept) <= np.count_nonzero(more):
            more = kept
        else:
            found += self.total
        for place in np.flatnonzero(more).tolist():
            add_scaled(found, self.part(place), more[place])
        return found

    def bend(self, weights: np.ndarray) -> np.ndarray:
        """Return the diagonal that some facts add to it, ``(D,)``."""
        return np.asarray(weights @ self.bends)
