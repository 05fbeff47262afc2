"""What strace wrote: the system calls of a process on the files of one folder, in their order."""

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.processes import CHANGES

_CALL = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+|\?)(<[^>]*>)?.*$", re.DOTALL)
_PARTS = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"(?:\.\.\.)?|([^,"]+))')
_HANDLE = re.compile(r"^(-?\d+|AT_FDCWD)(?:<(.*)>)?$", re.DOTALL)


@dataclass(frozen=True)
class Call:
    """One system call that came back.

    ``arguments`` are texts as strace has them, strings unquoted (bytes); ``number`` counts the
    calls of that name in its thread, from 1.
    """

    name: str
    arguments: tuple[str | bytes, ...]
    result: int
    thread: str
    number: int

    def path(self, place: int) -> str:
        """Return the path that an argument names, or a handle stands for."""
        value = self.arguments[place]
        if isinstance(value, bytes):
            return value.decode("utf-8", "surrogateescape")
        found = _HANDLE.match(value.strip())
        return "" if found is None or found[2] is None else _unescaped(found[2]).decode()

    def handle(self, place: int) -> int:
        """Return the number of a file handle."""
        found = _HANDLE.match(str(self.arguments[place]).strip())
        return int(found[1]) if found and found[1] != "AT_FDCWD" else -100


def calls(log: Path) -> list[Call]:
    """Read a log of strace's, calls that were interrupted put together."""
    pending: dict[str, str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    found = []
    for line in log.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        thread, _, text = line.partition(" ")
        text = text.strip()
        if text.endswith("<unfinished ...>"):
            pending[thread] = text.removesuffix("<unfinished ...>").rstrip()
            continue
        if text.startswith("<... "):
            text = pending.pop(thread, "") + text.partition(" resumed>")[2]
        match = _CALL.match(text)
        if match is None or match[3] == "?":
            continue
        counts[thread, match[1]] += 1
        arguments = tuple(_arguments(match[2]))
        found.append(Call(match[1], arguments, int(match[3], 0), thread, counts[thread, match[1]]))
    return found


#: where the paths stand in a call's arguments: a folder's handle and a name, or a path alone
_PATHS = {
    **dict.fromkeys(("openat", "mkdirat", "unlinkat", "fchmodat", "utimensat"), ((0, 1),)),
    **dict.fromkeys(("renameat", "renameat2", "linkat"), ((0, 1), (2, 3))),
    **dict.fromkeys(("rename", "link"), ((None, 0), (None, 1))),
    **dict.fromkeys(("mkdir", "rmdir", "unlink", "truncate", "chmod"), ((None, 0),)),
    "symlink": ((None, 1),),
    "symlinkat": ((1, 2),),
}


def paths(call: Call, folder: Path) -> list[str]:
    """Return the whole paths that a call is about; relative ones begin in ``folder``."""
    if call.name not in _PATHS:
        place = 2 if call.name == "copy_file_range" else 0
        return [call.path(place)]
    found = []
    for at, place in _PATHS[call.name]:
        name = call.path(place)
        base = str(folder) if at is None else call.path(at)
        found.append(name if name.startswith("/") else f"{base}/{name}" if name else base)
    return found


def on_files_of(folder: Path, log: Path) -> list[Call]:
    """Return the calls that change files in a folder: those that a kill may fall on."""
    return [call for call in calls(log) if call.name in CHANGES and is_inside(call, folder)]


def is_inside(call: Call, folder: Path) -> bool:
    """Tell whether a call is about something in a folder, or the folder itself."""
    return any(f"{path}/".startswith(f"{folder}/") for path in paths(call, folder))


def _arguments(text: str) -> Iterator[str | bytes]:
    for match in _PARTS.finditer(text):
        if match[1] is not None:
            yield _unescaped(match[1])
        elif match[2].strip():
            yield match[2].strip()


def _unescaped(text: str) -> bytes:
    return codecs.escape_decode(text.encode("latin-1", "surrogateescape"))[0]  # type: ignore
