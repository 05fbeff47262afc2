"""How long the loop that answers all may read what one connection sends.

Parts of a body or of a message that hold a byte or none, and signs of life, take it a hundredth of
a millisecond each: half a megabyte a second would keep it busy, and nothing behind uvicorn, which
takes them apart, ever learns of them.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from kgdash.serving.pace import Pace
from kgdash.serving.waiting import LEFT, Left

#: bytes that are read of a connection at once
_AT_ONCE = 2**13

#: seconds that reading a byte takes of what is honest, with some room
_FAST = 3e-8

#: seconds more than that which a connection may take at once, and in each second
_BURST, _OWN = 0.003, 0.005

#: seconds that all who take more have together, at once and in each second
_REST_BURST, _REST = 0.05, 0.2

_greedy = Pace(_REST_BURST, _REST)

#: seconds that a connection which is to end may read nothing of what was sent, and has for it all
_STALLED, _ALL_READ = 20.0, 60.0

#: those that end once what was sent is read, the ones that wait for longest first
ending: dict[Resting, None] = {}


class Resting:
    """A transport of asyncio's that rests from reading, whoever else pauses it; one of `ending`."""

    def __init__(self, transport: Any) -> None:
        self._transport, self._rests, self._paused = transport, False, False
        self._pace = Pace(_BURST, _OWN)
        transport.max_size = _AT_ONCE  # other loops' transports know nothing of it

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def pause_reading(self) -> None:
        """Read no more, as the protocol wants."""
        self._paused = True
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read again, or after the rest."""
        self._paused = False
        if not self._rests:
            self._transport.resume_reading()

    def close(self) -> None:
        """End once what was sent is read, or is read no more."""
        self._transport.close()
        if (left := self._transport.get_write_buffer_size()) and self not in ending:
            ending[self] = None
            self._look_again(left, time.monotonic() + _ALL_READ)

    def _look_again(self, left: int, until: float) -> None:
        asyncio.get_running_loop().call_later(_STALLED, self._look, left, until)

    def _look(self, before: int, until: float) -> None:
        left = self._transport.get_write_buffer_size()
        if self in ending and (left == before or time.monotonic() > until):
            self.abort()
        elif self in ending:
            self._look_again(left, until)

    def abort(self) -> None:
        """End at once."""
        ending.pop(self, None)
        self._transport.abort()

    def took(self, seconds: float) -> None:
        """Rest after reading took so much longer, if that was more than one's own share."""
        if seconds > 0 and self._pace.take(seconds) and (rest := _greedy.take(seconds)):
            self._rests = True
            self._transport.pause_reading()
            asyncio.get_running_loop().call_later(rest, self._rested)

    def _rested(self) -> None:
        self._rests = False
        if not self._paused:
            self._transport.resume_reading()


class Unhurried(asyncio.Protocol):
    """Reads what comes over a transport that rests."""

    transport: Any

    def connection_made(self, transport: Any) -> None:
        """Take the transport; of a connection that becomes a WebSocket, the same."""
        self._left = Left(loop=asyncio.get_running_loop())
        super().connection_made(
            transport if isinstance(transport, Resting) else Resting(transport)  # type: ignore[arg-type]
        )

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the transport, and tell of it."""
        ending.pop(self.transport, None)
        if not self._left.done():
            self._left.set_result(None)
        super().connection_lost(exc)

    def eof_received(self) -> None:
        """End, as asyncio would, but not past the transport that rests."""
        super().eof_received()
        self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Read, and rest after it."""
        start = time.thread_time()
        try:
            super().data_received(data)
            if (scope := getattr(self, "scope", None)) is not None:
                scope[LEFT] = self._left
        finally:
            self.transport.took(time.thread_time() - start - _FAST * len(data))
