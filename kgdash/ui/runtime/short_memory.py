"""When memory is short in the dashboard's process, which serves everybody."""

from __future__ import annotations

import os

from kgdash.files.memory import memory_budget, own_memory


def most_memory(owner: str) -> int:
    """Return the bytes that the process has where memory is not short.

    Where people log in, three quarters of what one computation may take (`memory_budget`), at one's
    own machine a quarter of the machine's. Linux alone says what a process has.

    :param owner: the visitor's folder; "" at one's own machine
    """
    return memory_budget() * 3 // 4 if owner else _machine() // 4


def is_short(owner: str, by: int = 0) -> bool:
    """Tell whether memory is short, where people log in: at one's own machine, it never is.

    :param by: bytes at least
    """
    return bool(owner) and own_memory() > most_memory(owner) + by


def _machine() -> int:
    """Return the bytes of this machine's memory; 0 on Windows, where nothing is measured."""
    if not hasattr(os, "sysconf"):
        return 0
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
