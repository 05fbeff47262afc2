"""A checkpoint that TensorFlow 2.15 wrote, and changed ones."""

import re
import struct
import time
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.formats.tensor_bundle import Bundle

WRITTEN = Path(__file__).parent / "embeddings" / "written" / "ampligraph-DistMult" / "variables"
KEY = "variables/0/.ATTRIBUTES/VARIABLE_VALUE"
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


@pytest.fixture
def index(tmp_path):
    return copytree(WRITTEN, tmp_path / "variables") / "variables.index"


def numbers_of(index):
    return index.with_name("variables.data-00000-of-00001")


def test_arrays_are_the_files_bytes(index):
    found = Bundle(index).array(KEY)
    content = np.fromfile(numbers_of(index), "<f4", 14 * 3).reshape(14, 3)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, content)
    assert b"ent_emb" in Bundle(index).text(GRAPH)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("other", "no other; it holds _CHECKPOINTABLE_OBJECT_GRAPH, keras_api"),
        (GRAPH, "expected floats of 16 to 64 bits"),
    ],
)
def test_keys_of_no_array(key, message, index):
    with pytest.raises(KgdashError, match=message):
        Bundle(index).array(key)
    with pytest.raises(KgdashError, match="other than one text"):
        Bundle(index).text(KEY)


def test_files_that_are_cut_short(index):
    content = numbers_of(index).read_bytes()
    numbers_of(index).write_bytes(content[:100])
    with pytest.raises(
        KgdashError, match=r"00000-of-00001 is damaged .*it ends at 100, of 168 byt"
    ):
        Bundle(index).array(KEY)
    numbers_of(index).unlink()
    with pytest.raises(KgdashError, match=r"can not read .*No such file"):
        Bundle(index).array(KEY)
    data = index.read_bytes()
    for length in range(0, len(data), 7):
        index.write_bytes(data[:length])
        with pytest.raises(KgdashError, match="is damaged or not of a checkpoint"):
            Bundle(index)


#: of the entry of 14 rows of 3 floats, 168 bytes
ENTRY = b"\x08\x01\x12\x08\x12\x02\x08\x0e\x12\x02\x08\x03\x28\xa8\x01"

CHANGED = {
    "another shape": (b"\x08\x0e\x12\x02\x08\x03", b"\x08\x0f\x12\x02\x08\x03", "do not fit"),
    "below no rows": (b"\x08\x0e\x12\x02\x08\x03", b"\x08\x00\x12\x02\x08\x03", "do not fit"),
    "another size": (b"\x28\xa8\x01", b"\x28\xa9\x01", "do not fit"),
    "whole numbers": (b"\x08\x01\x12\x08", b"\x08\x03\x12\x08", "expected floats"),
    "in slices": (b"\x28\xa8\x01", b"\x38\xa8\x01", "an array in slices"),
    "no message": (b"\x12\x08\x12\x02", b"\x13\x08\x12\x02", "no message"),
    "a shape in two": (b"\x08\x12\x02\x08\x0e\x12\x02", b"\x04\x12\x02\x08\x0e\x12\x04", "twice"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_an_entry_says_is_checked(name, index):
    old, new, message = CHANGED[name]
    data = index.read_bytes()
    assert data.count(ENTRY) == 1
    index.write_bytes(data.replace(ENTRY, ENTRY.replace(old, new)))
    with pytest.raises(KgdashError, match=message):
        Bundle(index).array(KEY)


def test_keys_that_are_looked_up_elsewhere(index):
    """TensorFlow looks a key up where a block says so, and finds the first of two."""
    index.write_bytes(_table([b"a", b"a"]))
    with pytest.raises(KgdashError, match="keys out of order"):
        Bundle(index)
    index.write_bytes(_table([b"", b"a"]))
    Bundle(index)
    for place in (1, 5):
        index.write_bytes(_table([b"", b"a"], place))
        with pytest.raises(KgdashError, match="whole keys elsewhere than it says"):
            Bundle(index)


def test_a_compressed_block_is_refused(index):
    data = bytearray(index.read_bytes())
    end = re.search(rb"\x01\0\0\0(\0)", bytes(data))
    assert end is not None
    data[end.start(1)] = 1
    index.write_bytes(data)
    with pytest.raises(KgdashError, match="cut short or compressed"):
        Bundle(index)


def _varint(number):
    groups = [number >> shift & 127 for shift in range(0, max(1, number.bit_length()), 7)]
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def _block(entries, place=0):
    return b"".join(entries) + struct.pack("<II", place, 1) + b"\0"


def _table(keys, place=0):
    """Return a table of keys, each said by what differs from the one before; a whole one there."""
    entries, before = [], b""
    for key in keys:
        shared = 4000 if len(before) > 4000 and before[:4000] == key[:4000] else 0
        own = key[shared:]
        entries.append(_varint(shared) + _varint(len(own)) + b"\0" + own)
        before = key
    data = _block(entries, place)
    size = len(data) - 1
    handle = _varint(0) + _varint(size)
    told = _block([_varint(0) + _varint(1) + _varint(len(handle)) + b"x" + handle])
    footer = _varint(0) + _varint(0) + _varint(len(data)) + _varint(len(told) - 1)
    return data + told + footer.ljust(40, b"\0") + bytes.fromhex("57fb808b247547db")


def test_many_long_keys_are_refused(index):
    # 3 MB of them took 1.1 GB: each says what differs from the one before it.
    index.write_bytes(_table([b"", *(b"k" * 4000 + b"%06d" % number for number in range(100))]))
    with pytest.raises(KgdashError, match="no other; it holds kkk"):
        Bundle(index).array("other")
    index.write_bytes(_table(b"k" * 4000 + b"%06d" % number for number in range(20_000)))
    with pytest.raises(KgdashError, match="more arrays than any model has"):
        Bundle(index)


def test_axes_are_counted_before_they_are_multiplied(index, monkeypatch):
    """The product of 320,000 axes of 70 bits, 8 KB packed, took more than five minutes."""
    bundle = Bundle(index)
    entry = replace(bundle._entry(KEY), shape=(2**69,) * 320_000)
    monkeypatch.setattr(bundle, "_entry", lambda key: entry)
    began = time.process_time()
    with pytest.raises(KgdashError, match="do not fit"):
        bundle.array(KEY)
    assert time.process_time() - began < 2
