"""Writing tables to files that people asked for."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pandas as pd

from kgdash.errors import KgdashError


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
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}-")
        os.close(handle)
        try:
            if out.suffix == ".parquet":
                table.to_parquet(temporary, index=index)
            else:
                table.to_csv(temporary, index=index, sep="," if out.suffix == ".csv" else "\t")
            Path(temporary).chmod(0o644)
            os.replace(temporary, out)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise KgdashError(f"can not write {out}: {error.strerror or error}") from error
