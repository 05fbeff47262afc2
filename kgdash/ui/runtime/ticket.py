"""A call in the line for a worker process, and what decides when its turn comes."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kgdash.errors import OwnLineFull
from kgdash.runs.worker import Worker

#: calls of one visitor and kind that run or wait
OWN_MOST = 4

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
    last one's end; ``is_early``: whether it has its turn before others because it may hold a lock;
    ``begun``: what it had used when it got its process; ``has_lost``: whether it lost one to
    another visitor's.
    """

    rank: int
    number: int
    asker: Asker
    lately: Callable[[str], float] = lambda owner: 0.0
    used: float = 0.0
    since: float | None = None
    paused: float = 0.0
    is_early: bool = False
    begun: float = 0.0
    has_lost: bool = False
    worker: Worker | None = None
    is_refused: bool = False

    @property
    def is_busy(self) -> bool:
        """Whether it runs, and waits for no lock."""
        return self.since is not None and self.worker is not None and not self.worker.waits

    def turn(self) -> float:
        """Return the seconds of this turn, 0 between two."""
        return 0.0 if self.since is None else time.monotonic() - self.since

    def end_turn(self) -> float:
        """End the turn, and return its seconds."""
        seconds = self.turn()
        self.used, self.since = self.used + seconds, None
        return seconds

    def share(self) -> float:
        """Return the seconds by which its turn comes: who leaves call after call goes behind.

        Of a visitor what they used lately, by whichever call; of nobody in particular the call's.
        """
        owner = self.asker.owner
        return self.turn() + (self.lately(owner) if owner else self.used)

    def may_take(self, holder: Ticket, held: Counter[str]) -> bool:
        """Tell whether it may have another call's process; what a page waits for, preparations'.

        It has it of who holds two more: processes do not go to and fro. Where its visitor has none,
        it has one of anybody's call that has lost none before; a new one its own visitor's, too.

        :param held: how many processes each visitor's calls have
        """
        if holder.worker is None or holder.rank < self.rank:
            return False
        mine, theirs = self.asker.owner, holder.asker.owner
        if holder.rank > self.rank or held[theirs] >= held[mine] + 2:
            return True
        return not self.used if mine == theirs else not (held[mine] or holder.has_lost)


def held_processes(tickets: Iterable[Ticket]) -> Counter[str]:
    """Count the processes that the calls of each visitor have."""
    return Counter(each.asker.owner for each in tickets if each.worker is not None)


def giver(taker: Ticket, holders: Iterable[Ticket], held: Counter[str]) -> Ticket | None:
    """Return which call gives its process: of who has most, the one that loses least."""
    givers = [each for each in holders if taker.may_take(each, held)]
    most = {each: (each.rank, held[each.asker.owner], each.begun - each.used) for each in givers}
    return max(givers, key=most.__getitem__, default=None)


def own_line_full(owner: str) -> OwnLineFull:
    """Make the refusal of what is more than a visitor may have in line."""
    told = (
        f"{OWN_MOST} computations that you asked for are under way or in line: stop one, or try "
        "again when one has ended"
    )
    return OwnLineFull(told, owner)
