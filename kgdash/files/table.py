"""Writing tables to files that people asked for."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.atomic import write_atomically

#: what spreadsheets take for the beginning of a formula (OWASP, "CSV Injection")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

_safe = ContextVar("safe", default=False)


@contextmanager
def safe_csv(safe: bool) -> Iterator[None]:
    """Have `write_table` write CSV and TSV `for_spreadsheets` during the block, or as it is."""
    before = _safe.set(safe)
    try:
        yield
    finally:
        _safe.reset(before)


def for_spreadsheets(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which no spreadsheet takes a text for a formula.

    Texts that begin like one, headings among them, get a ``'`` in front; numbers stay as they are.
    """
    texts = table.select_dtypes(exclude=["number", "bool", "datetime"]).columns
    written = table.assign(**{str(name): table[name].map(_as_text) for name in texts})
    return written.rename(columns=_as_text, index=_as_text)


def _as_text(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def check_extension(out: Path) -> None:
    """Refuse a file whose extension names no format that `write_table` writes.

    :raises KgdashError: if it does not
    """
    if out.suffix not in (".csv", ".tsv", ".parquet"):
        raise KgdashError(f"expected an output file in .csv, .tsv or .parquet; found {out}")


def write_table(table: pd.DataFrame, out: Path, index: bool = False) -> None:
    """Write a table as CSV, TSV or Parquet, by the extension; the file appears whole or not at all.

    :raises KgdashError: if the extension is another, or the file can not be written
    """
    check_extension(out)
    if out.suffix == ".parquet":
        write_atomically(out, lambda part: table.to_parquet(part, index=index))
    else:
        separator = "," if out.suffix == ".csv" else "\t"
        if _safe.get():
            table = for_spreadsheets(table)
        write_atomically(out, lambda part: table.to_csv(part, index=index, sep=separator))


def write_tables(tables: Iterable[pd.DataFrame], out: Path) -> int:
    """Write tables of the same columns one below the other, as `write_table` does, one at a time.

    :return: rows written
    :raises KgdashError: as there; and whatever making the tables raises
    """
    check_extension(out)
    rows = 0

    def write(part: Path) -> None:
        nonlocal rows
        with part.open("wb") as stream:
            append = _parquet_rows if out.suffix == ".parquet" else _text_rows
            separator = "," if out.suffix == ".csv" else "\t"
            for count in append(tables, stream, separator):
                rows += count

    write_atomically(out, write)
    return rows


def _parquet_rows(tables: Iterable[pd.DataFrame], stream: BinaryIO, _: str) -> Iterator[int]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    try:
        for table in tables:
            rows = pa.Table.from_pandas(table, writer and writer.schema, preserve_index=False)
            writer = writer or pq.ParquetWriter(stream, rows.schema)
            writer.write_table(rows)
            yield len(table)
    finally:
        if writer is not None:
            writer.close()


def _text_rows(tables: Iterable[pd.DataFrame], stream: BinaryIO, separator: str) -> Iterator[int]:
    for number, table in enumerate(tables):
        written = for_spreadsheets(table) if _safe.get() else table
        written.to_csv(stream, index=False, sep=separator, header=number == 0)
        yield len(table)
