"""Functions for worker processes to call."""

import os
import threading
import time
from collections.abc import Iterator

from kgdash.errors import KgdashError
from kgdash.files.turns import others_first
from kgdash.files.visitor import Visitor, visitor
from kgdash.progress import Progress


def count_up(end: int, progress: Progress) -> Iterator[int]:
    """Yield numbers."""
    for number in range(end):
        progress(number, end)
        yield number


def who_works(progress: Progress) -> tuple[int, int]:
    """Return the process and its priority."""
    return os.getpid(), os.nice(0)


def who_asks(progress: Progress) -> Visitor:
    """Return for whom this works."""
    return visitor()


def take_a_while(seconds: float, progress: Progress) -> None:
    """Report one of four for some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        progress(1.0, 4.0)
        time.sleep(0.01)


def name_result(key: str, progress: Progress) -> str:
    """Report one of four, and return a text."""
    progress(1.0, 4.0)
    return f"result of {key}"


def refuse(text: str, progress: Progress) -> None:
    """Report one of four, and refuse input."""
    progress(1.0, 4.0)
    raise KgdashError(text)


def divide(by: int, progress: Progress) -> float:
    """Divide one by a number."""
    return 1 / by


def return_lock(progress: Progress) -> object:
    """Return what can not be sent."""
    return threading.Lock()


def until_others_are_first(progress: Progress) -> bool:
    """Wait until the process that asked has something to do that comes first."""
    while not others_first():
        progress(0.0, 1.0)
        time.sleep(0.01)
    return True
