"""Taking turns: one holder of a lock file at a time, over threads and processes."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from kgdash.files.atomic import make_folder

#: seconds between two attempts
_POLL = 0.05

#: attempts in a row without a lock file to be seen, after which none can be made there
_ABSENT = 20

_awaited = 0
_guard = threading.Lock()


@contextmanager
def hold_lock(path: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[bool]:
    """Hold a lock file during the block, waiting for another holder to end.

    The system lets go of the lock of a process that dies. Where no lock can be had at all (a
    read-only folder, a file system without locks) the block runs without.

    :param path: the lock file; its folder is made, and the file is gone afterwards
    :param waiting: called again and again while another holds the lock; may raise to give up
    :return: whether the lock is held
    """
    lock = _lock(path)
    if not _has_come(lock, path, waiting):
        yield False
        return
    try:
        yield True
    finally:
        _let_go(lock, path)


def locks_awaited() -> int:
    """Return how many threads of this process wait for a lock that another holds."""
    return _awaited


def remove_unless_held(path: Path) -> None:
    """Remove a lock file if it is there and nobody holds it."""
    if not os.path.lexists(path):
        return
    lock = _lock(path)
    try:
        lock.acquire(blocking=False)
    except (Timeout, OSError, NotImplementedError):
        return
    _let_go(lock, path)


def _has_come(lock: FileLock, path: Path, waiting: Callable[[], None]) -> bool:
    """Wait for a lock; return False where none can be had."""
    absent, waits = 0, False
    with ExitStack() as until_then:
        while True:
            try:
                lock.acquire(blocking=False)
                return True
            except Timeout:
                if not waits:  # a lock that is had at once was not waited for
                    waits = True
                    until_then.enter_context(_awaiting())
                # Some file systems (/proc) say of a file that can not be made that it is not there.
                absent = 0 if os.path.lexists(path) else absent + 1
                if absent >= _ABSENT:
                    return False
                if not absent:
                    waiting()
                time.sleep(_POLL)
            except (OSError, NotImplementedError):
                return False


@contextmanager
def _awaiting() -> Iterator[None]:
    global _awaited
    with _guard:
        _awaited += 1
    try:
        yield
    finally:
        with _guard:
            _awaited -= 1


def _lock(path: Path) -> FileLock:
    with contextlib.suppress(OSError):
        make_folder(path.parent)
    # Never the lock that rests on a file's existence: it would outlive a holder that is killed.
    return FileLock(path, fallback_to_soft=False)


def _let_go(lock: FileLock, path: Path) -> None:
    # Removed while it is held: whoever waits sees that its file has no name and takes a new one.
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
    lock.release()
