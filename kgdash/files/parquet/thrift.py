"""Thrift's compact protocol, of which Parquet's footers and page headers are: read and written.

By Apache Thrift's ``thrift-compact-protocol.md``. A struct is asked for by its fields; what else is
in it is passed over, and what is asked for of another kind is refused: other readers would take it
for something else, or for nothing.
"""

from collections.abc import Mapping
from typing import Any

#: kinds of values that can be asked for
I16, I32, I64, BINARY = 4, 5, 6, 8

#: a struct's fields by their numbers, each one of the kinds above, a struct's fields again, or a
#: list that holds the one or the other
Fields = Mapping[int, Any]

#: others: of these neither footers nor page headers have more
_TRUE, _FALSE, _BYTE, _DOUBLE, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 9, 10, 12

#: what is too large for each kind of whole number
_BEYOND = {I16: 2**15, I32: 2**31, I64: 2**63}

_DEEPEST = 12

#: values of one struct and all in it, lists' items among them; those of a column are some 40, and
#: each takes many times its bytes
_MOST_VALUES = 2**21


def read_struct(data: bytes, place: int, fields: Fields) -> tuple[dict[int, Any], int]:
    """Read a struct.

    :return: what is there of its fields: whole numbers, bytes, dicts and lists; and where it ends
    :raises ValueError: if it is damaged, or a field is of another kind
    """
    return _Reader(data).struct(place, _DEEPEST, fields)


def write_struct(values: Mapping[int, Any], fields: Fields) -> bytes:
    """Write a struct as `read_struct` reads it: each of its fields with a number up to 15."""
    written, before = b"", 0
    for number in sorted(values):
        kind = fields[number]
        written += bytes([number - before << 4 | _wire(kind)]) + _written(values[number], kind)
        before = number
    return written + b"\0"


def _written(value: Any, kind: Any) -> bytes:
    if isinstance(kind, Mapping):
        return write_struct(value, kind)
    if isinstance(kind, list):
        (item,) = kind
        few = len(value) < 15
        head = bytes([(len(value) if few else 15) << 4 | _wire(item)])
        size = b"" if few else _varint_of(len(value))
        return b"".join([head, size, *(_written(each, item) for each in value)])
    if kind == BINARY:
        return _varint_of(len(value)) + bytes(value)
    return _varint_of(value << 1 if value >= 0 else ~(value << 1))


def _wire(kind: Any) -> int:
    """Return the number of a kind as the protocol has it."""
    if isinstance(kind, Mapping):
        return _STRUCT
    return _LIST if isinstance(kind, list) else int(kind)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._left = data, _MOST_VALUES

    def struct(self, place: int, depth: int, fields: Fields) -> tuple[dict[int, Any], int]:
        """Return the fields that are asked for, and where the struct ends."""
        if not depth:
            raise ValueError("structs too deep")
        found: dict[int, Any] = {}
        seen, number = set[int](), 0
        while True:
            head, place = _byte(self._data, place)
            if not head:
                return found, place
            if head >> 4:
                number += head >> 4
            else:
                number, place = _zigzag(self._data, place)
            # Others keep 16 bits of it: it would be another field.
            if not 0 < number < 2**15:
                raise ValueError("a field of a number that can not be")
            if number in seen:
                raise ValueError("a field that stands twice")
            seen.add(number)
            wanted = fields.get(number)
            value, place = self._value(place, head & 15, depth, wanted)
            if wanted is not None:
                found[number] = value

    def _value(self, place: int, kind: int, depth: int, wanted: Any) -> tuple[Any, int]:
        """Return a value, None if it is not asked for, and where it ends."""
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"a header of more than {_MOST_VALUES:,} values")
        if wanted is not None and kind != _wire(wanted):
            raise ValueError("a field of another kind than the format has")
        if kind in (_TRUE, _FALSE):
            return None, place
        if kind in _BEYOND:
            number, place = _zigzag(self._data, place)
            if not -_BEYOND[kind] <= number < _BEYOND[kind]:
                raise ValueError("a number of more bits than its kind has")
            return number, place
        if kind in (_BYTE, _DOUBLE):
            return None, place + (1 if kind == _BYTE else 8)
        if kind == BINARY:
            length, place = _varint(self._data, place)
            return (self._data[place : place + length] if wanted else None), place + length
        if kind in (_LIST, _SET):
            return self._list(place, depth - 1, wanted)
        if kind == _STRUCT:
            return self.struct(place, depth - 1, wanted or {})
        raise ValueError(f"a field of kind {kind}")

    def _list(self, place: int, depth: int, wanted: Any) -> tuple[list[Any], int]:
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
        item = wanted[0] if wanted else None
        if item is not None and kind != _wire(item):
            raise ValueError("a field of another kind than the format has")
        items = []
        for _ in range(count):
            value, place = self._value(place, kind, depth, item)
            if item is not None:
                items.append(value)
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


def _varint_of(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])
