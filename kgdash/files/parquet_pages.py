"""What a Parquet file's pages unpack to, by their own headers: a file's footer may say less.

The headers are Thrift's compact protocol (Apache Parquet format, ``parquet.thrift``, PageHeader).
"""

from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq

#: of PageHeader: its fields, and where each kind of page has its number of values
_UNPACKED, _PACKED, _KINDS, _VALUES = 2, 3, (5, 7, 8), 1

#: Thrift's kinds of fields; page headers hold no others
_TRUE, _FALSE, _BYTE, _INTS, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, 12

_DEEPEST = 8


def unpacked_size(content: bytes, metadata: pq.FileMetaData) -> tuple[int, int]:
    """Return how many values all pages hold, dictionaries included, and their bytes unpacked.

    :raises ValueError: if pages do not fill their column's part of the file, or a header is no
        PageHeader
    """
    values = size = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for column in range(group.num_columns):
            chunk = group.column(column)
            if not chunk.num_values:
                continue  # none of its pages is read
            start, length = chunk.data_page_offset, chunk.total_compressed_size
            if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
                start = chunk.dictionary_page_offset
            if start < 0 or length < 0 or start + length > len(content):
                raise ValueError("a column lies outside the file")
            for header in _headers(content[start : start + length]):
                size += header[_UNPACKED]
                values += sum(header[kind][_VALUES] for kind in _KINDS if kind in header)
    return values, size


def _headers(pages: bytes) -> Iterator[dict[int, Any]]:
    """Go through the headers of pages that follow one another."""
    place = 0
    while place < len(pages):
        header, place = _struct(pages, place, _DEEPEST)
        try:
            counts = [header[kind][_VALUES] for kind in _KINDS if kind in header]
            sizes = [header[_UNPACKED], header[_PACKED]]
        except (KeyError, TypeError) as error:
            raise ValueError("a page without its sizes") from error
        if not all(type(n) is int and n >= 0 for n in counts + sizes):
            raise ValueError("a page of a size that can not be")
        place += header[_PACKED]
        if place > len(pages):
            raise ValueError("a page ends outside its column")
        yield header


def _struct(data: bytes, place: int, depth: int) -> tuple[dict[int, Any], int]:
    """Read a struct: whole numbers and structs by field; the rest is None."""
    if not depth:
        raise ValueError("structs too deep")
    fields: dict[int, Any] = {}
    field = 0
    while True:
        head, place = _byte(data, place)
        if not head:
            return fields, place
        if head >> 4:
            field += head >> 4
        else:
            field, place = _zigzag(data, place)
        if field in fields:
            raise ValueError("a field that stands twice")
        fields[field], place = _value(data, place, head & 15, depth)


def _value(data: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return None, place
    if kind in _INTS:
        return _zigzag(data, place)
    if kind in (_BYTE, _DOUBLE):
        return None, place + (1 if kind == _BYTE else 8)
    if kind == _BINARY:
        length, place = _varint(data, place)
        return None, place + length
    if kind == _STRUCT:
        return _struct(data, place, depth - 1)
    raise ValueError(f"a field of kind {kind}")


def _byte(data: bytes, place: int) -> tuple[int, int]:
    if place >= len(data):
        raise ValueError("a header ends outside its column")
    return data[place], place + 1


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte, place = _byte(data, place)
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("a number that is too long")


def _zigzag(data: bytes, place: int) -> tuple[int, int]:
    value, place = _varint(data, place)
    return (value >> 1) ^ -(value & 1), place
