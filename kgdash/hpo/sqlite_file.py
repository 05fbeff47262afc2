"""SQLite files of searches, which may be strangers': opened within bounds, and judged first."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import cast

from kgdash.errors import KgdashError
from kgdash.files.regular import open_regular

#: bytes of a file, and of a value
_MAX_BYTES, _MAX_VALUE = 2**28, 2**20

#: seconds of processor time that reading takes at most, and steps of SQLite's between two looks
_MAX_SECONDS, _STEPS = 20.0, 100_000


@contextmanager
def open_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file of SQLite's for bounded reading.

    :raises KgdashError: if it is missing, too large or another kind of file
    """
    try:
        with open_regular(path) as stream:
            size, head = os.fstat(stream.fileno()).st_size, stream.read(16)
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error
    if head != b"SQLite format 3\0" or size > _MAX_BYTES:
        found = f"{size:,} bytes" if size > _MAX_BYTES else "another kind of file"
        raise KgdashError(
            f"{path}: expected the SQLite file of a search, at most 256 MiB, as "
            f"`kgdash train --search --study FILE` writes it; found {found}"
        )
    try:
        connection = _connect(path)
    except sqlite3.Error as error:
        raise KgdashError(f"can not read {path}: {error}") from error
    end = time.thread_time() + _MAX_SECONDS
    with closing(connection):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
        connection.set_progress_handler(lambda: time.thread_time() > end, _STEPS)
        yield connection


def _connect(path: Path) -> sqlite3.Connection:
    """Have SQLite read the very file of this name, which it may take ``file:NAME`` for of NAME.

    And nothing beside it: a journal or log might be anybody's (immutable=1). What kgdash writes is
    whole under its name.
    """
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def check_tables(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse all but the tables and indices that Optuna makes, and those that share pages.

    A view, a default, what is computed: of a stranger's any could take minutes, or gigabytes.

    :raises KgdashError: if something is missing, or more than that
    :raises sqlite3.Error: and ValueError, if a table is damaged
    """
    ours, found = optuna_schema(), _schema(connection)
    names = [{name for kind, name, _ in each if kind != "index"} for each in (ours, found)]
    if missing := sorted(names[0] - names[1]):
        raise KgdashError(
            f"{path} is not the file of a search: it has no table {missing[0]} of Optuna's"
        )
    if more := sorted(found - ours):
        kind, name, _ = more[0]
        raise KgdashError(
            f"{path} holds the {kind} {name:.100}, which Optuna {version('optuna')} would not have "
            "made so; start a search on a new file"
        )
    connection.execute("PRAGMA trusted_schema = OFF")
    # A page that several others name, and a row that an index names again and again, would be read
    # as often as they do.
    (state,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if state != "ok":
        raise ValueError(" ".join(state.split()))


@cache
def optuna_schema() -> frozenset[tuple[str, str, str]]:
    """Return what Optuna makes in a new file: kind, name and SQL of each."""
    from optuna.storages import RDBStorage  # takes a second

    engine = RDBStorage("sqlite://").engine
    with closing(engine.raw_connection()) as made:
        found = _schema(cast(sqlite3.Connection, made.driver_connection))
    engine.dispose()
    return found


def _schema(connection: sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    rows = connection.execute("SELECT DISTINCT type, name, sql FROM sqlite_master LIMIT 100")
    return frozenset((kind, name, " ".join((sql or "").split())) for kind, name, sql in rows)
