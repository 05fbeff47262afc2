"""Queries with their answers as Parquet: names as text, so that no graph's ids are in the file.

One row per query: ``type`` (text), ``anchors``, ``relations``, ``easy``, ``hard`` (lists of text),
as in the JSON form.
"""

import io
from array import array
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgdash.errors import KgdashError, unknown_name
from kgdash.files.atomic import write_atomically
from kgdash.files.bounds import check_count
from kgdash.files.memory import memory_budget
from kgdash.files.parquet.pages import plain_file
from kgdash.graph.arrow_texts import ArrowTexts
from kgdash.studies.queries.named_queries import WIDTH, NamedQueries
from kgdash.studies.queries.query_types import QUERY_TYPES

MAGIC = b"PAR1"

#: names in a file for each row that a visitor may hand in
_OF_ROW = 8

_NAMES = pa.list_(pa.string())
_SCHEMA = pa.schema(
    [("type", pa.string())] + [(name, _NAMES) for name in ("anchors", "relations", "easy", "hard")]
)

#: bytes that a name takes while it is read (measured), and those that a file may unpack to
_NAME_BYTES, _MAX_BYTES = 80, 2**30

#: names per byte of a file at which it is refused: run-length coding knows no end
_DENSEST = 1_000


def from_parquet(content: bytes, shown: str) -> NamedQueries:
    """Read the Parquet form.

    :raises KgdashError: if it holds something else, is damaged or too large
    """
    try:
        content = _checked(content, shown)
        file = pq.ParquetFile(io.BytesIO(content))
        if sorted(file.schema_arrow.names) != sorted(_SCHEMA.names):
            raise KgdashError(
                f"expected columns {', '.join(_SCHEMA.names)} in {shown}; found "
                f"{', '.join(file.schema_arrow.names):.200}"
            )
        # Each name is unpacked once, however often it occurs: a small file stays small.
        leaves = [file.schema.column(number).path for number in range(len(file.schema.names))]
        file = pq.ParquetFile(io.BytesIO(content), read_dictionary=leaves)
        # One by one: several together are not implemented for lists of a dictionary's names.
        groups = [file.read_row_group(number) for number in range(file.num_row_groups)]
        table = pa.concat_tables(groups) if groups else _SCHEMA.empty_table()
        table.validate(full=True)
        return _from_arrow(table, shown)
    except (KgdashError, MemoryError):  # of Arrow's errors that of memory is one
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError) as error:
        raise KgdashError(
            f"{shown} is no Parquet file of queries ({error!s:.120}); write it again"
        ) from error


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
    write_atomically(out, lambda part: pq.write_table(table, part, compression="zstd"))


def _checked(content: bytes, shown: str) -> bytes:
    """Refuse what unpacks to too much; return what PyArrow may look at."""
    plain = plain_file(content)
    if plain.values > _DENSEST * len(content):
        raise KgdashError(
            f"{shown} unpacks to {plain.values:,} names; write it again, without run-lengths"
        )
    check_count(plain.values // _OF_ROW, shown, "names")
    most = memory_budget() // _NAME_BYTES
    if plain.values > most or plain.size > _MAX_BYTES:
        raise KgdashError(
            f"{shown} holds more than {most:,} names; keep fewer queries, or raise KGDASH_MEMORY"
        )
    return plain.content


def _from_arrow(table: pa.Table, shown: str) -> NamedQueries:
    types: dict[str, int] = {}
    places = _codes(table["type"], types, "type", shown)
    strange = next((kind for kind in types if kind not in QUERY_TYPES), None)
    if strange is not None:
        raise unknown_name("query type", strange, list(QUERY_TYPES), shown)
    kinds = np.array([list(QUERY_TYPES).index(kind) for kind in types], dtype=np.int64)[places]
    entities: dict[str, int] = {}
    relations: dict[str, int] = {}
    rows = {}
    for name, vocabulary, wanted in (
        ("anchors", entities, [len(kind.branches) for kind in QUERY_TYPES.values()]),
        ("relations", relations, [kind.num_relations for kind in QUERY_TYPES.values()]),
    ):
        cells, counts = _flat(table[name], vocabulary, name, shown)
        wrong = np.flatnonzero(counts != np.array(wanted)[kinds])
        if len(wrong):
            row = int(wrong[0])
            raise KgdashError(
                f"a query of type {list(QUERY_TYPES)[kinds[row]]} has {wanted[kinds[row]]} {name}; "
                f"found {counts[row]} ({shown}, row {row + 1})"
            )
        rows[name] = _padded(cells, counts)
    easy, of_easy = _flat(table["easy"], entities, "easy", shown)
    hard, of_hard = _flat(table["hard"], entities, "hard", shown)
    queries = np.arange(len(kinds))
    owner = np.concatenate([np.repeat(queries, of_easy), np.repeat(queries, of_hard)])
    order = np.argsort(owner, kind="stable")
    return NamedQueries(
        tuple(entities),
        tuple(relations),
        kinds,
        rows["anchors"],
        rows["relations"],
        owner[order],
        np.concatenate([easy, hard])[order],
        np.repeat([False, True], [len(easy), len(hard)])[order],
        np.zeros(len(kinds), dtype=np.int64),
        np.zeros(len(order), dtype=np.int64),
    )


def _flat(
    column: pa.ChunkedArray, vocabulary: dict[str, int], name: str, shown: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the names in all lists, and how many each list has."""
    if not pa.types.is_list(column.type) and not pa.types.is_large_list(column.type):
        raise _no_names(name, str(column.type), shown)
    lengths = pc.list_value_length(column)
    if lengths.null_count:
        raise _no_names(name, "an empty cell", shown)
    flat = pc.list_flatten(column)
    return _codes(flat, vocabulary, name, shown), lengths.to_numpy().astype(np.int64)


def _codes(
    column: pa.ChunkedArray, vocabulary: dict[str, int], name: str, shown: str
) -> np.ndarray:
    """Return the numbers of names, adding those that the vocabulary does not have."""
    found = [np.empty(0, dtype=np.int64)]
    for chunk in column.chunks:
        if not len(chunk):
            continue
        if not pa.types.is_dictionary(chunk.type) or chunk.null_count:
            raise _no_names(name, "an empty cell" if chunk.null_count else str(chunk.type), shown)
        # In blocks: nobody else comes to a turn while Arrow's texts become Python's.
        names = ArrowTexts(chunk.dictionary.cast(pa.large_string()))
        numbers = array("q", (vocabulary.setdefault(text, len(vocabulary)) for text in names))
        found.append(np.array(numbers)[chunk.indices.to_numpy()])
    return np.concatenate(found)


def _no_names(name: str, found: str, shown: str) -> KgdashError:
    return KgdashError(f"expected names under {name!r}; found {found:.80} ({shown})")


def _padded(cells: np.ndarray, counts: np.ndarray) -> np.ndarray:
    rows = np.full((len(counts), WIDTH), -1, dtype=np.int64)
    rows[np.arange(WIDTH) < counts[:, None]] = cells
    return rows


def _lists(names: pa.Array, cells: np.ndarray) -> pa.Array:
    return _list_array(names, cells[cells >= 0], (cells >= 0).sum(axis=1))


def _list_array(names: pa.Array, cells: np.ndarray, counts: np.ndarray) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), names.take(pa.array(cells)))
