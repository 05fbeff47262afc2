"""Tables on disk that fill up: rows that were counted once are found by every process."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from kgdash.files.cache_folder import cache_limit
from kgdash.files.event_log import note
from kgdash.files.table_cache import (
    replace_table,
    stored_table,
    table_lock,
    table_note,
    worth_keeping,
)
from kgdash.files.turns import take_turn

#: stands where a number is not counted yet
MISSING = -1

#: seconds that a turn should take: at least so long, and so many times what writing takes
_LEAST, _TIMES = 1.0, 20


class RowTable:
    """Whole numbers ≥ 0 by row and column, of which some are missing; stored as one table.

    Several threads and processes fill it together: what is put during `turn` is on disk before the
    next one's turn, unless it was quick, and nothing is lost. The file is replaced whole, so that a
    process that dies costs its last seconds at most. Where the file was cleared, all is missing
    again. Without a disk to write to, the rows live as long as this object.
    """

    def __init__(
        self, key: Mapping[str, Any], columns: Sequence[str], rows: int, about: Mapping[str, Any]
    ) -> None:
        """Read nothing yet.

        :param key: all that the rows depend on, as JSON can hold it
        :param columns: their names
        :param rows: how many there are
        :param about: what `list_cache` shall say, without ``triples``: rows with a number
        :raises KgdashError: if the limit of the cache is no size
        """
        cache_limit()
        self.columns = tuple(columns)
        self._key, self._about = dict(key), dict(about)
        self._values = np.full((len(self.columns), rows), MISSING, dtype=np.int64)
        self._stamp: str | None = None
        self._filled: dict[str, float] = {}
        self._place = table_lock(key)
        self._guard = threading.RLock()
        self._seconds, self._unsaved, self._writing = 0.0, 0.0, 0.0

    def values(self, rows: np.ndarray | slice = slice(None)) -> dict[str, np.ndarray]:
        """Return the numbers of some rows by column, int64; `MISSING` where there is none yet."""
        with self._guard:
            self._refresh()
            found = self._values[:, rows]
            return dict(zip(self.columns, found.copy(), strict=True))

    def column(self, name: str) -> np.ndarray:
        """Return all numbers of a column, int64, ``(rows,)``."""
        with self._guard:
            self._refresh()
            return self._values[self.columns.index(name)].copy()

    def filled(self, name: str) -> float:
        """Return which part of a column's numbers there is, in [0, 1]; of no rows, NaN."""
        with self._guard:
            self._refresh()
            if name not in self._filled:
                numbers = self._values[self.columns.index(name)]
                self._filled[name] = float(np.mean(numbers != MISSING))
            return self._filled[name]

    @contextmanager
    def turn(self, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Have the only right to `put` during the block; what was put before is seen in it.

        :param waiting: called again and again while others have it; may raise to give up
        """
        with take_turn(table_lock(self._key), waiting):
            with self._guard:
                self._refresh()
            yield
            with self._guard:
                self._save()

    @property
    def seconds_per_turn(self) -> float:
        """How long a turn should take, so that others wait little and writing is a small part."""
        return max(_LEAST, _TIMES * self._writing)

    def put(self, rows: np.ndarray, numbers: Mapping[str, np.ndarray], seconds: float) -> None:
        """Fill in numbers, in one's turn.

        :param rows: distinct, int64, ``(n,)``
        :param numbers: ≥ 0, ``(n,)``, by column
        :param seconds: that counting them took
        """
        with self._guard:
            self._filled.clear()
            for name, counted in numbers.items():
                self._values[self.columns.index(name), rows] = counted
            self._unsaved += seconds

    @contextmanager
    def saved(self) -> Iterator[None]:
        """Write what is not on disk yet when the block ends, even if a turn in it failed."""
        try:
            yield
        finally:
            if self._unsaved and worth_keeping(self._unsaved):
                with take_turn(table_lock(self._key)), self._guard:
                    self._save()

    def _save(self) -> None:
        if not self._unsaved or not worth_keeping(self._unsaved):
            return
        self._refresh()
        start = time.monotonic()
        seconds = round(self._seconds + self._unsaved, 3)
        counted = int((self._values != MISSING).any(axis=0).sum())
        table = pd.DataFrame(dict(zip(self.columns, self._values, strict=True)))
        replace_table(self._key, table, {**self._about, "seconds": seconds, "triples": counted})
        self._writing = time.monotonic() - start
        kind = str(self._about.get("kind", "unknown"))
        note("cache", kind=kind, found="computed", seconds=round(self._unsaved, 3))
        self._seconds, self._unsaved = seconds, 0.0
        self._stamp = table_note(self._key).get("created")

    def _refresh(self) -> None:
        """Take in what others have stored since."""
        note, place = table_note(self._key), table_lock(self._key)
        stamp, moved = note.get("created"), place != self._place
        if stamp == self._stamp and not moved:
            return
        self._stamp, self._place = stamp, place
        self._filled.clear()
        if stamp is None or moved:
            self._values[:] = MISSING
            self._seconds, self._unsaved = 0.0, 0.0
        if stamp is None:
            return
        table = stored_table(self._key)
        if table is None or table.shape != self._values.shape[::-1]:
            return
        try:
            found = table[list(self.columns)].to_numpy().T
        except (KeyError, ValueError, TypeError, OverflowError):  # another's table of this name
            return
        if found.dtype != np.int64 or found.min(initial=0) < MISSING:
            return
        self._values = np.where(found == MISSING, self._values, found)
        self._seconds = float(note.get("seconds") or 0.0)
