"""What the server reads of requests and messages, and in whose turn.

What a stranger sends costs the loop that answers all no more than it is worth: requests begin few
at one go, their words have bounds, and nothing behind uvicorn ever learns of what is refused here.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import h11
from uvicorn.config import HTTP_PROTOCOLS, WS_PROTOCOLS
from websockets import http11

from kgdash.serving.connections import (
    end_some,
    make_room,
    silent,
    take_connections,
    unread,
    waiting,
)
from kgdash.serving.forwarded import who_asks
from kgdash.serving.frames import UnhurriedWebSocket
from kgdash.serving.heads import PlainRequests, is_like_nobodys
from kgdash.serving.let_in import whose_log_in
from kgdash.serving.pace import Goes, Lines, Step
from kgdash.serving.refusing import Refusing
from kgdash.serving.resting import Unhurried

#: bytes of a header of a WebSocket, which cookies of a log-in with many groups take, as the proxy's
_MOST_LINE = 2**14

#: requests that begin at one go, of strangers where there is a log-in, and seconds until others
#: may: a page's forty are there at once, and what thousands of open connections ask for all at once
#: keeps nobody's page waiting; and small parts of bodies, in goes of their own
_BEGIN, _STRANGERS, _THEN, _DRIPS = 8, 1, 0.005, 2

#: requests of strangers that wait to begin, and those whose heads have more bytes than browsers
#: send to who is new, which rest longer: a proxy keeps each, 0.1 and up to 0.3 MB, whoever sent it
#: and has gone; and who is told that there is no place asks again at once
_MOST_WAIT, _MOST_LONG, _LONG, _LONGER = 7 * 2**10, 2**10, 2**12, 0.02

#: bytes of a body that are worth being read as they come, where they are not its last
_SMALL = 2**10

#: bytes of a body that are read after the answer, and seconds until a connection ends that has more
#: of them, in which a proxy takes the answer
_LEFT, _SOON = 2**16, 1.0

#: bytes that a stranger may send while their request waits, to begin or for its turn
_BEHIND = 2**14

#: parts of a request's head that are kept as they come; proxies send 4,096 bytes each
_PIECES = 6


class UnhurriedHTTP(Unhurried, Refusing):
    """HTTP as uvicorn speaks it; in pieces, so that its bound on headers holds.

    ``most``: connections that are open at once. Where a process has no file left for one more, the
    loop that answers all does nothing but try. ``visitors``: where those wait who are logged in;
    all ``strangers`` together keep none of them waiting.
    """

    most: int
    visitors: Lines
    strangers: Lines
    conn: PlainRequests

    def __init__(self, config: Any, *arguments: Any, **named: Any) -> None:
        super().__init__(config, *arguments, **named)
        self.conn = PlainRequests(config.h11_max_incomplete_event_size)
        self._asker = tuple[str, ...]()
        self._turn: Step | None = None
        self._behind = b""  # what came while it waits
        self._lines, self._goes = self.strangers, self.strangers.beginning

    def connection_made(self, transport: Any) -> None:
        """Take the transport; of too many, the one that has said nothing for longest is closed.

        uvicorn tells those alone that it ends which are made by then, and waits for all.
        """
        super().connection_made(transport)
        if self.config.ends:  # type: ignore[attr-defined]
            self.abort()
            return
        asyncio.get_running_loop().set_exception_handler(make_room)
        if len(self.connections) > self.most:
            end_some(1)
        silent[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and what waits of it."""
        self.forget()
        if self._turn is not None:
            self._goes.remove(self._asker, self._turn)
            self._turn = None  # which holds the connection
        super().connection_lost(exc)

    def forget(self) -> None:
        """Count it no more among those that may be ended."""
        for kept in (silent, unread, waiting):
            kept.pop(self, None)

    def abort(self) -> None:
        """End at once; a request that waits is told so."""
        end = self.turn_away if self in waiting else self.transport.abort
        self.forget()
        end()

    def data_received(self, data: bytes) -> None:
        """Read; where a request begins, when it is its network's turn.

        So are parts of a body that nobody waits for, or that are small, and one may begin behind.
        """
        if self._refusal is not None:
            return  # read on all the same, or its end would not be known
        if self._turn is not None:
            self._keep_behind(data)
        elif self._begins():
            self._keep_head(data)
        elif self._is_answered() and (self._body_to_come or 0) > _LEFT:
            self.transport.pause_reading()
            asyncio.get_running_loop().call_later(_SOON, self.abort)
        elif self._drips(data):
            self._wait(data, self._lines.dripping)
        else:
            self._hear_body(data)

    def _keep_behind(self, data: bytes) -> None:
        """Keep what comes while it waits; a stranger's, who needs no body, is read on.

        Of who is read no more nobody learns that they have left.
        """
        self._behind += data
        is_long = len(self._behind) > _BEHIND
        if self._lines is self.visitors or (
            is_long and whose_log_in(self.conn.begun(self._behind))
        ):
            self.transport.pause_reading()
        elif is_long:
            self.abort()

    def _keep_head(self, data: bytes) -> None:
        """Keep what comes of a request's head until it is whole, and tells in whose line it waits.

        A few parts are taken at once; where there are more, each is in the connection's line. A
        head like nobody's is in none, in which a proxy would keep it.
        """
        self._unset_keepalive_if_required()
        head = self.conn.whole_head(data)
        if not head and self.conn.pieces <= _PIECES:
            return
        begun = head or self.conn.begun()
        if is_like_nobodys(begun):
            self.send_400_response("Not so.")
            return
        visitor = whose_log_in(begun)
        self._asker = who_asks(self.client, head, visitor)
        self._lines = self.visitors if visitor else self.strangers
        self._wait(head, self._lines.long if len(begun) > _LONG else self._lines.beginning)

    def _wait(self, data: bytes, goes: Goes) -> None:
        """Read no more than what comes next before it is one's turn, and then this first.

        Who leaves meanwhile would not be known otherwise.
        """
        self._unset_keepalive_if_required()
        self.forget()
        if self._lines is self.strangers:
            waiting[self] = None
        self._turn, self._goes = Step(partial(self._begin, data), self.abort), goes
        goes.put(self._asker, self._turn)

    @property
    def _body_to_come(self) -> int | None:
        """Return the bytes of the body that is being read which have not come; None elsewhere."""
        return self.conn.to_come if self.conn.their_state is h11.SEND_BODY else None

    def _begins(self) -> bool:
        """Tell whether what comes next is a request."""
        return self.conn.their_state is h11.IDLE

    def _drips(self, data: bytes) -> bool:
        """Tell whether this is of a body, and costs the loop more than it is worth to anybody."""
        if self._body_to_come is None:
            return False
        return self._is_silent() or len(data) < min(self._body_to_come, _SMALL)

    def _begin(self, data: bytes) -> bool:
        """Read on, unless the connection has ended, and return whether there was anything to."""
        behind, self._turn, self._behind = self._behind, None, b""
        waiting.pop(self, None)
        if self.transport.is_closing():
            return False
        self.transport.resume_reading()
        try:
            if data:  # to h11, nothing is the end of the connection
                self._hear_body(data + behind)
            elif behind:  # more of a head, whose first parts h11 has not
                self._keep_head(behind)
            else:
                self._note()
        except BaseException:
            self.transport.abort()  # as asyncio does where it calls
            raise
        return True

    def _hear_body(self, data: bytes) -> None:
        """Read, but what comes behind the end of a body as if it came later."""
        if (come := self._body_to_come) is None:
            self._hear(data)
            return
        body, data = data[:come], data[come:]
        self._hear(body)
        if data:
            self.data_received(data)

    def _hear(self, data: bytes) -> None:
        """Read, and know whether a request is under way.

        Of a body that nobody reads uvicorn reads no more at some length, and of its end no word;
        nor behind a request that came before the answer to the one before it.
        """
        super().data_received(data)
        in_turn, is_stranger = self._left.in_turn, self._lines is not self.visitors
        is_long = in_turn and len(self.cycle.body) > _BEHIND
        if is_long or ((in_turn or is_stranger) and self._hastens()):
            self.abort()
        self._note()

    def _note(self) -> None:
        """Keep in mind whether it may be ended."""
        is_open = self in self.connections and not self.transport.is_closing()
        idle, paused = self._is_answered(), self.flow.write_paused
        waiting.pop(self, None)
        for kept, is_one in ((silent, idle), (unread, not idle and paused)):
            if is_one and is_open:
                kept.setdefault(self)
            else:
                kept.pop(self, None)

    def _is_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _hastens(self) -> bool:
        """Tell whether more came than the request under way, as no browser or proxy sends it."""
        return self.conn.their_state is h11.DONE and bool(self.conn.trailing_data[0])

    def _is_silent(self) -> bool:
        return self._is_answered() or self.flow.write_paused

    def shutdown(self) -> None:
        """End, as the server does, which waits for nobody's turn."""
        if self._refusal is None and not self._left.in_turn:
            super().shutdown()
        else:
            self.abort()

    def pause_writing(self) -> None:
        """Send no more: what was sent is not read."""
        super().pause_writing()
        self._note()

    def resume_writing(self) -> None:
        """Send again."""
        super().resume_writing()
        self._note()

    def on_response_complete(self) -> None:
        """End a connection on which a request came before the answer to the one before it.

        What is taken apart after an answer nobody measures.
        """
        if self._hastens():
            self.transport.close()
        super().on_response_complete()
        self._note()


def read_unhurriedly(longest: int, asks_log_in: bool = False) -> None:
    """Have the server that this process starts read so.

    :param longest: bytes of a message
    :param asks_log_in: whether strangers get nothing but that
    """
    UnhurriedWebSocket.longest = longest
    visitors = Lines(begin := Goes(_BEGIN, _THEN), begin, Goes(_DRIPS, _THEN))
    first, long = Goes(_STRANGERS, _THEN, _MOST_WAIT), Goes(1, _LONGER, _MOST_LONG)
    strangers = Lines(first, long, Goes(_DRIPS, _THEN))
    UnhurriedHTTP.visitors = visitors
    UnhurriedHTTP.strangers = strangers if asks_log_in else visitors
    UnhurriedHTTP.most = take_connections()
    http11.MAX_LINE_LENGTH = max(http11.MAX_LINE_LENGTH, _MOST_LINE)
    HTTP_PROTOCOLS["auto"] = f"{__name__}:UnhurriedHTTP"
    WS_PROTOCOLS["websockets-sansio"] = f"{UnhurriedWebSocket.__module__}:UnhurriedWebSocket"
