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
from kgdash.graph.arrow_texts import ArrowTexts, as_arrow, compact
from kgdash.graph.triple_files import HEADERS, MAX_BYTES, MAX_LINE, read_labels, read_triples

_COLUMNS, _LABELLED = ("head", "relation", "tail"), ("name", "label")


def read_columns(path: Path) -> pa.Table:
    """Read a file of triples as `kgdash.graph.triple_files.read_triples` does.

    :return: columns head, relation, tail; strings
    :raises KgdashError: as there
    """
    found = _plain_columns(path, _COLUMNS)
    if found is None or not all(_are_names(found[name]) for name in _COLUMNS):
        return columns_of(read_triples(path))
    return found


def read_label_columns(path: Path) -> pa.Table:
    """Read a file of labels as `kgdash.graph.triple_files.read_labels` does.

    :return: columns name, label; strings. The last of a name counts
    :raises KgdashError: as there
    """
    found = _plain_columns(path, _LABELLED)
    if found is not None and _are_names(found["name"]) and _are_stripped(found["label"]):
        return found
    labels = read_labels(path)
    columns = [pa.array(texts, pa.large_string()) for texts in (labels.keys(), labels.values())]
    return pa.table(columns, _LABELLED)


def labels_of(names: Sequence[str], labels: pa.Table | None) -> Sequence[str]:
    """Return the label of each name, itself where there is none or an empty one.

    :param labels: of `read_label_columns`
    """
    if labels is None or not labels.num_rows:
        return names
    last_first = labels.take(pa.array(np.arange(labels.num_rows)[::-1])).combine_chunks()
    texts = as_arrow(names)
    places = pc.index_in(texts, value_set=last_first["name"].chunk(0))
    given = last_first["label"].chunk(0).take(places)
    named = pc.greater(pc.fill_null(pc.binary_length(given), 0), 0)
    return compact(ArrowTexts(pc.if_else(named, given, texts)))


def columns_of(triples: np.ndarray) -> pa.Table:
    """Make columns of triples of names: str objects, ``(n, 3)``."""
    return pa.table(
        {name: pa.array(triples[:, i], type=pa.large_string()) for i, name in enumerate(_COLUMNS)}
    )


def distinct_names(table: pa.Table, columns: Sequence[str]) -> Sequence[str]:
    """Return the distinct names of some columns, sorted."""
    chunks = [chunk for name in columns for chunk in table[name].chunks]
    found = pc.unique(pa.chunked_array(chunks, type=pa.large_string()))
    # The order of UTF-8's bytes is that of the characters.
    return compact(ArrowTexts(found.take(pc.sort_indices(found))))


def numbered(table: pa.Table, entities: Sequence[str], relations: Sequence[str]) -> np.ndarray:
    """Return the ids of triples: int64, ``(n, 3)``; −1 for names that are not there."""
    ids = np.empty((table.num_rows, 3), dtype=np.int64)
    ends, middle = as_arrow(entities), as_arrow(relations)
    for number, (name, known) in enumerate(zip(_COLUMNS, (ends, middle, ends), strict=True)):
        if table.num_rows:
            places = pc.index_in(table[name], value_set=known)
            ids[:, number] = pc.fill_null(places, -1).to_numpy()
    return ids


def count_distinct(table: pa.Table) -> int:
    """Count the distinct triples."""
    return int(table.group_by(list(_COLUMNS)).aggregate([]).num_rows)


def _plain_columns(path: Path, columns: Sequence[str]) -> pa.Table | None:
    """Read tab-separated columns in blocks; None where a line needs a closer look."""
    if path.suffix not in (".tsv", ".txt"):
        return None
    convert = pa.csv.ConvertOptions(column_types=dict.fromkeys(columns, pa.large_string()))
    parse = pa.csv.ParseOptions(delimiter="\t", quote_char=False)
    read = pa.csv.ReadOptions(column_names=columns, block_size=MAX_LINE)
    try:
        with open_regular(path, MAX_BYTES) as stream:
            table = pa.csv.read_csv(stream, read, parse, convert)
    except (pa.ArrowException, OSError, ValueError):
        return None
    if not table.num_rows:
        return None
    return table.slice(tuple(str(table[name][0]).lower() for name in columns) in HEADERS)


def _are_names(texts: pa.ChunkedArray) -> bool:
    """Tell whether texts need no stripping, and none is empty, or of a length to be refused."""
    lengths = pc.min_max(pc.utf8_length(texts)).as_py()
    return lengths["min"] != 0 and (lengths["max"] or 0) < MAX_LINE // 4 and _are_stripped(texts)


def _are_stripped(texts: pa.ChunkedArray) -> bool:
    ends = (pc.utf8_slice_codeunits(texts, *at) for at in ((0, 1), (-1,)))
    return not any(end.isspace() for each in ends for end in pc.unique(each).to_pylist())
