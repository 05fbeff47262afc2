"""A call in the line for a worker process, and what decides when its turn comes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from kgdash.runs.worker import Worker

#: seconds after which use counts for half, and use in seconds that is forgotten
_HALF, _FORGOTTEN = 30.0, 0.01


class RecentUse:
    """Seconds that each used lately; what was used earlier counts less."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Begin with nobody."""
        self._now, self._used = now, dict[Hashable, tuple[float, float]]()

    def of(self, who: Hashable) -> float:
        """Return the seconds of somebody."""
        used, at = self._used.get(who, (0.0, 0.0))
        return used * math.exp2((at - self._now()) / _HALF)

    def add(self, who: Hashable, seconds: float) -> None:
        """Count more, and forget of whom next to nothing is left."""
        self._used[who] = self.of(who) + seconds, self._now()
        self._used = {each: self._used[each] for each in self._used if self.of(each) > _FORGOTTEN}


@dataclass(eq=False)
class Ticket:
    """A call in line or running.

    ``asker``: names who asks by now; ``lately``: seconds of processes that they used before it;
    ``used``: those of its own; ``since``: its turn's begin; ``paused``: its last one's end;
    ``is_early``: whether it has its turn before others because it may hold a lock.
    """

    rank: int
    number: int
    asker: Callable[[], str]
    lately: float = 0.0
    used: float = 0.0
    since: float | None = None
    paused: float = 0.0
    is_early: bool = False
    worker: Worker | None = None
    is_refused: bool = False

    def spent(self) -> float:
        """Return the seconds of processes until now."""
        return self.used + (0.0 if self.since is None else time.monotonic() - self.since)

    def share(self) -> float:
        """Return the seconds by which its turn comes: who leaves call after call goes behind."""
        return self.lately + self.spent()
