"""How long the loop that answers all may read what one connection sends.

Parts of a body or of a message that hold a byte or none, and signs of life, take it a hundredth of
a millisecond each: half a megabyte a second would keep it busy, and nothing behind uvicorn, which
takes them apart, ever learns of them.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

import h11
import uvicorn
from uvicorn.config import HTTP_PROTOCOLS, WS_PROTOCOLS
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets import http11

from kgdash.serving.connections import FewTaken, most_connections, tell_seldom
from kgdash.serving.pace import Goes, Pace
from kgdash.serving.waiting import networks

#: bytes that are read of a connection at once
_AT_ONCE = 2**13

#: seconds that reading a byte takes of what is honest, with some room
_FAST = 3e-8

#: seconds more than that which a connection may take at once, and in each second
_BURST, _OWN = 0.003, 0.005

#: seconds that all who take more have together, at once and in each second
_REST_BURST, _REST = 0.05, 0.2

#: pieces of a message that has not ended
_MOST_PIECES = 2**10

#: lines of a request's headers, of which browsers and proxies send some 40; what h11 calls the
#: bytes that they may take
_MOST_LINES, _MOST_BYTES = 128, "max_incomplete_event_size"

#: bytes of a header of a WebSocket, which cookies of a log-in with many groups take, as the proxy's
_MOST_LINE = 2**14

#: beginnings of the names of headers that Python takes apart word by word -> bytes of all of them
_WORDS = {
    (b"connection", b"upgrade", b"sec-websocket-"): 2**9,
    (b"accept", b"content-", b"if-", b"range"): 2**10,
}

#: requests that begin at one go, and seconds until others may: a page's forty are there at once,
#: and what thousands of open connections ask for all at once keeps nobody's page waiting
_BEGIN, _THEN = 8, 0.005

#: bytes of a path, which is a page's name, or holds a session's and a file's number
_MOST_PATH = 2**10

_greedy = Pace(_REST_BURST, _REST)

#: connections on which no request is under way, or nobody reads the answer, those that have been so
#: for longest first
_silent: dict[UnhurriedHTTP, None] = {}


class Resting:
    """A transport of asyncio's that rests from reading, whoever else pauses it."""

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


class _Unhurried(asyncio.Protocol):
    """Reads what comes over a transport that rests."""

    transport: Any

    def connection_made(self, transport: Any) -> None:
        """Take the transport; of a connection that becomes a WebSocket, the same."""
        super().connection_made(
            transport if isinstance(transport, Resting) else Resting(transport)  # type: ignore[arg-type]
        )

    def data_received(self, data: bytes) -> None:
        """Read, and rest after it."""
        start = time.thread_time()
        super().data_received(data)
        self.transport.took(time.thread_time() - start - _FAST * len(data))


class _PlainRequests(h11.Connection):
    """HTTP as browsers speak it: a body's length is told before it comes, and paths are short.

    A body in chunks of a byte costs as much as it is long on each new connection, whatever came of
    the one before; a path of percent signs, a hundredth of a second for 15 KB.

    ``to_come``: bytes of the request's body that have not come.
    """

    to_come = 0

    def next_event(self) -> Any:
        """Return what came next, but refuse a request that costs more than it says."""
        event = super().next_event()
        if isinstance(event, h11.Data):
            self.to_come -= len(event.data)
        if isinstance(event, h11.Request):
            self.to_come = int(dict(event.headers).get(b"content-length", 0))
            if any(name == b"transfer-encoding" for name, _ in event.headers):
                raise h11.RemoteProtocolError("expected a body with its length")
            if len(event.target.partition(b"?")[0]) > _MOST_PATH:
                raise h11.RemoteProtocolError("expected a shorter path")
            for names, most in _WORDS.items():
                words = (value for name, value in event.headers if name.startswith(names))
                if sum(map(len, words)) > most:
                    raise h11.RemoteProtocolError("expected fewer words")
        return event


class UnhurriedHTTP(_Unhurried, AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """HTTP as uvicorn speaks it; in pieces, so that its bound on headers holds.

    ``most``: connections that are open at once. Where a process has no file left for one more, the
    loop that answers all does nothing but try. ``beginning``: where requests wait to begin.
    """

    most: int
    beginning: Goes

    def __init__(self, config: Any, *arguments: Any, **named: Any) -> None:
        super().__init__(config, *arguments, **named)
        self._lines = 0
        if hasattr(self, "conn"):  # httptools, where that is installed, reads chunks fast
            most = config.h11_max_incomplete_event_size
            self.conn = _PlainRequests(h11.SERVER, **({} if most is None else {_MOST_BYTES: most}))

    def connection_made(self, transport: Any) -> None:
        """Take the transport; of too many, the one that has said nothing for longest is closed."""
        super().connection_made(transport)
        asyncio.get_running_loop().set_exception_handler(tell_seldom)
        _silent[self] = None
        if len(self.connections) > self.most:
            first = next(iter(_silent))
            del _silent[first]
            first.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        _silent.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read; where a request begins, when it is its network's turn.

        One may begin behind the body of another, to which the answer came before.
        """
        if hasattr(self, "conn") and self.conn.their_state is h11.SEND_BODY:
            body, data = data[: self.conn.to_come], data[self.conn.to_come :]
            self._hear(body)
            if not data:
                return
        if self.conn.their_state is h11.IDLE if hasattr(self, "conn") else self._is_silent():
            self._unset_keepalive_if_required()
            self.transport.pause_reading()
            asker = networks(str((self.client or ("",))[0]))
            self.beginning.put(asker, partial(self._begin, data))
        else:
            self._hear(data)

    def _begin(self, data: bytes) -> bool:
        """Read on, unless the connection has ended, and return whether there was anything to."""
        if self.transport.is_closing():
            return False
        self.transport.resume_reading()
        try:
            self._hear(data)
        except BaseException:
            self.transport.abort()  # as asyncio does where it calls
            raise
        return True

    def _hear(self, data: bytes) -> None:
        """Read, and know whether a request is under way."""
        self._read(data)
        if self in self.connections and self._is_silent():
            _silent.setdefault(self)
        else:
            _silent.pop(self, None)

    def _is_silent(self) -> bool:
        return self.cycle is None or self.cycle.response_complete or self.flow.write_paused

    def _read(self, data: bytes) -> None:
        """Read, unless a request begins with more lines than anybody sends."""
        if hasattr(self, "conn") and self.conn.their_state is h11.IDLE:
            self._lines += data.partition(b"\r\n\r\n")[0].count(b"\n")
            if self._lines > _MOST_LINES:
                self.send_400_response("Too many headers.")
                return
        super().data_received(data)
        if not hasattr(self, "conn") or self.conn.their_state is not h11.IDLE:
            self._lines = 0

    def pause_writing(self) -> None:
        """Send no more: what was sent is not read."""
        super().pause_writing()
        _silent.setdefault(self)

    def resume_writing(self) -> None:
        """Send again."""
        super().resume_writing()
        if not self._is_silent():
            _silent.pop(self, None)

    def on_response_complete(self) -> None:
        """End a connection on which a request came before the answer to the one before it.

        No browser sends them so, and what is taken apart after an answer nobody measures.
        """
        conn = getattr(self, "conn", None)
        if conn is not None and conn.their_state is h11.DONE and conn.trailing_data[0]:
            self.transport.close()
        super().on_response_complete()
        if self in self.connections and not self.transport.is_closing():
            _silent.setdefault(self)


class UnhurriedWebSocket(_Unhurried, WebSocketsSansIOProtocol):
    """WebSockets as uvicorn speaks them, without messages that Streamlit refuses once they came.

    ``longest``: bytes of a message.
    """

    longest: int

    def __init__(self, config: Any, *arguments: Any, **named: Any) -> None:
        config.ws_max_size = self.longest
        super().__init__(config, *arguments, **named)

    def data_received(self, data: bytes) -> None:
        """Read, unless a message is in more pieces than anybody sends."""
        super().data_received(data)
        if len(self.frames) > _MOST_PIECES:
            self.transport.abort()


def read_unhurriedly(longest: int) -> None:
    """Have the server that this process starts read so.

    :param longest: bytes of a message
    """
    UnhurriedWebSocket.longest = longest
    uvicorn.Config = FewTaken  # type: ignore[misc]
    UnhurriedHTTP.beginning = Goes(_BEGIN, _THEN)
    UnhurriedHTTP.most = most_connections()
    http11.MAX_LINE_LENGTH = max(http11.MAX_LINE_LENGTH, _MOST_LINE)
    HTTP_PROTOCOLS["auto"] = f"{__name__}:UnhurriedHTTP"
    WS_PROTOCOLS["websockets-sansio"] = f"{__name__}:UnhurriedWebSocket"
