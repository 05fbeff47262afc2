"""Triples of a graph's files as columns of names: read in blocks, numbered without a loop.

Wikidata5M's 20 million triples take seconds so, and minutes and gigabytes line by line. What is not
plain is left to `kgdash.graph.triple_files`, which reads it line by line and says which is wrong.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from kgdash.files.regular import open_regular
from kgdash.graph.triple_files import HEADERS, MAX_BYTES, MAX_LINE, read_triples

_COLUMNS = ("head", "relation", "tail")


def read_columns(path: Path) -> pa.Table:
    """Read a file of triples as `kgdash.graph.triple_files.read_triples` does.

    :return: columns head, relation, tail; strings
    :raises KgdashError: as there
    """
    found = _plain_columns(path) if path.suffix in (".tsv", ".txt") else None
    return columns_of(read_triples(path)) if found is None else found


def columns_of(triples: np.ndarray) -> pa.Table:
    """Make columns of triples of names: str objects, ``(n, 3)``."""
    return pa.table(
        {name: pa.array(triples[:, i], type=pa.large_string()) for i, name in enumerate(_COLUMNS)}
    )


def distinct_names(table: pa.Table, columns: Sequence[str]) -> list[str]:
    """Return the distinct names of some columns, sorted."""
    chunks = [chunk for name in columns for chunk in table[name].chunks]
    return sorted(pc.unique(pa.chunked_array(chunks, type=pa.large_string())).to_pylist())


def numbered(table: pa.Table, entities: Sequence[str], relations: Sequence[str]) -> np.ndarray:
    """Return the ids of triples: int64, ``(n, 3)``; −1 for names that are not there."""
    ids = np.empty((table.num_rows, 3), dtype=np.int64)
    ends, middle = (pa.array(names, type=pa.large_string()) for names in (entities, relations))
    for number, (name, known) in enumerate(zip(_COLUMNS, (ends, middle, ends), strict=True)):
        if table.num_rows:
            places = pc.index_in(table[name].combine_chunks(), value_set=known)
            ids[:, number] = pc.fill_null(places, -1).to_numpy()
    return ids


def count_distinct(table: pa.Table) -> int:
    """Count the distinct triples."""
    return int(table.group_by(list(_COLUMNS)).aggregate([]).num_rows)


def _plain_columns(path: Path) -> pa.Table | None:
    """Read three tab-separated columns in blocks; None where a line needs a closer look."""
    convert = pa.csv.ConvertOptions(column_types=dict.fromkeys(_COLUMNS, pa.large_string()))
    parse = pa.csv.ParseOptions(delimiter="\t", quote_char=False)
    read = pa.csv.ReadOptions(column_names=_COLUMNS, block_size=MAX_LINE)
    try:
        with open_regular(path, MAX_BYTES) as stream:
            table = pa.csv.read_csv(stream, read, parse, convert)
    except (pa.ArrowException, OSError, ValueError):
        return None
    if not table.num_rows:
        return None
    if tuple(str(table[name][0]).lower() for name in _COLUMNS) in HEADERS:
        table = table.slice(1)
    names = {name for column in _COLUMNS for name in pc.unique(table[column]).to_pylist()}
    plain = all(name and name == name.strip() and len(name) < MAX_LINE // 4 for name in names)
    return table if plain else None
