"""What a Parquet file unpacks to, by its footer and by its pages, which may say otherwise.

Both are Thrift's compact protocol (Apache Parquet format, ``parquet.thrift``: FileMetaData and
PageHeader), read here: asked for a column of a damaged footer, PyArrow ends the process.
"""

from collections.abc import Iterator
from typing import Any

#: of PageHeader: its fields, and where each kind of page has its number of values
_UNPACKED, _PACKED, _KINDS, _VALUES = 2, 3, (5, 7, 8), 1

#: of FileMetaData its schema and row groups, of these their columns and bytes, of a column what is
#: told of it
_SCHEMA, _GROUPS, _COLUMNS, _GROUP_BYTES, _COLUMN = 2, 4, 1, 2, 3

#: of an element of the schema, which has those below it after it: its name, and how many these are
_NAME, _CHILDREN = 4, 5

#: of ColumnMetaData: number of values, bytes in the file, and where pages begin
_NUM_VALUES, _LENGTH, _PAGES, _DICTIONARY = 5, 7, 9, 11

#: Thrift's kinds of fields; neither footers nor page headers hold others
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LISTS, _STRUCT = 1, 2, 3, 7, 8, (9, 10), 12

#: kinds of whole numbers, and what is too large for each
_INTS = {4: 2**15, 5: 2**31, 6: 2**63}

_DEEPEST = 12

#: by which PyArrow finds its own schema among what a footer notes
_ARROW_SCHEMA = b"ARROW:schema"

#: values of a footer, or of a page's header, lists' items among them; those of a column are some 40
_MOST_VALUES = 2**21

#: pages of a file, of which writers make one a megabyte
_MOST_PAGES = 2**18

#: columns and groups of these, of which no embedding has more; letters of all their paths, each of
#: the names from the root to it. Where PyArrow has no memory for these, it ends the process
_MOST_ELEMENTS, _MOST_LETTERS = 2**16, 2**24


def unpacked_size(content: bytes) -> tuple[int, int]:
    """Return how many values a file holds, dictionaries included, and their bytes unpacked.

    Of footer and pages, the one counts that tells of more.

    :raises ValueError: if either is damaged, or pages do not fill their column's part of the file
    """
    values = size = told = told_size = 0
    left, pages = len(content), 0
    footer = _footer(content)
    _check_paths(_structs(footer, _SCHEMA) if _SCHEMA in footer else [])
    for group in _structs(footer, _GROUPS):
        told_size += _number(group, _GROUP_BYTES)
        for chunk in _structs(group, _COLUMNS):
            column = chunk.get(_COLUMN)
            if not isinstance(column, dict):
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


def without_arrow_schema(content: bytes) -> bytes:
    """Return a file of which PyArrow takes the types from Parquet's own schema alone.

    The one that it notes beside may name one part many times, which takes any memory at all, and
    ends the process where there is no more.

    :raises ValueError: if the footer is damaged
    """
    start = _footer_start(content)
    hidden = content[start:].replace(_ARROW_SCHEMA, _ARROW_SCHEMA.lower())
    return content[:start] + hidden


def _footer(content: bytes) -> dict[int, Any]:
    return _Reader(content[_footer_start(content) : -8]).struct(0, _DEEPEST)[0]


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
        if not above or not isinstance(name, bytes) or type(children) is not int or children < 0:
            raise ValueError("a schema that is no tree of names")
        above[-1][0] -= 1
        path = above[-1][1] + len(name) + 1
        letters += path
        if letters > _MOST_LETTERS:
            raise ValueError(f"paths of columns of more than {_MOST_LETTERS:,} letters")
        if children:
            above.append([children, path])


def _structs(told: dict[int, Any], field: int) -> list[dict[int, Any]]:
    listed = told.get(field)
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise ValueError("a footer without schema, row groups or columns")
    return listed


def _number(told: dict[int, Any], field: int) -> int:
    value = told.get(field)
    if type(value) is not int or value < 0:
        raise ValueError("a footer with a number that can not be")
    return value


def _headers(pages: bytes) -> Iterator[dict[int, Any]]:
    """Go through the headers of pages that follow one another."""
    place = 0
    while place < len(pages):
        header, place = _Reader(pages).struct(place, _DEEPEST)
        told = [header[kind] for kind in _KINDS if kind in header]
        counts = [kind.get(_VALUES) if isinstance(kind, dict) else None for kind in told]
        for number in (header.get(_UNPACKED), header.get(_PACKED), *counts):
            if number is None:
                raise ValueError("a page without its sizes")
            if type(number) is not int or number < 0:
                raise ValueError("a page of a size that can not be")
        place += header[_PACKED]
        if place > len(pages):
            raise ValueError("a page ends outside its column")
        yield header


class _Reader:
    """Reads a struct: its numbers, bytes, structs and lists of structs by field; the rest is None.

    What is read takes many times its bytes: no more than so many values are.
    """

    def __init__(self, data: bytes) -> None:
        self._data, self._left = data, _MOST_VALUES

    def struct(self, place: int, depth: int) -> tuple[dict[int, Any], int]:
        """Return a struct, and where it ends."""
        if not depth:
            raise ValueError("structs too deep")
        fields: dict[int, Any] = {}
        field = 0
        while True:
            head, place = _byte(self._data, place)
            if not head:
                return fields, place
            if head >> 4:
                field += head >> 4
            else:
                field, place = _zigzag(self._data, place)
            # Others, PyArrow's Thrift among them, keep 16 bits of it: it would be another field.
            if not 0 < field < 2**15:
                raise ValueError("a field of a number that can not be")
            if field in fields:
                raise ValueError("a field that stands twice")
            fields[field], place = self._value(place, head & 15, depth)

    def _value(self, place: int, kind: int, depth: int) -> tuple[Any, int]:
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"a header of more than {_MOST_VALUES:,} values")
        if kind in (_TRUE, _FALSE):
            return None, place
        if kind in _INTS:
            number, place = _zigzag(self._data, place)
            if not -_INTS[kind] <= number < _INTS[kind]:
                raise ValueError("a number of more bits than its kind has")
            return number, place
        if kind in (_BYTE, _DOUBLE):
            return None, place + (1 if kind == _BYTE else 8)
        if kind == _BINARY:
            length, place = _varint(self._data, place)
            return self._data[place : place + length], place + length
        if kind in _LISTS:
            return self._list(place, depth - 1)
        if kind == _STRUCT:
            return self.struct(place, depth - 1)
        raise ValueError(f"a field of kind {kind}")

    def _list(self, place: int, depth: int) -> tuple[list[Any], int]:
        """Read a list; each of its items takes a byte at least, flags exactly one."""
        if not depth:
            raise ValueError("lists too deep")
        head, place = _byte(self._data, place)
        count, kind = head >> 4, head & 15
        if count == 15:
            count, place = _varint(self._data, place)
        if count > len(self._data):
            raise ValueError("a list longer than the file")
        kind = _BYTE if kind in (_TRUE, _FALSE) else kind
        items = []
        for _ in range(count):
            item, place = self._value(place, kind, depth)
            if kind == _STRUCT:
                items.append(item)
        return items, place


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
