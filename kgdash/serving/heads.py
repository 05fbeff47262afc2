"""Heads of requests: how they end, and what they may hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

import h11

#: ends a head, as h11 reads it
_END = re.compile(rb"\n\r?\n")

#: what browsers say of whose page asks, where it is not of the server, and for what it asks
ANOTHERS, _OWN = ("cross-site", "same-site"), "same-origin"
_FOR = re.compile(rb"\n(sec-fetch-(?:site|mode|dest)):[ \t]*([a-z-]*)", re.IGNORECASE)

#: lines of a body that comes in parts
_IN_PARTS = re.compile(rb"\n(?:transfer-encoding|trailer):", re.IGNORECASE)

#: a head begins with a letter of this or more; an attempt at TLS does not
_VISIBLE = 0x21

#: lines of a head, of which browsers and proxies send some 40
_MOST_LINES = 128

#: bytes of a head that has not ended, and what h11 calls them
_MOST_HEAD, _MOST_BYTES = 2**14, "max_incomplete_event_size"

#: bytes of what proxies say of who asks, which is taken apart before anybody waits, and behind
MOST_SAID = 2**9

#: beginnings of the names of headers that Python takes apart word by word -> bytes of all of them
_WORDS = {
    (b"x-forwarded-for", b"x-forwarded-proto"): MOST_SAID,
    (b"connection", b"upgrade", b"sec-websocket-"): 2**9,
    (b"accept", b"content-", b"if-", b"range"): 2**10,
}

#: bytes of a path, which is a page's name, or holds a session's and a file's number
_MOST_PATH = 2**10


def end_of(head: bytes) -> int:
    """Return where a head ends, before what came behind it; its length where it has not ended."""
    end = _END.search(head)
    return end.start() if end else len(head)


def is_like_nobodys(head: bytes) -> bool:
    """Tell whether a head has more lines than anybody sends, or tells of a body in parts.

    Proxies hold up to 2 MB of either as long as it waits: of names of trailers, each by itself.
    """
    end = end_of(head)
    return head.count(b"\n", 0, end) > _MOST_LINES or _IN_PARTS.search(head, 0, end) is not None


def is_for_another_page(said: Mapping[str, str]) -> bool:
    """Tell whether another site's page fetches, frames or embeds something: all but a link.

    Nothing of the answer is for it, and one such page can ask more than all who share its address.
    What the browser itself asks for a page, as where it looks for whose passkeys these are, comes
    from no site (``none``), as a visit does, and a download that goes on: those are navigations.

    :param said: headers, of which browsers send all three, and programs none
    """
    site, dest = said.get("sec-fetch-site", _OWN), said.get("sec-fetch-dest", "document")
    opens = said.get("sec-fetch-mode", "navigate") == "navigate"
    return site != _OWN and not (opens and (site not in ANOTHERS or dest == "document"))


def whose_page(head: bytes) -> dict[str, str]:
    """Return the headers of a request by which browsers tell whose page asks, and for what."""
    found = islice(_FOR.finditer(head, 0, end_of(head)), 3)
    return {each[1].decode().lower(): each[2].decode() for each in found}


class PlainRequests(h11.Connection):
    """HTTP as browsers speak it: a body's length is told before it comes, and paths are short.

    A body in chunks of a byte costs as much as it is long on each new connection, whatever came of
    the one before; a path of percent signs, a hundredth of a second for 15 KB.

    ``to_come``: bytes of the request's body that have not come. ``pieces``: of a head that has not
    ended.

    :param most: bytes of a head; h11's, where None
    """

    def __init__(self, most: int | None) -> None:
        super().__init__(h11.SERVER, **({} if most is None else {_MOST_BYTES: most}))
        self.to_come, self.pieces = 0, 0
        self._most, self._held = most or _MOST_HEAD, bytearray()

    def whole_head(self, piece: bytes) -> bytes:
        """Return a request's head once it is whole, and what came behind it; b"" before.

        A proxy says anywhere in a head who asks, and it may be cut amid that. What is longer than a
        head may be, or begins as none does, counts as whole: it is refused.
        """
        start = max(0, len(self._held) - 2)
        self._held += piece
        self.pieces += 1
        is_odd = self._held[0] < _VISIBLE or len(self._held) > self._most
        if not is_odd and _END.search(self._held, start) is None:
            return b""
        head = bytes(self._held)
        self._held.clear()
        self.pieces = 0
        return head

    def begun(self, more: bytes = b"") -> bytes:
        """Return what came of a head that is not whole, and more of it; b"" of none."""
        return bytes(self._held + more) if self._held else b""

    def next_event(self) -> Any:
        """Return what came next, but refuse a request that costs more than it says."""
        event = super().next_event()
        if isinstance(event, h11.Data):
            self.to_come -= len(event.data)
        if isinstance(event, h11.Request):
            self.to_come = int(dict(event.headers).get(b"content-length", 0))
            if event.method == b"CONNECT":  # whose answer is followed by no HTTP
                raise h11.RemoteProtocolError("expected a page to be asked for, not a tunnel")
            if any(name == b"transfer-encoding" for name, _ in event.headers):
                raise h11.RemoteProtocolError("expected a body with its length")
            if len(event.target.partition(b"?")[0]) > _MOST_PATH:
                raise h11.RemoteProtocolError("expected a shorter path")
            for names, most in _WORDS.items():
                words = (value for name, value in event.headers if name.startswith(names))
                if sum(map(len, words)) > most:
                    raise h11.RemoteProtocolError("expected fewer words")
        return event
