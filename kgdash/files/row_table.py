"""Tables on disk that fill up: rows that were counted once are found by every process."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

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


class _Held(NamedTuple):
    """Which rows have a number, int64, ascending; and these, ``(columns, rows + 1)``.

    The last column is `MISSING`, so that it is what the place −1 finds.
    """

    rows: np.ndarray
    numbers: np.ndarray


class RowTable:
    """Whole numbers ≥ 0 by row and column, of which some are missing; stored as one table.

    Several threads and processes fill it together: what is put during `turn` is on disk before the
    next one's turn, unless it was quick, and nothing is lost. The file is replaced whole, so that a
    process that dies costs its last seconds at most. Where the file was cleared, all is missing
    again. Without a disk to write to, the rows live as long as this object. Only rows with a number
    take room, in memory and on disk.
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
        self._key, self._about, self._size = dict(key), dict(about), rows
        self._forget()
        self._stamp: str | None = None
        self._filled: dict[str, float] = {}
        self._place = table_lock(key)
        self._guard = threading.RLock()
        self._seconds, self._unsaved, self._writing = 0.0, 0.0, 0.0

    def values(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the numbers of some rows by column, int64; `MISSING` where there is none yet."""
        with self._guard:
            self._refresh()
            return dict(zip(self.columns, self._held.numbers[:, self._at(rows)], strict=True))

    def column(self, name: str, rows: np.ndarray) -> np.ndarray:
        """Return some rows' numbers of a column, int64, as `values` does."""
        with self._guard:
            self._refresh()
            return self._held.numbers[self.columns.index(name), self._at(rows)]

    def filled(self, name: str) -> float:
        """Return which part of a column's numbers there is, in [0, 1]; of no rows, NaN."""
        with self._guard:
            self._refresh()
            if name not in self._filled:
                there = np.count_nonzero(self._held.numbers[self.columns.index(name)] != MISSING)
                self._filled[name] = there / self._size if self._size else np.nan
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
        columns = np.array([self.columns.index(name) for name in numbers])
        counted = np.stack([*numbers.values()])
        with self._guard:
            self._filled.clear()
            places = self._room_for(rows)
            # In one step: whoever is ended or interrupted here leaves all of a row's, or nothing.
            self._held.numbers[columns[:, None], places] = counted
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
        counted = len(self._held.rows)
        table = pd.DataFrame(dict(zip(self.columns, self._held.numbers[:, :-1], strict=True)))
        if counted < self._size:
            table.insert(0, self._row_column, self._held.rows)
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
        self._filled.clear()
        if stamp is None or moved:
            self._forget()
            self._seconds, self._unsaved = 0.0, 0.0
        if stamp is not None:
            self._take_in(note)
        self._stamp, self._place = stamp, place

    def _take_in(self, note: Mapping[str, Any]) -> None:
        """Add what is stored to what is here."""
        table = stored_table(self._key)
        stored = None if table is None else self._checked(table)
        if stored is None:
            return
        rows, found = stored
        places = self._room_for(rows)
        here = self._held.numbers
        here[:, places] = np.where(found == MISSING, here[:, places], found)
        self._seconds = float(note.get("seconds") or 0.0)

    def _checked(self, table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray] | None:
        """Return a stored table's rows and numbers, or None if it is another's of this name."""
        if self._row_column not in table and len(table) == self._size:
            table = table.assign(**{self._row_column: np.arange(self._size)})
        names = [self._row_column, *self.columns]
        if len(table.columns) != len(names) or set(table.columns) != set(names):
            return None
        if any(kind != np.int64 for kind in table.dtypes):
            return None
        rows, *found = table[names].to_numpy().T
        found = np.stack(found)
        if found.min(initial=0) < MISSING or not self._are_rows(rows):
            return None
        there = (found != MISSING).any(axis=0)
        return rows[there], found[:, there]

    @property
    def _row_column(self) -> str:
        """The column of a stored table that says which rows it has, where it has not all."""
        return f"row of {self._size}"

    def _are_rows(self, rows: np.ndarray) -> bool:
        inside = not len(rows) or (rows[0] >= 0 and rows[-1] < self._size)
        return bool(inside and (rows[1:] > rows[:-1]).all())

    def _forget(self) -> None:
        """Have no numbers."""
        none = np.full((len(self.columns), 1), MISSING, dtype=np.int64)
        self._held = _Held(np.empty(0, dtype=np.int64), none)

    def _at(self, rows: np.ndarray) -> np.ndarray:
        """Return where the numbers of rows are; −1 where there are none."""
        if len(self._held.rows) == self._size:
            return rows
        if not len(self._held.rows):
            return np.full(len(rows), -1)
        places = np.searchsorted(self._held.rows, rows)
        places[places == len(self._held.rows)] = -1
        return np.where(self._held.rows[places] == rows, places, -1)

    def _room_for(self, rows: np.ndarray) -> np.ndarray:
        """Make room for numbers of rows, and return where they are."""
        new = np.unique(rows[self._at(rows) < 0])
        if len(new):
            before = np.searchsorted(self._held.rows, new)
            self._held = _Held(
                np.insert(self._held.rows, before, new),
                np.insert(self._held.numbers, before, MISSING, axis=1),
            )
        return self._at(rows)
