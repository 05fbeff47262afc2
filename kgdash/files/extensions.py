"""Which formats a file to write may have, by its extension."""

from collections.abc import Collection
from pathlib import Path

from kgdash.errors import KgdashError

#: of tables
TABLES = (".csv", ".tsv", ".parquet")


def check_extension(out: Path, known: Collection[str] = TABLES) -> None:
    """Refuse a file to write whose extension names none of some formats.

    :raises KgdashError: if it does not
    """
    if out.suffix not in known:
        raise KgdashError(f"expected an output file in {alternatives(known)}; found {out}")


def alternatives(known: Collection[str]) -> str:
    """Return ".csv, .tsv or .parquet"."""
    *first, last = known
    return f"{', '.join(first)} or {last}" if first else last
