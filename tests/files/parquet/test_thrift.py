"""Structs of Thrift's compact protocol: written, read again, refused where two might differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.files.parquet.thrift import BINARY, I16, I32, I64, read_struct, write_struct

INNER = {1: I16, 15: BINARY}
FIELDS = {2: I32, 3: I64, 5: BINARY, 9: INNER, 10: [INNER], 12: [I32], 13: [BINARY]}


def whole(bits):
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def struct(fields):
    return st.fixed_dictionaries({}, optional={key: values(kind) for key, kind in fields.items()})


def values(kind):
    if isinstance(kind, dict):
        return struct(kind)
    if isinstance(kind, list):
        return st.lists(values(kind[0]), max_size=20)
    return {I16: whole(16), I32: whole(32), I64: whole(64), BINARY: st.binary()}[kind]


@given(struct(FIELDS))
def test_what_is_written_is_read(given_values):
    data = write_struct(given_values, FIELDS)
    assert read_struct(b"xx" + data, 2, FIELDS) == (given_values, 2 + len(data))
    assert read_struct(data, 0, {}) == ({}, len(data))  # all passed over


def test_by_hand():
    """By the protocol: field 2 of 150 is 0x25 and 300 as a varint; then field 5 of "ab"."""
    assert write_struct({2: 150, 5: b"ab"}, FIELDS) == b"\x25\xac\x02\x38\x02ab\x00"


@pytest.mark.parametrize(
    ("value", "written", "read"),
    [
        (1, I64, I32),
        (b"", BINARY, [BINARY]),
        ([b""], [BINARY], [INNER]),
        ([1], [I32], [I64]),
        ({}, {}, BINARY),
    ],
)
def test_other_kinds_are_refused(value, written, read):
    """PyArrow reads a list's items by what the format has, whatever kind the list names."""
    with pytest.raises(ValueError, match="another kind than the format has"):
        read_struct(write_struct({1: value}, {1: written}), 0, {1: read})
