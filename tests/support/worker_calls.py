"""Functions for worker processes to call."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import reads
from kgdash.files.lock import hold_lock
from kgdash.files.memory import own_memory
from kgdash.files.visitor import Visitor, visitor
from kgdash.progress import Progress


def count_up(end: int, progress: Progress) -> Iterator[int]:
    """Yield numbers."""
    for number in range(end):
        progress(number, end)
        yield number


def who_works(progress: Progress) -> tuple[int, int, Visitor]:
    """Return the process, its priority, and for whom it works."""
    return os.getpid(), os.nice(0), visitor()


def who_works_at_each_step(progress: Progress) -> Iterator[Visitor]:
    """Yield twice for whom it works."""
    yield visitor()
    yield visitor()


def first_of(values: list[Any]) -> Any:
    """Return the first of some."""
    return values[0]


def nothing(name: str, progress: Progress) -> None:
    """Find nothing."""


def rows_allowed(content: bytes) -> tuple[bytes, int | None]:
    """Return what was handed in, and how many rows its reader may hand in."""
    return content, visitor().most_rows


@reads
def make_bytes(content: bytes, size: int) -> int:
    """Take so many bytes for a content, as a packed file may; return how many."""
    return len(bytearray(size))


def take_a_while(seconds: float, progress: Progress) -> float:
    """Report one of four for some seconds, and return how many."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        progress(1.0, 4.0)
        time.sleep(0.01)
    return seconds


def grow(mebibytes: int, progress: Progress) -> int:
    """Take memory, a hundredth of a second for each 16 MiB; return how much."""
    kept = [b""]
    for _ in range(mebibytes // 16):
        kept.append(b"x" * 2**24)
        time.sleep(0.01)
    progress(1.0, 1.0)
    return sum(map(len, kept)) // 2**20


def leave_gaps(mebibytes: int, progress: Progress) -> int:
    """Take memory in blocks of 1 KiB, keep one of 256; return the bytes it has now."""
    blocks = [bytes(2**10) for _ in range(mebibytes * 2**10)]
    _KEPT.extend(blocks[::256])
    del blocks
    return own_memory()


_KEPT: list[bytes] = []


def go_silent(seconds: float, progress: Progress) -> None:
    """Report for so long that it is sent to a process; say nothing there after that."""
    take_a_while(3.0, progress)
    time.sleep(seconds)


def write_ticks(path: str, progress: Progress) -> None:
    """Make a file longer and longer, until told to stop."""
    while True:
        with open(path, "a", encoding="ascii") as file:
            file.write(".")
        progress(1.0, 4.0)
        time.sleep(0.01)


def read_for_long(content: bytes, path: str) -> None:
    """Make a file longer and longer, and say nothing."""
    while True:
        with open(path, "a", encoding="ascii") as file:
            file.write(".")
        time.sleep(0.01)


def read_and_tell(content: bytes, path: str, progress: Progress) -> None:
    """Make a file longer and longer, until told to stop."""
    write_ticks(path, progress)


def wait_for_lock(path: str, progress: Progress) -> bool:
    """Wait for a lock."""
    with hold_lock(Path(path), waiting=lambda: progress(0.0, 1.0)) as held:
        return held


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


def return_it(value: object, progress: Progress) -> object:
    """Return what was given."""
    return value


class Quick:
    """A function that returns at once."""

    def __call__(self, progress: Progress) -> str:
        """Return a word."""
        return "quick"
