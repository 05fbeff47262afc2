"""SQLite files of searches, which may be strangers': opened within bounds, and judged first."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.files.regular import open_regular

_TABLES = {
    "studies",
    "study_user_attributes",
    "trials",
    "trial_params",
    "trial_values",
    "trial_user_attributes",
}

#: bytes of a file, and of a value
_MAX_BYTES, _MAX_VALUE = 2**28, 2**20

#: seconds of processor time that reading takes at most, and steps of SQLite's between two looks
_MAX_SECONDS, _STEPS = 20.0, 100_000


#: tables made by a module of SQLite's, or with computed columns; indices of what is computed, or
#: with a condition. Whatever checks them computes it, in one step that nothing ends
_TABLE = "FROM pragma_table_list t,"
_COMPUTED = (
    "SELECT name FROM pragma_table_list WHERE type NOT IN ('table', 'view')",
    f"SELECT t.name {_TABLE} pragma_table_xinfo(t.name) c WHERE t.type = 'table' AND c.hidden",
    f"SELECT i.name {_TABLE} pragma_index_list(t.name) i WHERE t.type = 'table' AND i.partial",
    f"SELECT i.name {_TABLE} pragma_index_list(t.name) i, pragma_index_xinfo(i.name) c "
    "WHERE t.type = 'table' AND c.cid = -2",
)


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
            f"`python -m kgdash train --search --study FILE` writes it; found {found}"
        )
    try:
        connection = connect(path, "ro")
    except sqlite3.Error as error:
        raise KgdashError(f"can not read {path}: {error}") from error
    end = time.thread_time() + _MAX_SECONDS
    with closing(connection):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
        connection.set_progress_handler(lambda: time.thread_time() > end, _STEPS)
        yield connection


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Have SQLite open the very file of this name: it may take ``file:NAME`` for that of NAME.

    :param mode: "ro" to read, "rw" to write, too
    """
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=5)


def check_tables(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse tables that are computed or share pages: a small file could hold anything then.

    :raises KgdashError: if one of a search's tables is not there
    :raises sqlite3.Error: and ValueError, if a table is computed or damaged
    """
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE %'"
    )
    missing = sorted(_TABLES - {name for (name,) in found})
    if missing:
        raise KgdashError(
            f"{path} is not the file of a search: it has no table {missing[0]} of Optuna's"
        )
    for query in _COMPUTED:
        if row := connection.execute(query).fetchone():
            raise ValueError(f"{row[0]:.100} is computed")
    # A page that several others name, and a row that an index names again and again, would be read
    # as often as they do.
    (state,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if state != "ok":
        raise ValueError(" ".join(state.split()))
