"""Text on a terminal: names from outside may hold what a terminal obeys."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import wraps
from typing import Any, TextIO

#: control characters but tab, line feed and carriage return; and what turns the reading direction
_OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Write what a terminal obeys as Python does: ``\x1b[31m``."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class _Visible:
    """A stream whose texts are written visibly."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text; return its length."""
        self._stream.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Have what the block prints written visibly, where that goes to a terminal."""
    out, err = (_Visible(s) if s.isatty() else s for s in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield


def printing(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command print visibly."""

    @wraps(command)
    def called(*arguments: Any, **options: Any) -> None:
        with visible_output():
            command(*arguments, **options)

    return called
