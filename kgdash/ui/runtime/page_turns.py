"""How much is done for one visitor at once in threads of the server's process: pages, downloads."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TypeVar

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.files.visitor import visitor

Content = TypeVar("Content", bytes, str)

#: pages of one visitor that run at once, in whichever tabs; those that wait for a computation
#: beside them count as none
AT_ONCE = 2

#: seconds for which a thread that computes keeps others from Python: the loop that answers all is
#: one of them, and waits so long for each that computes, at each step
_SWITCH = 0.0005

#: seconds between two looks whether the page is still wanted
_BEAT = 0.2

#: files of one visitor that are made at once, and threads that make those of all and look up the
#: provider's number: Streamlit's are six
FILES_AT_ONCE, _THREADS = 3, 32

#: bytes of a visitor's file: it stays in memory as long as the tab that asked for it
_MOST = 2**25

_own = threading.local()


@cache
def turns_of(owner: str, what: str, most: int) -> threading.BoundedSemaphore:
    """Return the turns of a visitor at something of which so much is done for one at once."""
    return threading.BoundedSemaphore(most)


@contextmanager
def page_turn() -> Iterator[None]:
    """Run a page once fewer than `AT_ONCE` of the visitor's run; at this machine, at once.

    So does what takes long in a dialog, which runs without the page around it.
    """
    owner = visitor().folder
    if not owner or getattr(_own, "has_turn", False):
        yield
        return
    _own.turns = turns_of(owner, "pages", AT_ONCE)
    _take()
    try:
        yield
    finally:
        _give_back()
        _own.turns = None


@contextmanager
def turn_given_back() -> Iterator[None]:
    """Let other pages of the visitor run while this one waits; then wait for another turn."""
    _give_back()
    yield
    _take()


def _take() -> None:
    turns = getattr(_own, "turns", None)
    if turns is not None:
        while not turns.acquire(timeout=_BEAT):
            _ = "run" in st.session_state  # ends this run if another one, or none, is wanted
        _own.has_turn = True


def _give_back() -> None:
    if getattr(_own, "has_turn", False):
        _own.has_turn = False
        _own.turns.release()


def made_later(make: Callable[[], Content]) -> Callable[[], Content]:
    """Return what makes a file at a click, for `st.download_button`.

    It raises `KgdashError` while `FILES_AT_ONCE` of the visitor are being made: those who wait
    would keep the threads that others' need; and if a visitor's file is larger than 32 MiB.
    """
    owner = visitor().folder
    if not owner:
        return make

    def made() -> Content:
        files = turns_of(owner, "files", FILES_AT_ONCE)
        if not files.acquire(blocking=False):
            raise KgdashError(f"{FILES_AT_ONCE} files are being made for you: try again then")
        try:
            content = make()
            if len(content) > _MOST:
                raise KgdashError(
                    f"the file has {len(content):,} bytes; this server gives {_MOST:,} at most: "
                    "take fewer rows, or the command line"
                )
            return content
        finally:
            files.release()

    return made


@lru_cache(maxsize=1)
def have_threads(loop: asyncio.AbstractEventLoop) -> None:
    """Have threads enough for all while a server's loop runs, which waits for none long; once."""
    sys.setswitchinterval(_SWITCH)
    loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="kgdash-files"))
