"""Who is let in, told by the cookie of a log-in before a request is taken apart.

It opens nothing: whether a log-in still counts is asked behind. Here it is told in whose line a
request waits, at no more than a stranger's is worth.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from itertools import islice
from typing import Any

from kgdash.serving.heads import end_of
from kgdash.serving.pace import Pace, Turns
from kgdash.serving.waiting import left_of, networks_of

_COOKIES = re.compile(rb"\ncookie:[ \t]*([^\r\n]*)", re.IGNORECASE)

#: the cookie of Streamlit's log-in, in one piece or several, and of how many at most
_LOG_IN, _PIECES = re.compile(rb"_streamlit_user(?:_[0-9]{1,2})?=([^; ]*)"), 16

#: log-ins, and networks, that are remembered, of some 200 bytes each, and log-ins of one visitor
_MOST, _EACH = 2**12, 32

#: digest of the cookie -> whose it is, the latest last
_owners = OrderedDict[bytes, str]()

#: networks from which somebody was let in, the latest last
_networks = OrderedDict[tuple[str, ...], None]()

#: tells whose log-in comes in some cookies, and how often that is asked, at once and in a second:
#: after a restart nobody is known, and whoever forges a cookie has its signature looked at
_asked = Pace(64, 64)
_ask: list[Callable[[bytes], str]] = []


def ask_of(whose: Callable[[bytes], str]) -> None:
    """Have it asked whose log-in it is where that is not known.

    :param whose: takes the cookies as a browser sends them; returns "" for who is not let in
    """
    _ask[:] = [whose]


def note_log_in(cookies: bytes, owner: str) -> None:
    """Remember whose log-in it was that came in some cookies.

    :param cookies: as a browser sends them
    :param owner: their folder; "" if they were not let in
    """
    key = _key(cookies)
    was_known = _owners.pop(key, None) is not None
    if not (key and owner):
        return
    if not was_known:
        own = [each for each, who in _owners.items() if who == owner]
        for former in own[: max(0, len(own) + 1 - _EACH)]:
            del _owners[former]
    _owners[key] = owner
    while len(_owners) > _MOST:
        _owners.popitem(last=False)


def note_network(scope: Mapping[str, Any]) -> None:
    """Remember the network of somebody who is let in."""
    found = networks_of(scope)
    _networks[found] = None
    _networks.move_to_end(found)
    if len(_networks) > _MOST:
        _networks.popitem(last=False)


def stranger(found: tuple[str, ...]) -> tuple[str, ...]:
    """Return by what a stranger waits: their networks, below whether somebody of these is in.

    Networks of whom somebody is have every other turn together: a colleague's log-in does not wait
    for hundreds that only ask.
    """
    return ("let in" if found in _networks else "", *found)


def turn_of(scope: Mapping[str, Any], turns: Turns) -> AbstractAsyncContextManager[None]:
    """Have who asks wait for a turn until they leave: a stranger among their networks'.

    Who is let in has turns of their own, whatever network they come from.

    :raises Full: as `Turns.turn`
    :raises Gone: as that
    """
    visitor = _owners.get(_key(cookies_of(scope)), "")
    return turns.turn((visitor,) if visitor else stranger(networks_of(scope)), left_of(scope))


def cookies_of(scope: Mapping[str, Any]) -> bytes:
    """Return all cookies of a request, as of one header."""
    return b"; ".join(value for name, value in scope.get("headers", ()) if name == b"cookie")


def whose_log_in(head: bytes) -> str:
    """Return who is let in by the cookies of a request; "" of a stranger.

    :param head: all of it; what came behind is of no matter
    """
    cookies = b"; ".join(_COOKIES.findall(head, 0, end_of(head)))
    key = _key(cookies)
    if key and key not in _owners and _ask and _asked.left() >= 1:
        _asked.take(1)
        note_log_in(cookies, _ask[0](cookies))
    return _owners.get(key, "")


def _key(cookies: bytes) -> bytes:
    found = list(islice(_LOG_IN.finditer(cookies), _PIECES + 1))
    own = [each[1] for each in found if _counts(each, cookies)]
    return hashlib.sha256(b"; ".join(own)).digest() if own and len(found) <= _PIECES else b""


def _counts(found: re.Match[bytes], cookies: bytes) -> bool:
    """Tell whether a name begins where it was found, in a cookie that has no backslash."""
    begin, end = found.span()
    if begin and cookies[begin - 1] not in b"; ":
        return False
    last = cookies.find(b";", end)
    return b"\\" not in cookies[cookies.rfind(b";", 0, begin) + 1 : last if last >= 0 else None]
