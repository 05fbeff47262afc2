"""What a process notes of its own work: events as lines of JSON, and their counts.

No line says what was looked at: fields are numbers, and short words of ours (`EVENTS`). A word that
is none, as a name out of somebody's graph would be, is left out.
"""

import contextlib
import json
import logging
import os
import re
import sys
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.files.regular import open_own

#: "stderr", or the file that lines are added to; unset: events are counted, not written
SETTING = "KGDASH_LOG"

#: event -> field -> the words it may be ("": an identifier of Python, such as an error's class)
EVENTS: dict[str, dict[str, tuple[str, ...]]] = {
    "start": {"version": (), "python": (), "cores": ()},
    "page": {"page": ("",), "outcome": ("shown", "left", "failed"), "seconds": ()},
    "refused": {
        "error": ("",),
        "reason": ("input", "origin", "host", "login", "upload", "download", "tabs"),
    },
    "failed": {"error": ("",)},
    "cache": {"kind": ("",), "found": ("memory", "disk", "computed"), "seconds": ()},
    "job": {
        "kind": ("training", "preparation", "page"),
        "state": ("started", "queued", "running", "done", "stopped", "failed"),
        "seconds": (),
        "error": ("",),
    },
}

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,47}")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+]{0,23}")

_guard = threading.Lock()
_counts: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
_seconds: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
_handlers: dict[str, logging.Handler] = {}


def note(event: str, **fields: str | int | float) -> None:
    """Count an event, and write it if that is set.

    :param event: of `EVENTS`
    :param fields: of this event; words that it does not know are left out
    """
    known = EVENTS[event]
    kept = {name: value for name, value in fields.items() if _is_kept(known[name], value)}
    labels = tuple(sorted((name, str(kept[name])) for name in kept if known[name]))
    with _guard:
        _counts[event, labels] += 1
        if isinstance(spent := kept.get("seconds"), int | float):
            _seconds[event, labels] = _seconds.get((event, labels), 0.0) + spent
    # A disk that is full, or a folder that went, costs the line and not the work.
    with contextlib.suppress(OSError, KgdashError):
        _write({"pid": os.getpid(), "event": event, **kept})


def counted() -> list[tuple[str, dict[str, str], int, float | None]]:
    """Return what was noted so far: event, its words, how often, and seconds in all if timed."""
    with _guard:
        return [
            (event, dict(labels), count, _seconds.get((event, labels)))
            for (event, labels), count in sorted(_counts.items())
        ]


def log_handler() -> logging.Handler | None:
    """Return what writes lines, or None if nothing does.

    :raises KgdashError: if the file can not be written
    """
    place = os.environ.get(SETTING, "")
    if not place:
        return None
    with _guard:
        if place not in _handlers:
            if place == "stderr":
                _handlers[place] = logging.StreamHandler(sys.stderr)
            else:
                try:
                    _handlers[place] = _LogFile(place, encoding="utf-8")
                except OSError as error:
                    raise KgdashError(
                        f"{SETTING}: {place} can not be written ({error.strerror}); give "
                        "'stderr', or a file in a folder of yours"
                    ) from None
        return _handlers[place]


class _LogFile(WatchedFileHandler):
    def _open(self) -> TextIOWrapper:
        return TextIOWrapper(open_own(Path(self.baseFilename), adding=True), self.encoding)


class Stopwatch:
    """Seconds since it was made, to the millisecond."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        """Return them."""
        return round(time.monotonic() - self._start, 3)


def _write(line: dict[str, str | int | float]) -> None:
    handler = log_handler()
    if handler is not None:
        text = json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **line})
        handler.handle(logging.makeLogRecord({"msg": text, "levelno": logging.INFO}))


def _is_kept(words: tuple[str, ...], value: str | int | float) -> bool:
    if not isinstance(value, str):
        return True
    if not words:
        return _VERSION.fullmatch(value) is not None
    if "" in words:
        return _IDENTIFIER.fullmatch(value) is not None
    return value in words
