"""How many pages of one visitor run at once: each computes in a thread of the server's process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import streamlit as st

from kgdash.files.visitor import visitor

#: pages of one visitor that run at once, in whichever tabs; those that wait for a computation
#: beside them count as none
AT_ONCE = 2

#: seconds between two looks whether the page is still wanted
_BEAT = 0.2

_own = threading.local()


@cache
def _turns(owner: str) -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(AT_ONCE)


@contextmanager
def page_turn() -> Iterator[None]:
    """Run a page once fewer than `AT_ONCE` of the visitor's run; at this machine, at once."""
    owner = visitor().folder
    if not owner:
        yield
        return
    _own.turns = _turns(owner)
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
