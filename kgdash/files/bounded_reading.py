"""How much memory a file from outside may make a reader take, whatever its format allows.

Readers bound what they know of: rows, names, what is packed. This holds for all the rest, where the
process reads one file at a time: in a command and in the workers of a server.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from kgdash.errors import KgdashError
from kgdash.files.memory import data_memory, memory_budget

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

#: bytes that reading any file may take, libraries and kernels that it needs first with it; times
#: its size; and bytes that no machine has, as a file full of holes may
_LEAST, _TIMES, _MOST = 2**30, 40, 2**50

#: bytes of a thread's stack as a rule; threads that a reading may begin, for each core and besides
_STACK, _EACH, _MORE = 2**23, 4, 16

#: files of a folder whose sizes are added
_FILES = 10_000

#: what is said where memory does not suffice, in errors that mean other things, too
_SAID = re.compile("allocate memory|start new thread")

#: whether the main thread's readings are bounded, and whether one is under way
_state = {"bounds": False, "reading": False}


def bound_readings() -> None:
    """Have what the main thread of this process reads bounded from now on."""
    _state["bounds"] = True


def reads(read: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Bound the memory of a function that reads: its first argument is a file or folder.

    Where one of its arguments is bytes, these are what is read.
    """

    @wraps(read)
    def bounded(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        given = (*arguments, *named.values())
        contents = [each for each in given if isinstance(each, bytes)]
        with bounded_reading(*contents[:1] or given[:1]):
            return read(*arguments, **named)

    return bounded


@contextmanager
def bounded_reading(source: Any) -> Iterator[None]:
    """Refuse what takes more than forty times its source's size, 1 GiB, and half `memory_budget`.

    Only in the main thread after `bound_readings`, and on Linux: the limit is the process's own. A
    reading within another, as of a run's dataset elsewhere, may have more than that.

    :param source: the path of a file or folder, or a content; what is neither is not bounded
    :raises KgdashError: if memory does not suffice
    """
    size = _size(source)
    if size is None:
        yield
        return
    most = min(max(_LEAST, memory_budget() // 2, _TIMES * size), _MOST)
    shown = str(source) if isinstance(source, Path) else "the file"
    refusal = (
        f"{shown}: to read it takes more than {most / 2**30:.3g} GiB of memory, for {size:,} "
        "bytes, or more than there is; if you trust it, set KGDASH_MEMORY higher, of which "
        "half is allowed, or take a larger machine"
    )
    with _bounded(most, refusal):
        yield


@contextmanager
def bounded_memory(most: int, refusal: str, raises: bool = False) -> Iterator[None]:
    """Refuse what takes more bytes than these, and than 1 GiB, beside what this process has.

    Only in the main thread after `bound_readings`, and on Linux.

    :param refusal: what is said if memory does not suffice
    :param raises: whether within another bound the larger holds, where else that does
    :raises KgdashError: then
    """
    with nullcontext() if _state["reading"] and not raises else _bounded(most, refusal):
        yield


@contextmanager
def _bounded(most: int, refusal: str) -> Iterator[None]:
    if not _may_bound():
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    was_reading, limit = _state["reading"], data_memory() + max(_LEAST, most) + _stacks()
    if was_reading:
        limit = max(limit, soft)
    ceiling = hard if was_reading else soft
    if ceiling != resource.RLIM_INFINITY:
        limit = min(limit, ceiling)
    _state["reading"] = True
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    try:
        yield
    except (MemoryError, RuntimeError, KgdashError) as error:
        # torch has no error of its own for it, nor have threads; training tells what PyKEEN said
        if not isinstance(error, MemoryError) and not _SAID.search(str(error)):
            raise
        raise KgdashError(refusal) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        _state["reading"] = was_reading


def _stacks() -> int:
    """Return the bytes that threads reserve beyond what is usual, where the user has set that."""
    import resource

    each = resource.getrlimit(resource.RLIMIT_STACK)[0]
    if each == resource.RLIM_INFINITY:
        return 0  # threads get some MiB then
    return max(0, each - _STACK) * (_EACH * (os.cpu_count() or 1) + _MORE)


def _may_bound() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return _state["bounds"] and is_main and data_memory() > 0


def _size(source: Any) -> int | None:
    """Return the bytes of a source, all files of a folder together; None if they are not known."""
    if isinstance(source, bytes):
        return len(source)
    with suppress(OSError, ValueError, TypeError):
        if not os.path.isdir(source):
            return os.stat(source).st_size
        return sum(each.stat().st_size for each in islice(_files_below(source), _FILES))
    return None


def _files_below(folder: Any) -> Iterator[os.DirEntry[Any]]:
    """Go through the files below a folder, however deep: `Path.rglob` calls itself for each."""
    pending = [folder]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif entry.is_file():
                    yield entry
