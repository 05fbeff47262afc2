"""Tables that come with kgdash: found as if they had been computed here, and never changed."""

from collections.abc import Mapping
from pathlib import Path

from kgdash.files.regular import file_digest

_offered: dict[str, Path] = {}


def offer_tables(folder: Path, digests: Mapping[str, object]) -> None:
    """Have this process find the tables in a folder; one that is not as told is passed over.

    :param folder: whose maker must be trusted: nothing tells whether a table's numbers are right
    :param digests: SHA-256, in hexadecimal, by path in the folder; what ends in ``.parquet`` is a
        table that `kgdash.files.table_cache` wrote, under its name there
    """
    for name, digest in digests.items():
        path = folder / name
        if path.suffix == ".parquet" and path.is_file() and file_digest(path) == digest:
            _offered[path.name] = path


def offered_table(name: str) -> Path | None:
    """Return the table of a file name, if one was offered and is still there."""
    path = _offered.get(name)
    return path if path is not None and path.is_file() else None


def offered_tables() -> list[Path]:
    """Return all tables that were offered and are still there."""
    return [path for path in _offered.values() if path.is_file()]
