"""A pace: so many things at once, so many a second after that; what comes faster waits."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import NamedTuple

from kgdash.serving.waiting import Left, Waiting


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


class Gone(Exception):
    """Who waited for a turn has left."""


#: what comes of waiting for a turn: what ends it, or None for the turn
_Comes = asyncio.Future[type[Full] | type[Gone] | None]


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
        self._waiting = Waiting[_Comes]()

    @asynccontextmanager
    async def turn(
        self, asker: Sequence[str] = (), left: Left | None = None
    ) -> AsyncIterator[None]:
        """Wait for a turn: behind all of the same asker, and one of each other.

        :param left: of who asks, and sends nothing that is read before their turn
        :raises Full: if nobody may wait any more, and no network has more who wait
        :raises Gone: if they leave before their turn
        """
        if self._free:
            self._free -= 1
        else:
            if self._waiting.count >= self._most:
                self._make_room(asker)
            comes: _Comes = asyncio.get_running_loop().create_future()
            self._waiting.put(asker, comes)
            leave = partial(self._leave, asker, comes)
            if left is not None:
                left.add_done_callback(leave)
                left.in_turn = True
            try:
                ends = await comes
            except asyncio.CancelledError:
                if not comes.cancelled():  # it had come
                    self._next()
                raise
            finally:
                if left is not None:
                    left.remove_done_callback(leave)
                    left.in_turn = False
            if ends is not None:  # raised here: an error that a future holds holds that, too
                raise ends
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._longest):
                    yield
        finally:
            if self._rest:
                asyncio.get_running_loop().call_later(self._rest, self._next)
            else:
                self._next()

    def _leave(self, asker: Sequence[str], comes: _Comes, _: object) -> None:
        if self._waiting.remove(asker, comes) and not comes.done():
            comes.set_result(Gone)

    def _make_room(self, asker: Sequence[str]) -> None:
        last = self._waiting.make_room(asker)
        if last is None:
            raise Full
        if not last.done():
            last.set_result(Full)

    def _next(self) -> None:
        while self._waiting.count:
            first = self._waiting.first()
            if not first.done():
                first.set_result(None)
                return
        self._free += 1


class Step(NamedTuple):
    """What is done on the loop, which returns whether anything was left to do, or what ends it."""

    do: Callable[[], bool]
    end: Callable[[], None]


class Goes:
    """What is done on the loop few at one go, all who ask going round; then all else has a turn.

    Whoever asks is named as of `Turns`.
    """

    def __init__(self, at_one_go: int, rest: float, most: float = math.inf) -> None:
        """Begin with nothing to do.

        :param rest: seconds between two goes
        :param most: that may wait
        """
        self._at_one_go, self._rest, self._most = at_one_go, rest, most
        self._waiting, self._goes = Waiting[Step](), False

    def put(self, asker: Sequence[str], step: Step) -> None:
        """Have something done: behind all of the same asker, and one of each other.

        Where too many wait, the last of the network that has most who wait is ended.
        """
        if self._waiting.count >= self._most:
            last = self._waiting.make_room(asker)
            if last is None:
                step.end()
                return
            last.end()
        self._waiting.put(asker, step)
        if not self._goes:
            self._goes = True
            asyncio.get_running_loop().call_soon(self._go)

    def remove(self, asker: Sequence[str], step: Step) -> None:
        """Have something not done, if it has not been."""
        self._waiting.remove(asker, step)

    def _go(self) -> None:
        done, loop = 0, asyncio.get_running_loop()
        while self._waiting.count and done < self._at_one_go:
            step = self._waiting.first()
            try:
                done += step.do()
            except Exception as error:  # whatever fails, the others' turn comes
                done += 1
                loop.call_exception_handler({"message": "a turn failed", "exception": error})
        if self._waiting.count:
            loop.call_later(self._rest, self._go)
        else:
            self._goes = False


class Lines(NamedTuple):
    """Where requests wait to begin, those with long heads apart, and small parts of bodies."""

    beginning: Goes
    long: Goes
    dripping: Goes
