"""Files that are made at a click: few at once, and of what there is room for."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from kgdash.errors import KgdashError
from kgdash.files.table import too_long
from kgdash.files.visitor import visitor, working_for
from kgdash.ui.runtime.page_turns import turns_of
from kgdash.ui.runtime.result_cache import leaving, own_bytes

Content = TypeVar("Content", bytes, str)

#: files of one visitor that are made at once
FILES_AT_ONCE = 3

#: bytes of a visitor's file
_MOST = 2**25

#: bytes that all files which pages offer may be made of
_OFFERED = 2**28


class _Offer:
    """What makes a file, while there is room for what that holds."""

    def __init__(self, owner: str, make: Callable[[], Any]) -> None:
        self.owner, self.size = owner, own_bytes(make)
        self.make: Callable[[], Any] | None = make


class _Offers:
    """What pages offer; sessions hold it, those that ended for a while, too."""

    def __init__(self) -> None:
        self._held: list[weakref.ref[_Offer]] = []
        self._lock = threading.Lock()

    def put(self, owner: str, make: Callable[[], Any]) -> _Offer:
        """Hold one more; of too large ones the oldest of who has most are let go."""
        latest = _Offer(owner, make)
        with self._lock:
            held = [offer for each in self._held if (offer := each()) is not None and offer.make]
            kept = {offer: (offer.owner, offer.size) for offer in (*held, latest)}
            for gone in leaving(kept, latest, _OFFERED):
                gone.make = None
            self._held = [weakref.ref(offer) for offer in kept if offer.make]
        return latest


_offers = _Offers()


def made_later(make: Callable[[], Content], one_by_one: str = "") -> Callable[[], Content]:
    """Return what makes a file at a click, for `st.download_button`.

    What it returns raises `KgdashError` while `FILES_AT_ONCE` of the visitor are being made: those
    who wait would keep the threads that others' need; if a visitor's file is larger than 32 MiB;
    and if their pages offer so much since that this is not kept.

    :param one_by_one: what the file is, if a visitor's wait for each other: of what is made for one
        of all at a time, or takes much memory
    """
    who = visitor()  # Streamlit makes it in a thread that knows nobody
    owner = who.owner
    if not owner:
        return make
    offer = _offers.put(owner, make)

    def made() -> Content:
        kept: Callable[[], Content] | None = offer.make
        if kept is None:
            raise KgdashError("your tabs offer too many large files: open this page anew")
        with ExitStack() as turns:
            turns.enter_context(_turn(owner))
            if one_by_one:
                turns.enter_context(turns_of(owner, one_by_one, 1))
            with working_for(who):
                content = kept()
            if len(content) > _MOST:
                raise too_long(_MOST)
            return content

    return made


@contextmanager
def _turn(owner: str) -> Iterator[None]:
    turns = turns_of(owner, "files", FILES_AT_ONCE)
    if not turns.acquire(blocking=False):
        raise KgdashError(f"files are made for you, {FILES_AT_ONCE} at once: try again then")
    try:
        yield
    finally:
        turns.release()


def most_bytes() -> int | None:
    """Return the bytes that a file of the visitor may have; None at this machine."""
    return None if visitor().is_local else _MOST
