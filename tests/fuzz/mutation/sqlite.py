"""Changes of SQLite files: of cells, tables and views, written by SQLite itself."""

import sqlite3
from contextlib import closing
from random import Random

from tests.fuzz.mutation.bytewise import change_bytes

_VALUES = (
    *(None, 0, -1, 2**63 - 1, -(2**63), 1.5, float("inf"), "", "a", b"", b"\xff\xfe", "1e400", "é"),
    *("FINITE", "INF_POS", "COMPLETE", "RUNNING", "{}", "[]", "null", "[" * 5000, '{"name": "x"}'),
    *("NaN", "9" * 5000, '"\\ud800"', "x" * 10_000, "2020-01-01 00:00:00", "9999-99-99", "kgdash"),
    '{"name": "IntDistribution", "attributes": {"low": 0, "high": 1e400, "step": 0, "log": true}}',
    '{"name": "CategoricalDistribution", "attributes": {"choices": []}}',
    '{"name": "FloatDistribution", "attributes": {"low": 2, "high": 1, "step": 0, "log": false}}',
)


def change_sqlite(data: bytes, random: Random) -> bytes:
    """Change a cell, or a table, or put a view in its place."""
    if random.random() < 0.35:
        return change_bytes(data, random)
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.deserialize(data)
            _change(connection, random)
            return connection.serialize()
        except (sqlite3.Error, ValueError, OverflowError, IndexError):
            return change_bytes(data, random)


def _change(connection: sqlite3.Connection, random: Random) -> None:
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
    tables = [name for name in tables if not name.startswith(("sqlite_", "ix_", "alembic"))]
    table = random.choice(tables)
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    column = random.choice(columns)
    kind = random.randrange(12)
    if kind == 0:
        connection.execute(f'DELETE FROM "{table}" WHERE random() % 2')
    elif kind == 1:
        connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "x{column}"')
    elif kind == 2:
        connection.execute(f'DROP TABLE "{table}"')
        connection.execute(f'CREATE VIEW "{table}" AS SELECT 1 AS "{column}"')
    elif kind == 3:
        connection.execute(f'INSERT INTO "{table}" SELECT * FROM "{table}" LIMIT 3')
    else:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        rows = connection.execute(f'SELECT rowid FROM "{table}"').fetchall()
        row = random.choice(rows)[0]
        connection.execute(
            f'UPDATE OR REPLACE "{table}" SET "{column}" = ? WHERE rowid = ?',
            (random.choice(_VALUES), row),
        )
    connection.commit()
