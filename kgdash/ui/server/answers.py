"""What each visitor gets of the server at once: what nobody reads would stay in memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgdash.files.event_log import note
from kgdash.serving.connections import most_connections
from kgdash.serving.pace import Full, Pace, Turns

#: answers that one visitor gets at once, so many others wait, and bytes of a piece of them
_AT_ONCE, _WAIT, _PIECE = 16, 500, 2**16

#: pieces that one visitor gets without a pause (256 MiB, or 500 small answers), those a second
#: after that, and as how many an answer counts by itself
_BURST, _PER_SECOND, _ANSWER = 4096, 320, 8

#: the part of all connections that requests of all visitors take, under way or waiting, from which
#: on each visitor has but such a part of what is left, or so few: first those of three pages that
#: open. These connections are not silent, so none would give way to who is new
_MANY, _SHARE, _FEWEST = 1 / 4, 1 / 32, 16

#: where files of pages lie; all else is read of the disk in pieces
_FILES = "/media/"

#: bytes of an answer that is large; of a visitor's large ones that are under way; and of all
#: visitors' ones, beyond which each has one
_LARGE, _OWN, _ALL = 2**20, 2**27, 2**29


class Answers:
    """Those that are under way, by visitor."""

    def __init__(self) -> None:
        self._turns = defaultdict[str, Turns](lambda: Turns(_AT_ONCE, 0, inf, _WAIT))
        self._paces = defaultdict[str, Pace](lambda: Pace(_BURST, _PER_SECOND))
        self._most = most_connections()
        #: requests, and bytes of large answers
        self._asked, self._large = Counter[str](), Counter[str]()

    async def give(
        self, owner: str, app: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Have an app answer a visitor in turn and in pieces; a large one not beside many others.

        :param owner: the visitor's folder
        :raises Full: if too many of theirs wait, or of everybody's
        """
        size, refused = 0, False

        async def bounded(message: Message) -> None:
            nonlocal size, refused
            if message["type"] == "http.response.start":
                length = int(Headers(raw=message["headers"]).get("content-length", 0))
                size = length if length > _LARGE and scope["path"].startswith(_FILES) else 0
                if refused := self._is_too_much(owner, size):
                    size = 0
                    note("refused", reason="download")
                    busy = PlainTextResponse("many of your files are being sent: try later", 429)
                    await busy(scope, receive, send)
                self._large[owner] += size
            if not refused:
                await _in_pieces(message, send, self._paces[owner])

        with self._counted(owner):
            async with self._turns[owner].turn():
                await self._paces[owner].keep(_ANSWER)
                try:
                    await app(_unpacked(scope), receive, bounded)
                finally:
                    self._large -= Counter({owner: size})

    @contextmanager
    def _counted(self, owner: str) -> Iterator[None]:
        left = self._most - self._asked.total()
        own = max(left * _SHARE, _FEWEST)
        if left <= self._most * (1 - _MANY) and self._asked[owner] >= own:
            raise Full
        self._asked[owner] += 1
        try:
            yield
        finally:
            self._asked -= Counter([owner])

    def _is_too_much(self, owner: str, size: int) -> bool:
        own, everybody = self._large[owner], self._large.total()
        return bool(size and own) and (own + size > _OWN or everybody + size > _ALL)


def _unpacked(scope: Scope) -> Scope:
    """Ask for an answer as it is: Streamlit would pack a download anew for each who asks."""
    headers = [pair for pair in scope["headers"] if pair[0].lower() != b"accept-encoding"]
    return {**scope, "headers": headers}


async def _in_pieces(message: Message, send: Send, pace: Pace) -> None:
    """Send a message in pieces: before each uvicorn waits until what it has was read."""
    rest = memoryview(message.get("body", b""))
    while rest:
        piece, rest = rest[:_PIECE], rest[_PIECE:]
        await pace.keep(len(piece) / _PIECE)
        await send({**message, "body": bytes(piece), **({"more_body": True} if rest else {})})
    if not message.get("body"):
        await send(message)
