"""Writing tables to files that people asked for."""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.atomic import write_atomically
from kgdash.files.extensions import check_extension

#: where spreadsheets take a text for a formula (OWASP, "CSV Injection"): at its beginning, or where
#: it may end a cell; where semicolons separate, no quotes of ours hold it together
_FORMULA = re.compile('^(?=[\t\r\n])|(?:^|[;\t\r\n]"*)(?=[=+@＝＋－＠-])')

#: rows that are written at once
_PART = 4096

#: stands for a carriage return while a table is written: pandas quotes line feeds
_MARK = "\n\ue00d\n"

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

    Texts that begin like one, headings among them, get a ``'`` in front, and so do such parts of
    texts; numbers stay as they are.
    """
    texts = table.select_dtypes(exclude=["number", "bool", "datetime"]).columns
    known: dict[str, str] = {}  # names come up again and again, and are long at times

    def once(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value not in known:
            known[value] = _as_text(value)
        return known[value]

    written = table.assign(**{str(name): table[name].map(once) for name in texts})
    return written.rename(columns=_as_text, index=_as_text)


def _as_text(value: Any) -> Any:
    return _FORMULA.sub(r"\g<0>'", value) if isinstance(value, str) else value


def to_csv(table: pd.DataFrame, target: Any = None, separator: str = ",", **options: Any) -> Any:
    """Write a table as pandas does, but quote texts that hold a carriage return.

    Without quotes, which pandas leaves out, spreadsheets begin a row there: a name could forge
    rows, or go on with a formula.

    :param target: a path or a binary stream; None returns the text
    :param options: as of `pandas.DataFrame.to_csv`
    """
    held = chain(table.columns, table.index, *(table.iloc[:, n] for n in _texts(table)))
    if not any(isinstance(value, str) and "\r" in value for value in held):
        return table.to_csv(target, sep=separator, **options)
    marked = with_texts(table, lambda value: value.replace("\r", _MARK))
    text = marked.to_csv(sep=separator, **options).replace(_MARK, "\r")
    if target is None:
        return text
    return (
        target.write_bytes(text.encode())
        if isinstance(target, Path)
        else target.write(text.encode())
    )


def with_texts(table: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Return a table with its texts changed, those of headings and of the index among them."""

    def changed(value: Any) -> Any:
        return change(value) if isinstance(value, str) else value

    made = table.rename(columns=changed, index=changed)
    for number in _texts(table):
        made.isetitem(number, made.iloc[:, number].map(changed))
    return made


def _texts(table: pd.DataFrame) -> list[int]:
    """Return which columns may hold texts."""
    return [number for number, kind in enumerate(table.dtypes) if kind.kind not in "biuf"]


def csv_bytes(table: pd.DataFrame, most: int | None = None) -> bytes:
    """Return a table as CSV for spreadsheets, without its index, made a part of its rows at a time.

    As one text it would be held thrice, by four bytes a character if one of them is wide.

    :param most: bytes that it may have
    :raises KgdashError: once it has more
    """
    content = io.BytesIO()
    with safe_csv(True):
        for _ in _text_rows(row_parts(table, _PART), content, ","):
            if most is not None and content.tell() > most:
                raise too_long(most)
    return content.getvalue()


def parquet_bytes(table: pd.DataFrame, most: int | None = None) -> bytes:
    """Return a table as Parquet, without its index.

    :param most: bytes that it may have; before it is packed, four times as many characters
    :raises KgdashError: if it has more
    """
    texts = table.select_dtypes(["object", "str"])
    if most is not None and sum(int(texts[c].map(_length).sum()) for c in texts) > 4 * most:
        raise too_long(most)
    return table.to_parquet(index=False)


def _length(value: object) -> int:
    return len(value) if isinstance(value, str) else 0


def too_long(most: int) -> KgdashError:
    """Say that a file has more bytes than a server gives."""
    return KgdashError(
        f"the file has more than {most:,} bytes, which this server gives at most: take fewer "
        "rows, or the command line"
    )


def row_parts(table: pd.DataFrame, rows: int) -> Iterator[pd.DataFrame]:
    """Yield a table so many rows at a time; one without rows as it is."""
    for start in range(0, max(1, len(table)), rows):
        yield table.iloc[start : start + rows]


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
        write_atomically(out, lambda part: to_csv(table, part, separator, index=index))


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
        to_csv(written, stream, separator, index=False, header=number == 0)
        yield len(table)
