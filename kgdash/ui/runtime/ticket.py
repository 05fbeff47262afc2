"""A call in the line for a worker process, and what decides when its turn comes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from kgdash.errors import OwnLineFull
from kgdash.runs.worker import Worker

#: calls of one visitor and kind that run or wait
OWN_MOST = 4

#: seconds for which a call keeps its process, and for which who lost the loan leaves it to others;
#: twice as many after each time that it was lost, up to so often; and most while it waits for locks
_KEPT, _AGAIN, _DOUBLED, _WAITING = 30.0, 15.0, 4, 120.0

#: seconds after which use counts for half, and use in seconds that is forgotten
_HALF, _FORGOTTEN = 30.0, 0.01


class GaveUp(Exception):
    """Raised out of the report of a paused call whose process another one needs."""


class RecentUse:
    """Seconds that each used lately; what was used earlier counts less."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Begin with nobody."""
        self._now, self._used = now, dict[tuple[int, str], tuple[float, float]]()

    def of(self, rank: int, owner: str) -> float:
        """Return the seconds of a visitor for one kind of work."""
        used, at = self._used.get((rank, owner), (0.0, 0.0))
        return used * math.exp2((at - self._now()) / _HALF)

    def add(self, rank: int, owner: str, seconds: float) -> None:
        """Count seconds until now, and forget of whom next to nothing is left.

        Each of them counts by its age: ∫ 2^(−t / half) dt from 0, at most half / ln 2 together.
        """
        counted = _HALF / math.log(2) * (1 - math.exp2(-seconds / _HALF))
        self._used[rank, owner] = self.of(rank, owner) + counted, self._now()
        self._used = {who: use for who, use in self._used.items() if self.of(*who) > _FORGOTTEN}


@dataclass(eq=False)
class Asker:
    """Who asks for a call: ``owner`` by now, "" nobody in particular; ``leaves``: no more."""

    owner: str = ""
    leaves: bool = False


@dataclass(eq=False)
class Ticket:
    """A call in line or running.

    ``asker``: who asks; ``lately``: gives the seconds of processes that a visitor used
    in the last minutes; ``used``: those of this call; ``since``: its turn's begin; ``paused``: its
    last one's end; ``counted``: until when its seconds are counted, infinity where none will
    be: between two turns, and while it waits for a lock; ``stopped``: since then; ``is_early``:
    whether it has its turn before others because it may hold a lock; ``begun``: what it had used
    when it got its process; ``is_loan``: whether that is the one on loan; ``losses``: how many it
    lost to other visitors, and ``loans_lost``: how many loans; ``waited``: whether it waited for a
    lock as it lost one.
    """

    rank: int
    number: int
    asker: Asker
    lately: Callable[[str], float] = lambda owner: 0.0
    used: float = 0.0
    since: float | None = None
    paused: float = 0.0
    counted: float = math.inf
    stopped: float = 0.0
    is_early: bool = False
    begun: float = 0.0
    is_loan: bool = False
    loans_lost: int = 0
    losses: int = 0
    waited: bool = False
    worker: Worker | None = None
    is_refused: bool = False

    @property
    def waits(self) -> bool:
        """Whether it waits for a lock in its process."""
        return self.worker is not None and self.worker.waits

    @property
    def is_busy(self) -> bool:
        """Whether it runs, and waits for no lock."""
        return self.since is not None and self.worker is not None and not self.waits

    @property
    def kept(self) -> float:
        """The seconds that it computed in its process, as far as they are counted."""
        return self.used - self.begun

    def lose(self, taker: Ticket) -> None:
        """Note that its process goes to another call, and which process it was."""
        if taker.asker.owner != self.asker.owner:
            self.losses += not self.is_loan
            self.loans_lost += self.is_loan
        self.paused, self.waited = time.monotonic(), self.waits

    def is_due(self) -> bool:
        """Tell whether it has had its process for its time: longer after each that it lost.

        Who waits for a lock computes nothing with it, and has it for as long as it had computed,
        two minutes at most.
        """
        times = 2 ** min(self.losses, _DOUBLED)
        if self.waits and self.since is not None:
            return time.monotonic() - self.stopped >= max(_KEPT, min(self.kept * times, _WAITING))
        return self.kept >= _KEPT * times

    def may_borrow(self) -> bool:
        """Tell whether it may have the loan: who lost it waits longer after each."""
        waits = _AGAIN * 2 ** min(self.loans_lost, _DOUBLED)
        return not self.loans_lost or time.monotonic() - self.paused >= waits

    def turn(self) -> float:
        """Return the seconds of this turn, 0 between two; in some it may wait for a lock."""
        return 0.0 if self.since is None else time.monotonic() - self.since

    def go_on(self) -> None:
        """Have what it computes from now on count."""
        self.counted = min(self.counted, time.monotonic())

    def count(self) -> float:
        """Count what it computed, nothing more until it goes on, and return these seconds."""
        seconds = self._uncounted()
        if self.counted < math.inf:
            self.stopped = time.monotonic()
        self.used, self.counted = self.used + seconds, math.inf
        return seconds

    def share(self) -> float:
        """Return the seconds by which its turn comes: who leaves call after call goes behind.

        Of a visitor what they used lately, by whichever call; of nobody in particular the call's.
        """
        owner = self.asker.owner
        return self._uncounted() + (self.lately(owner) if owner else self.used)

    def _uncounted(self) -> float:
        return max(0.0, time.monotonic() - self.counted)


def own_line_full(owner: str) -> OwnLineFull:
    """Make the refusal of what is more than a visitor may have in line."""
    told = (
        f"{OWN_MOST} computations that you asked for are under way or in line: stop one, or try "
        "again when one has ended"
    )
    return OwnLineFull(told, owner)
