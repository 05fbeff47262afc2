"""Who computes next: turns of threads and processes at one table, and work that gives way."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kgdash.files.lock import hold_lock

#: seconds between two looks whether anybody still has to come first
_POLL = 0.05

_asked = 0
_gives_way = False
_guard = threading.Lock()


@contextmanager
def take_turn(path: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[bool]:
    """Hold a lock file as `hold_lock` does, one after another in the order of coming.

    Who waits holds a second lock, so that the holder who lets go can not come before it again.

    :param path: the lock file, ``….lock``
    :param waiting: called again and again while another holds the lock; may raise to give up
    :return: whether the lock is held
    """
    with ExitStack() as turn:
        with hold_lock(path.with_suffix(".next.lock"), waiting):
            held = turn.enter_context(hold_lock(path, waiting))
        yield held


@contextmanager
def first_in_line() -> Iterator[None]:
    """Have everything in this process that gives way wait until the block ends."""
    global _asked
    if _gives_way:
        yield
        return
    with _guard:
        _asked += 1
    try:
        yield
    finally:
        with _guard:
            _asked -= 1


def give_way_always() -> None:
    """Have nothing in this process come first: it works for another, which says who does."""
    global _gives_way
    _gives_way = True


def always_gives_way() -> bool:
    """Tell whether everything in this process gives way."""
    return _gives_way


def set_others_first(wanted: bool) -> None:
    """Say whether anything in the process that this one works for comes first."""
    global _asked
    _asked = int(wanted)


def others_first() -> bool:
    """Tell whether anything in this process is `first_in_line`."""
    return _asked > 0


def wait_for_others(waiting: Callable[[], None]) -> None:
    """Wait until nothing in this process is `first_in_line`.

    :param waiting: called again and again; may raise to give up
    """
    while others_first():
        waiting()
        time.sleep(_POLL)
