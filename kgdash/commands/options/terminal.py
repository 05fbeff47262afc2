"""Text on a terminal: names from outside may hold what a terminal obeys."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

from kgdash.files.visible import visible

#: what lets a text overwrite what stands before it in its line
_BACK = re.compile("\r(?!\n)")

#: what would end a line, or a column
_BREAK = re.compile("[\t\r\n]")


class _Visible:
    """A stream whose texts are written visibly."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text; return its length.

        It may begin by going back to its line's beginning, as progress does; a name in it may not.
        """
        start = text[:1] if text[:1] == "\r" else ""
        self._stream.write(start + _BACK.sub(r"\\r", visible(text[len(start) :])))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Have what the block prints written visibly, where that goes to a terminal."""
    out, err = (_Visible(s) if s.isatty() else s for s in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield


def say(*cells: object, file: TextIO | None = None) -> None:
    """Print a line, tabs between its cells; what in a name would begin another is written.

    :param file: standard output by default
    """
    print(*(unbroken(str(cell)) for cell in cells), sep="\t", file=file)


def tell_notes(notes: Iterable[str]) -> None:
    """Print notes to standard error, a line each."""
    for note in notes:
        say(f"note: {note}", file=sys.stderr)


def unbroken(text: str) -> str:
    r"""Write what would end a line, or a column, as Python does: ``\n``."""
    return _BREAK.sub(lambda found: repr(found[0])[1:-1], text)
