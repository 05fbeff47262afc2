"""Writing tables to files that people asked for."""

from pathlib import Path

import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.atomic import write_atomically


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
        write_atomically(out, lambda part: table.to_csv(part, index=index, sep=separator))
