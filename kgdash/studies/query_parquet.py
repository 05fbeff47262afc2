"""Queries with their answers as Parquet: names as text, so that no graph's ids are in the file.

One row per query: ``type`` (text), ``anchors``, ``relations``, ``easy``, ``hard`` (lists of text),
as in the JSON form.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgdash.errors import KgdashError, unknown_name
from kgdash.studies.named_queries import WIDTH, NamedQueries
from kgdash.studies.query_types import QUERY_TYPES
from kgdash.whole_file import write_whole

MAGIC = b"PAR1"

_NAMES = pa.list_(pa.string())
_SCHEMA = pa.schema(
    [("type", pa.string())] + [(name, _NAMES) for name in ("anchors", "relations", "easy", "hard")]
)

#: sizes at which a file is refused: names in it, and their bytes unpacked
_MAX_VALUES, _MAX_BYTES = 100_000_000, 4 * 2**30


def from_parquet(content: bytes, shown: str) -> NamedQueries:
    """Read the Parquet form.

    :param shown: what messages call the file
    :raises KgdashError: if it holds something else, is damaged or too large
    """
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        _check_size(file.metadata, shown)
        table = file.read(columns=_SCHEMA.names)
        if set(table.schema.names) != set(_SCHEMA.names):
            raise KgdashError(
                f"expected columns {', '.join(_SCHEMA.names)} in {shown}; found "
                f"{', '.join(file.schema_arrow.names):.200}"
            )
        table = table.select(_SCHEMA.names).cast(_SCHEMA).combine_chunks()
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise KgdashError(
            f"{shown} is no Parquet file of queries ({error!s:.120}); write it again"
        ) from error
    return _from_arrow(table, shown)


def to_parquet(named: NamedQueries, out: Path) -> None:
    """Write the Parquet form, whole or not at all.

    :raises KgdashError: if the file can not be written
    """
    entities = pa.array(named.entities, pa.string())
    relations = pa.array(named.relation_names, pa.string())
    types = pa.array(list(QUERY_TYPES)).take(pa.array(named.kinds))
    columns = [types, _lists(entities, named.anchors), _lists(relations, named.relations)]
    for hard in (False, True):
        kept = named.hard == hard
        counts = np.bincount(named.owner[kept], minlength=len(named))
        columns.append(_list_array(entities, named.answers[kept], counts))
    table = pa.Table.from_arrays(columns, schema=_SCHEMA)
    write_whole(out, lambda part: pq.write_table(table, part, compression="zstd"))


def _check_size(metadata: pq.FileMetaData, shown: str) -> None:
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    values = sum(g.column(c).num_values for g in groups for c in range(g.num_columns))
    if values > _MAX_VALUES or sum(g.total_byte_size for g in groups) > _MAX_BYTES:
        raise KgdashError(f"{shown} holds more than {_MAX_VALUES:,} names; keep fewer queries")


def _from_arrow(table: pa.Table, shown: str) -> NamedQueries:
    types = table["type"].to_pylist()
    strange = next((kind for kind in types if kind not in QUERY_TYPES), None)
    if strange is not None or None in types:
        raise unknown_name("query type", str(strange), list(QUERY_TYPES), shown)
    kinds = np.array([list(QUERY_TYPES).index(kind) for kind in types], dtype=np.int64)
    lists = {name: _flat(table[name], name, shown) for name in _SCHEMA.names[1:]}
    for name, wanted in (
        ("anchors", [len(kind.branches) for kind in QUERY_TYPES.values()]),
        ("relations", [kind.num_relations for kind in QUERY_TYPES.values()]),
    ):
        wrong = np.flatnonzero(lists[name][1] != np.array(wanted)[kinds])
        if len(wrong):
            row = int(wrong[0])
            raise KgdashError(
                f"a query of type {types[row]} has {wanted[kinds[row]]} {name}; found "
                f"{lists[name][1][row]} ({shown}, row {row + 1})"
            )
    relations = lists["relations"][0].dictionary_encode()
    parts = [lists[name] for name in ("anchors", "easy", "hard")]
    entities = pa.concat_arrays([names for names, _ in parts]).dictionary_encode()
    ends = np.cumsum([len(names) for names, _ in parts])[:-1]
    anchors, easy, hard = np.split(entities.indices.to_numpy().astype(np.int64), ends)
    owner = [np.repeat(np.arange(len(types)), counts) for _, counts in parts[1:]]
    order = np.argsort(np.concatenate(owner), kind="stable")
    return NamedQueries(
        tuple(entities.dictionary.to_pylist()),
        tuple(relations.dictionary.to_pylist()),
        kinds,
        _padded(anchors, parts[0][1]),
        _padded(relations.indices.to_numpy().astype(np.int64), lists["relations"][1]),
        np.concatenate(owner)[order],
        np.concatenate([easy, hard])[order],
        np.repeat([False, True], [len(easy), len(hard)])[order],
        np.zeros(len(types), dtype=np.int64),
        np.zeros(len(order), dtype=np.int64),
    )


def _flat(column: pa.ChunkedArray, name: str, shown: str) -> tuple[pa.Array, np.ndarray]:
    """Return the names of all lists, one after another, and how many each list has."""
    names = pa.concat_arrays([pa.array([], pa.string()), *(c.flatten() for c in column.chunks)])
    lengths = pc.list_value_length(column)
    if names.null_count or lengths.null_count:
        raise KgdashError(f"expected names under {name!r}; found an empty cell ({shown})")
    return names, lengths.to_numpy().astype(np.int64)


def _padded(cells: np.ndarray, counts: np.ndarray) -> np.ndarray:
    rows = np.full((len(counts), WIDTH), -1, dtype=np.int64)
    rows[np.arange(WIDTH) < counts[:, None]] = cells
    return rows


def _lists(names: pa.Array, cells: np.ndarray) -> pa.Array:
    return _list_array(names, cells[cells >= 0], (cells >= 0).sum(axis=1))


def _list_array(names: pa.Array, cells: np.ndarray, counts: np.ndarray) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), names.take(pa.array(cells)))
