"""What a stored table notes of itself: what it is of, and of what shape it must be."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from kgdash.files.array_file import read_schema
from kgdash.files.cache_folder import TABLE
from kgdash.files.text import parse_json

#: what a note may say in text, and in numbers
TEXTS = (
    "kind",
    "run",
    "run_digest",
    "graph",
    "graph_digest",
    "method",
    "filter",
    "sides",
    "created",
    "version",
    "command",
    "machine",
    "libraries",
)
NUMBERS = {"triples": (int,), "seconds": (int, float), "seed": (int,)}

#: what reading a damaged file may raise
DAMAGED = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError),
    pa.ArrowException,
)

_PLACE, _SHAPE = b"kgdash", "shape"

#: characters of a text that are shown
_LONGEST = 200


def with_note(table: pa.Table, name: str, note: Mapping[str, Any]) -> pa.Table:
    """Return a table with its note.

    :param name: of its file, without the extension
    :param note: by `TEXTS` and `NUMBERS`
    """
    text = json.dumps({**note, _SHAPE: _shape(table, name)})
    return table.replace_schema_metadata({**(table.schema.metadata or {}), _PLACE: text})


def note_metadata(note: Mapping[str, Any]) -> dict[bytes, bytes]:
    """Return the metadata of a schema that carries a note, by `TEXTS` and `NUMBERS`."""
    return {_PLACE: json.dumps(dict(note)).encode()}


def check_shape(table: pa.Table, name: str) -> None:
    """Refuse a table that is not what was written under this name.

    :raises Exception: one of `DAMAGED`
    """
    if _note(table.schema)[_SHAPE] != _shape(table, name):
        raise ValueError("it is not what was written under this name")


def checked_frame(table: pa.Table, name: str) -> pd.DataFrame:
    """Return what was written under a name, as a frame.

    The page checksums of Parquet do not cover what pandas notes of names and of the index.

    :raises Exception: one of `DAMAGED`
    """
    check_shape(table, name)
    frame = table.to_pandas()
    names, index = set(table.column_names), frame.index
    counted = not isinstance(index, pd.RangeIndex) or index.equals(pd.RangeIndex(len(frame)))
    if not names.issuperset(frame.columns) or index.name is not None or not counted:
        raise ValueError("pandas' notes are not those of this table")
    return frame


def read_note(path: Path) -> dict[str, Any]:
    """Return what a stored file notes, as far as that can be: a stranger may have written it.

    :return: by `TEXTS` and `NUMBERS`, the latter ≥ 0; {} if it can not be read
    """
    try:
        note = _note(pq.read_schema(path) if path.suffix == TABLE else read_schema(path))
    except DAMAGED:
        return {}
    found: dict[str, Any] = {}
    for key, value in note.items():
        if key in TEXTS and isinstance(value, str):
            found[key] = value[:_LONGEST]
        elif type(value) in NUMBERS.get(key, ()) and 0 <= value < 2**53:
            found[key] = value
    return found


def _note(schema: pa.Schema) -> dict[str, Any]:
    note = parse_json((schema.metadata or {})[_PLACE])
    if not isinstance(note, dict):
        raise ValueError("the note is no object")
    return note


def _shape(table: pa.Table, name: str) -> list[Any]:
    return [name, table.num_rows, *(f"{field.name}: {field.type}" for field in table.schema)]
