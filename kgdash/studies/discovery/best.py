"""The best so many of a stream of values, ties by key."""

import threading

import numpy as np


class Best:
    """Keeps the k greatest values that were added, of equal ones those of least key.

    Any thread may add. ``least``: what a value must reach to be among them; it only grows.
    """

    def __init__(self, k: int, least: float = -np.inf) -> None:
        """Keep ``k`` ≥ 1 values of at least ``least``."""
        self.least = float(least)
        self._k, self._next = k, k
        self._parts: list[tuple[np.ndarray, ...]] = []
        self._held, self._lock = 0, threading.Lock()

    def add(self, value: np.ndarray, key: np.ndarray, score: np.ndarray) -> None:
        """Add values, float64, with their keys, int64, and scores, float64: ``(n,)`` each."""
        enough = value >= self.least
        if not enough.any():
            return
        with self._lock:
            self._parts.append((value[enough], key[enough], score[enough].astype(np.float64)))
            self._held += int(enough.sum())
            if self._held >= self._next:
                self._cut()
                self._next = max(2 * self._k, 2**17)

    def result(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return values, keys and scores, best first: ``(m,)`` each, m ≤ k."""
        with self._lock:
            value, key, score = self._cut()
        order = np.lexsort((key, -value))
        return value[order], key[order], score[order]

    def _cut(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        nothing = (np.empty(0), np.empty(0, dtype=np.int64), np.empty(0))
        value, key, score = (np.concatenate(p) for p in zip(nothing, *self._parts, strict=True))
        if len(value) >= self._k:
            place = len(value) - self._k
            least = np.partition(value, place)[place]
            above, tied = np.flatnonzero(value > least), np.flatnonzero(value == least)
            first = np.argpartition(key[tied], self._k - len(above) - 1)[: self._k - len(above)]
            kept = np.concatenate([above, tied[first]])
            value, key, score = value[kept], key[kept], score[kept]
            self.least = max(self.least, float(least))
        self._parts, self._held = [(value, key, score)], len(value)
        return value, key, score
