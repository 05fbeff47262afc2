"""How the server refuses what is no request, few times a second, and what finds no place.

Both are answered: a proxy sends again, by a new connection, what ends without an answer.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kgdash.serving.pace import Pace

_END = b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"

#: what answers what is no request, and what finds no place
_REFUSAL = b"HTTP/1.1 400 Bad Request" + _END
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1" + _END

#: how often that is answered, at once and in each second, and the seconds that it waits at most:
#: a proxy keeps all that it sent until then, though whoever sent it has gone
_REFUSED_BURST, _REFUSED, _LONGEST = 8, 40, 2.0

_refused = Pace(_REFUSED_BURST, _REFUSED)


class Refusing(H11Protocol):
    """HTTP whose refusals wait for each other; a connection ends behind its own."""

    _refusal: asyncio.TimerHandle | None = None

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, and end: without a text, which the answer to HEAD has not.

        Few are refused a second: who asks again at once would keep all others waiting to begin.
        More than these are refused at once.
        """
        if _refused.left() < -_LONGEST * _REFUSED:
            self._end(_REFUSAL)
            return
        self._refusal = asyncio.get_running_loop().call_later(_refused.take(1), self._refuse)

    def turn_away(self) -> None:
        """Tell that there is no place, and end at once."""
        self._end(_BUSY)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what waits of the connection."""
        if self._refusal is not None:
            self._refusal.cancel()
        super().connection_lost(exc)

    def _refuse(self) -> None:
        self._answer(_REFUSAL)
        self.transport.close()

    def _end(self, answer: bytes) -> None:
        self._answer(answer)
        self.transport.abort()

    def _answer(self, answer: bytes) -> None:
        """Answer, unless an answer has begun."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(answer)
