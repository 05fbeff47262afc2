"""A pace: so many things at once, so many a second after that; what comes faster waits."""

import asyncio
import time


class Pace:
    """How many things may be done, in whole and in part."""

    def __init__(self, burst: int, per_second: float) -> None:
        """Begin with all of `burst`, to which `per_second` come back.

        :param burst: how many may be done at once
        """
        self._burst, self._per_second = burst, per_second
        self._left, self._since = float(burst), time.monotonic()

    def left(self) -> float:
        """Return how many may be done at once; below zero, so many wait."""
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._since) * self._per_second)
        self._since = now
        return self._left

    async def keep(self, count: float) -> None:
        """Wait until so many more may be."""
        self._left = self.left() - count
        if self._left < 0:
            await asyncio.sleep(-self._left / self._per_second)
