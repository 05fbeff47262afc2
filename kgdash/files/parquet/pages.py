"""What a Parquet file unpacks to, by its footer and by its pages, which may say otherwise.

Both are structs of Thrift's (Apache Parquet format, ``parquet.thrift``: FileMetaData, PageHeader).
Asked for a column of a damaged footer, or of a schema for which it has no memory, PyArrow ends the
process: it is given a footer that is written here, of what was read here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kgdash.files.parquet.thrift import BINARY, I32, I64, Fields, read_struct, write_struct

#: of PageHeader: its sizes, and of each kind of page its number of values
_UNPACKED, _PACKED, _KINDS, _VALUES = 2, 3, (5, 7, 8), 1
_PAGE: Fields = {_UNPACKED: I32, _PACKED: I32, **{kind: {_VALUES: I32} for kind in _KINDS}}

#: of SchemaElement, which has those below it after it: its name, and how many these are; besides
#: type, length, repetition, converted type, scale, precision, and a logical type without settings
_NAME, _CHILDREN = 4, 5
_LOGICAL: Fields = {kind: {} for kind in (1, 2, 3, 4, 14, 15)}
_ELEMENT: Fields = {
    **dict.fromkeys((1, 2, 3, _CHILDREN, 6, 7, 8), I32),
    _NAME: BINARY,
    10: _LOGICAL,
}

#: of ColumnMetaData: number of values, bytes in the file, and where pages begin; besides type,
#: encodings, path, codec, and bytes unpacked
_NUM_VALUES, _LENGTH, _PAGES, _DICTIONARY = 5, 7, 9, 11
_ABOUT: Fields = {
    **dict.fromkeys((1, 4), I32),
    **dict.fromkeys((_NUM_VALUES, 6, _LENGTH, _PAGES, _DICTIONARY), I64),
    2: [I32],
    3: [BINARY],
}

#: of a row group its columns, bytes and rows, of a column what is told of it
_COLUMNS, _GROUP_BYTES, _COLUMN = 1, 2, 3
_GROUP: Fields = {_COLUMNS: [{2: I64, _COLUMN: _ABOUT}], _GROUP_BYTES: I64, 3: I64}

#: of FileMetaData its schema and row groups; besides version and rows
_SCHEMA, _GROUPS = 2, 4
_FOOTER: Fields = {1: I32, _SCHEMA: [_ELEMENT], 3: I64, _GROUPS: [_GROUP]}

#: pages of a file, of which writers make one a megabyte
_MOST_PAGES = 2**18

#: columns and groups of these, of which no embedding has more; letters of all their paths, each of
#: the names from the root to it
_MOST_ELEMENTS, _MOST_LETTERS = 2**16, 2**24


@dataclass(frozen=True)
class PlainFile:
    """A file whose footer holds no more than what was read of it, so that no reader sees more.

    Types are those of Parquet's own schema: the one that PyArrow notes beside is left out, since it
    may name one part many times. ``values``: how many the file holds, dictionaries included;
    ``size``: their bytes unpacked; of footer and pages, the one counts that tells of more.
    """

    content: bytes
    values: int
    size: int


def plain_file(content: bytes) -> PlainFile:
    """Read what a file unpacks to, and write its footer anew.

    :raises ValueError: if footer or pages are damaged, or pages do not fill their column's part of
        the file
    """
    start = _footer_start(content)
    footer, _ = read_struct(content[start:-8], 0, _FOOTER)
    values, size = _unpacked(content, footer)
    written = write_struct(footer, _FOOTER)
    parts = [content[:start], written, len(written).to_bytes(4, "little"), b"PAR1"]
    return PlainFile(b"".join(parts), values, size)


def _unpacked(content: bytes, footer: dict[int, Any]) -> tuple[int, int]:
    """Return the values of a file, and their bytes unpacked."""
    values = size = told = told_size = 0
    left, pages = len(content), 0
    _check_paths(_structs(footer, _SCHEMA) if _SCHEMA in footer else [])
    for group in _structs(footer, _GROUPS):
        told_size += _number(group, _GROUP_BYTES)
        for chunk in _structs(group, _COLUMNS):
            column = chunk.get(_COLUMN)
            if column is None:
                raise ValueError("a column of which nothing is told")
            told += _number(column, _NUM_VALUES)
            if not column[_NUM_VALUES]:
                continue  # none of its pages is read
            start, length = _number(column, _PAGES), _number(column, _LENGTH)
            if _DICTIONARY in column and 0 < _number(column, _DICTIONARY) < start:
                start = column[_DICTIONARY]
            if start + length > len(content):
                raise ValueError("a column lies outside the file")
            left -= length
            if left < 0:
                raise ValueError("columns that share their pages")
            for header in _headers(content[start : start + length]):
                pages += 1
                if pages > _MOST_PAGES:
                    raise ValueError(f"more than {_MOST_PAGES:,} pages")
                size += header[_UNPACKED]
                values += sum(header[kind][_VALUES] for kind in _KINDS if kind in header)
    return max(values, told), max(size, told_size)


def _footer_start(content: bytes) -> int:
    """Return where the footer begins: at the end stand its length, four bytes, and PAR1."""
    length = int.from_bytes(content[-8:-4], "little")
    if length + 8 > len(content):
        raise ValueError("a footer longer than the file")
    return len(content) - 8 - length


def _check_paths(elements: list[dict[int, Any]]) -> None:
    """Refuse a schema of more than `_MOST_ELEMENTS`, or of longer paths than `_MOST_LETTERS`."""
    if len(elements) > _MOST_ELEMENTS:
        raise ValueError(f"a schema of more than {_MOST_ELEMENTS:,} parts")
    letters, above = 0, [[len(elements), 0]]  # of each level: elements to come, letters of its path
    for element in elements:
        while above and not above[-1][0]:
            above.pop()
        name, children = element.get(_NAME), element.get(_CHILDREN, 0)
        if not above or name is None or children < 0:
            raise ValueError("a schema that is no tree of names")
        above[-1][0] -= 1
        path = above[-1][1] + len(name) + 1
        letters += path
        if letters > _MOST_LETTERS:
            raise ValueError(f"paths of columns of more than {_MOST_LETTERS:,} letters")
        if children:
            above.append([children, path])


def _structs(told: dict[int, Any], field: int) -> list[dict[int, Any]]:
    if field not in told:
        raise ValueError("a footer without schema, row groups or columns")
    listed: list[dict[int, Any]] = told[field]
    return listed


def _number(told: dict[int, Any], field: int) -> int:
    value: int | None = told.get(field)
    if value is None or value < 0:
        raise ValueError("a footer with a number that can not be")
    return value


def _headers(pages: bytes) -> Iterator[dict[int, Any]]:
    """Go through the headers of pages that follow one another."""
    place = 0
    while place < len(pages):
        header, place = read_struct(pages, place, _PAGE)
        counts = [header[kind].get(_VALUES) for kind in _KINDS if kind in header]
        for number in (header.get(_UNPACKED), header.get(_PACKED), *counts):
            if number is None:
                raise ValueError("a page without its sizes")
            if number < 0:
                raise ValueError("a page of a size that can not be")
        place += header[_PACKED]
        if place > len(pages):
            raise ValueError("a page ends outside its column")
        yield header
