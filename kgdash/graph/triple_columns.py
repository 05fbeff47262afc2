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

from kgdash.errors import KgdashError
from kgdash.files.regular import open_regular
from kgdash.graph.arrow_texts import ArrowTexts, as_arrow, compact, release_memory
from kgdash.graph.triple_files import MAX_BYTES, MAX_LINE, is_header, read_labels, read_triples

_COLUMNS, _LABELLED = ("head", "relation", "tail"), ("name", "label")

#: names of a column that tell what it is of, and the share of entities that stand at both ends: in
#: sparse graphs few do, but entities are more than relations; and of all entities in others
_TELLING, _AT_BOTH_ENDS, _OF_ALL = 10, 0.1, 0.3

#: names that are looked up at once: a table of all would be of hundreds of megabytes
_LOOKED_UP = 1 << 20


def read_columns(path: Path) -> pa.Table:
    """Read a file of triples as `kgdash.graph.triple_files.read_triples` does.

    Of one column after the other the texts are read, and each that differs is kept once.

    :return: columns head, relation, tail: dictionaries of strings
    :raises KgdashError: as there
    """
    columns = []
    for name in _COLUMNS:
        found = _plain_columns(path, _COLUMNS, name)
        if found is None or not _are_names((column := _encoded(found[name])).dictionary):
            return columns_of(read_triples(path))
        columns.append(column)
        del found
        release_memory()
    if is_header([str(column[0]) for column in columns], f"{path}, line 1"):
        columns = [_without_first(column) for column in columns]
    return pa.table(columns, _COLUMNS)


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
    texts = (pa.array(triples[:, i], type=pa.large_string()) for i in range(len(_COLUMNS)))
    return pa.table([each.dictionary_encode() for each in texts], _COLUMNS)


def check_order(table: pa.Table, where: str) -> None:
    """Refuse triples that look like head, tail, relation (KB2E's order), or relation, head, tail.

    Their second column names what stands in one of the others, the two ends: of all that these name
    a third, and twice what one of them has in common with the last. Of sparse graphs it is less:
    half of the fewer, or a tenth where it has more names than the last, which names no end at all,
    as numbers do.

    :param where: the file, for the message
    :raises KgdashError: then
    """
    first, second, third = (table[name].chunk(0).dictionary for name in _COLUMNS)
    if len(second) < _TELLING:
        return
    are_numbers = all(map(_are_numbers, (first, second, third)))
    for ends, other, order in (
        (first, third, "head, tail, relation"),
        (third, first, "relation, head, tail"),
    ):
        shared, odd = _shared(second, ends), _shared(other, ends)
        of_all, odd_of_all = (
            common / (len(ends) + len(column) - common)
            for column, common in ((second, shared), (other, odd))
        )
        share = _AT_BOTH_ENDS if len(other) < len(second) else 0.5
        is_sparse = shared >= max(_TELLING, share * min(len(ends), len(second))) and not odd
        if (of_all >= _OF_ALL and of_all > 2 * odd_of_all) or (is_sparse and not are_numbers):
            raise KgdashError(
                f"expected columns head, relation, tail; found what looks like {order}: of the "
                f"second column's {len(second):,} names {shared:,} stand in another, too, and of "
                f"the last one's {len(other):,} {odd:,} ({where}). Put them in this order, or, if "
                "they are, say so in a first line: head, relation, tail"
            )


def _shared(names: pa.Array, others: pa.Array) -> int:
    return int(pc.sum(pc.is_in(names, value_set=others)).as_py() or 0)


def _are_numbers(names: pa.Array) -> bool:
    return bool(pc.all(pc.utf8_is_digit(names)).as_py())


def distinct_names(table: pa.Table, columns: Sequence[str]) -> Sequence[str]:
    """Return the distinct names of some columns, sorted."""
    named = [table[name].chunk(0).dictionary for name in columns]
    found = pc.unique(pa.chunked_array(named, type=pa.large_string()))
    # The order of UTF-8's bytes is that of the characters.
    return compact(ArrowTexts(found.take(pc.sort_indices(found))))


def numbered(table: pa.Table, entities: Sequence[str], relations: Sequence[str]) -> np.ndarray:
    """Return the ids of triples: int64, ``(n, 3)``; −1 for names that are not there."""
    columns = [table[name].chunk(0) for name in _COLUMNS]
    ends, middle = as_arrow(entities), as_arrow(relations)
    places = [
        _places(column.dictionary, known)
        for column, known in zip(columns, (ends, middle, ends), strict=True)
    ]
    release_memory()
    ids = np.empty((table.num_rows, 3), dtype=np.int64)
    for number, (column, place) in enumerate(zip(columns, places, strict=True)):
        ids[:, number] = place[column.indices.to_numpy()]
    return ids


def count_distinct(table: pa.Table) -> int:
    """Count the distinct triples."""
    codes = pa.table([table[name].chunk(0).indices for name in _COLUMNS], _COLUMNS)
    return int(codes.group_by(list(_COLUMNS)).aggregate([]).num_rows)


def _places(names: pa.Array, known: pa.Array) -> np.ndarray:
    """Return where each name is among known ones that all differ: int64; −1 where it is not."""
    places = np.full(len(names), -1, dtype=np.int64)
    for start in range(0, len(known), _LOOKED_UP):
        found = pc.index_in(names, value_set=known[start : start + _LOOKED_UP])
        there = found.is_valid().to_numpy(zero_copy_only=False)
        places[there] = found.drop_null().to_numpy() + start
        release_memory()
    return places


def _encoded(texts: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return texts as numbers of different ones, in the order in which these come first."""
    chunks = texts.dictionary_encode().chunks
    numbers = pa.concat_arrays([chunk.indices for chunk in chunks])
    return pa.DictionaryArray.from_arrays(numbers, chunks[-1].dictionary)


def _without_first(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """Leave out the first text, which has the number 0; as a name, too, if no other is the same."""
    numbers, names = column.indices.to_numpy()[1:], column.dictionary
    if (numbers > 0).all():
        numbers, names = numbers - 1, names[1:]
    return pa.DictionaryArray.from_arrays(pa.array(numbers), names)


def _plain_columns(path: Path, columns: Sequence[str], *wanted: str) -> pa.Table | None:
    """Read tab-separated columns, or those wanted, in blocks; None where a line is not plain."""
    if path.suffix.lower() not in (".tsv", ".txt"):
        return None
    types = dict.fromkeys(columns, pa.large_string())
    convert = pa.csv.ConvertOptions(column_types=types, include_columns=wanted or None)
    parse = pa.csv.ParseOptions(delimiter="\t", quote_char=False)
    read = pa.csv.ReadOptions(column_names=columns, block_size=MAX_LINE)
    try:
        with open_regular(path, MAX_BYTES) as stream:
            table = pa.csv.read_csv(stream, read, parse, convert)
    except (pa.ArrowException, OSError, ValueError):
        return None
    return table if table.num_rows else None


def _are_names(texts: pa.Array) -> bool:
    """Tell whether texts need no stripping, and none is empty, or of a length to be refused."""
    lengths = pc.min_max(pc.utf8_length(texts)).as_py()
    return lengths["min"] != 0 and (lengths["max"] or 0) < MAX_LINE // 4 and _are_stripped(texts)


def _are_stripped(texts: pa.ChunkedArray) -> bool:
    ends = (pc.utf8_slice_codeunits(texts, *at) for at in ((0, 1), (-1,)))
    return not any(end.isspace() for each in ends for end in pc.unique(each).to_pylist())
