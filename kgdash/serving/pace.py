"""A pace: so many things at once, so many a second after that; what comes faster waits."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress


class Pace:
    """How many things may be done, in whole and in part."""

    def __init__(self, burst: float, per_second: float) -> None:
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

    def take(self, count: float) -> float:
        """Take so many more, and return the seconds until they may be."""
        self._left = self.left() - count
        return max(0.0, -self._left / self._per_second)

    async def keep(self, count: float) -> None:
        """Wait until so many more may be."""
        if wait := self.take(count):
            await asyncio.sleep(wait)


class Full(Exception):
    """So many wait for a turn that no more may."""


class _Waiting:
    """Who waits for a turn, by the networks that they come from, one within the other."""

    def __init__(self) -> None:
        self.count = 0
        self._parts: dict[str, _Waiting] = {}
        self._here: deque[asyncio.Future[None]] = deque()

    def put(self, asker: Sequence[str], comes: asyncio.Future[None]) -> None:
        """Have somebody wait behind all of the same network, and one of each other."""
        self.count += 1
        if asker:
            self._parts.setdefault(asker[0], _Waiting()).put(asker[1:], comes)
        else:
            self._here.append(comes)

    def first(self) -> asyncio.Future[None]:
        """Take away whose turn it is: networks go round, and within each its parts."""
        self.count -= 1
        if self._here:
            return self._here.popleft()
        name = next(iter(self._parts))
        part = self._parts.pop(name)
        found = part.first()
        if part.count:
            self._parts[name] = part  # behind all others
        return found

    def make_room(self, asker: Sequence[str]) -> asyncio.Future[None] | None:
        """Take away the last of the network that has most who wait; None where it is one's own."""
        if not asker:
            return None
        own, most = self._parts.get(asker[0]), self._largest()
        if self._parts[most].count > (own.count if own else 0) + 1:
            return self._last_of(most)
        found = own.make_room(asker[1:]) if own else None
        self.count -= found is not None
        return found

    def _largest(self) -> str:
        """Name the part that has most who wait, the latest of several."""
        return max(reversed(self._parts), key=lambda name: self._parts[name].count)

    def _last_of(self, name: str) -> asyncio.Future[None]:
        """Take away the last of a part; one of which nobody waits any more is forgotten."""
        self.count -= 1
        part = self._parts[name]
        if part._parts:
            found = part._last_of(part._largest())
        else:
            part.count -= 1
            found = part._here.pop()
        if not part.count:
            del self._parts[name]
        return found


class Turns:
    """Turns of which few are had at once, each with a rest after it; all who wait go round.

    Whoever asks is named by the networks that they are in, the widest first.
    """

    def __init__(self, at_once: int, rest: float, longest: float, most: int) -> None:
        """Begin with nobody.

        :param rest: seconds after a turn until another has it
        :param longest: seconds after which a turn is ended
        :param most: that may wait
        """
        self._free, self._rest, self._longest, self._most = at_once, rest, longest, most
        self._waiting = _Waiting()

    @asynccontextmanager
    async def turn(self, asker: Sequence[str] = ()) -> AsyncIterator[None]:
        """Wait for a turn: behind all of the same asker, and one of each other.

        :raises Full: if nobody may wait any more, and no network has more who wait
        """
        if self._free:
            self._free -= 1
        else:
            if self._waiting.count >= self._most:
                self._make_room(asker)
            comes = asyncio.get_running_loop().create_future()
            self._waiting.put(asker, comes)
            try:
                await comes
            except asyncio.CancelledError:
                if not comes.cancelled():  # it had come
                    self._next()
                raise
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._longest):
                    yield
        finally:
            if self._rest:
                asyncio.get_running_loop().call_later(self._rest, self._next)
            else:
                self._next()

    def _make_room(self, asker: Sequence[str]) -> None:
        last = self._waiting.make_room(asker)
        if last is None:
            raise Full
        if not last.done():
            last.set_exception(Full())

    def _next(self) -> None:
        while self._waiting.count:
            first = self._waiting.first()
            if not first.done():
                first.set_result(None)
                return
        self._free += 1
