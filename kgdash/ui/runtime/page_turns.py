"""How much is done for one visitor at once in threads of the server's process."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any

import streamlit as st

from kgdash.files.visitor import visitor

#: pages of one visitor that run at once, in whichever tabs; those that wait for a computation
#: beside them count as none
AT_ONCE = 2

#: seconds for which a thread that computes keeps others from Python: the loop that answers all is
#: one of them, and waits so long for each that computes, at each step
_SWITCH = 0.0005

#: seconds between two looks whether the page is still wanted
_BEAT = 0.2

#: threads that make the files of all: Streamlit's are six; and those that look up the provider's
#: number, so that log-ins wait for no file
_THREADS, _LOOKING_UP = 32, 4

_own = threading.local()


@cache
def turns_of(owner: str, what: str, most: int) -> threading.BoundedSemaphore:
    """Return the turns of a visitor at something of which so much is done for one at once."""
    return threading.BoundedSemaphore(most)


@contextmanager
def turn_at(what: str, most: int) -> Iterator[None]:
    """Do something once less than so much of it is done for the visitor; at this machine, at once.

    It ends where another run of the page, or none, is wanted.
    """
    owner = visitor().owner
    turns = turns_of(owner, what, most) if owner else None
    _wait_for(turns)
    try:
        yield
    finally:
        if turns is not None:
            turns.release()


@contextmanager
def page_turn() -> Iterator[None]:
    """Run a page once fewer than `AT_ONCE` of the visitor's run; at this machine, at once.

    So does what takes long in a dialog, which runs without the page around it.
    """
    owner = visitor().owner
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
def turn_given_back(waiting: Callable[[], None]) -> Iterator[None]:
    """Let other pages of the visitor run while this one waits; then wait for another turn.

    :param waiting: called again and again while it does; may end the page's run
    """
    _give_back()
    yield
    _take(waiting)


def _take(waiting: Callable[[], None] = lambda: None) -> None:
    turns = getattr(_own, "turns", None)
    if turns is not None:
        _wait_for(turns, waiting)
        _own.has_turn = True


def _wait_for(
    turns: threading.BoundedSemaphore | None, waiting: Callable[[], None] = lambda: None
) -> None:
    while turns is not None and not turns.acquire(timeout=_BEAT):
        _ = "run" in st.session_state  # ends this run if another one, or none, is wanted
        waiting()


def _give_back() -> None:
    if getattr(_own, "has_turn", False):
        _own.has_turn = False
        _own.turns.release()


class _Threads(ThreadPoolExecutor):
    """Threads of a loop, with some beside them that look up hosts' numbers."""

    def __init__(self) -> None:
        super().__init__(_THREADS, thread_name_prefix="kgdash-files")
        self._hosts = ThreadPoolExecutor(_LOOKING_UP, thread_name_prefix="kgdash-hosts")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        """Have a call made in a thread."""
        if fn is socket.getaddrinfo:
            return self._hosts.submit(fn, *args, **named)
        return super().submit(fn, *args, **named)


@lru_cache(maxsize=1)
def have_threads(loop: asyncio.AbstractEventLoop) -> None:
    """Have threads enough for all while a server's loop runs, which waits for none long; once."""
    sys.setswitchinterval(_SWITCH)
    loop.set_default_executor(_Threads())
