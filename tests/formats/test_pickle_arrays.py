"""Pickles of arrays, as NumPy writes them, and what they must not do."""

import pickle
import pickletools

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.formats import pickle_arrays
from kgdash.formats.pickle_arrays import PickledArray, read_array_pickle

VALUES = np.random.default_rng(3).normal(size=(7, 5)).astype(np.float32)


def read(folder, data):
    (folder / "a.pkl").write_bytes(data)
    return read_array_pickle(folder / "a.pkl", "save it again")


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize("values", [VALUES, VALUES.T, VALUES[0], VALUES.astype(np.float64)])
def test_arrays_are_what_was_written(values, protocol, tmp_path):
    found = read(tmp_path, pickle.dumps({"a": values, "b": [1, "x", None, 2.5]}, protocol))
    assert found["b"] == [1, "x", None, 2.5]
    numbers = found["a"].numbers("a")
    assert numbers.dtype == values.dtype
    np.testing.assert_array_equal(numbers, values)


def test_texts_of_numpy(tmp_path):
    names = np.array(["a", "größer", "x y", ""])
    assert read(tmp_path, pickle.dumps({1: list(names)}, 4)) == {1: list(map(str, names))}


def test_numbers_of_numpy_are_passed_over(tmp_path):
    found = read(tmp_path, pickle.dumps({"w": np.float32(1.5), "k": 3}, 4))
    assert found["k"] == 3
    with pytest.raises(KgdashError, match="a: expected an array"):
        found["w"].numbers("a")


class Runs:
    def __reduce__(self):
        import os

        return os.system, ("touch ran",)


def test_nothing_that_it_names_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KgdashError, match=r"refused: posix.system; save it again"):
        read(tmp_path, pickle.dumps({"a": Runs()}, 4))
    assert not (tmp_path / "ran").exists()


REFUSED = {
    "protocol 0": (pickle.dumps([1, 2], 0), "refused: opcode LIST"),
    "cut short": (pickle.dumps([VALUES], 4)[:-20], "is damaged or no pickle"),
    "nothing": (b"", "is damaged or no pickle"),
    "text": (b"hello\n", "is damaged or no pickle"),
    "more bytes than there are": (
        b"\x80\x04\x8e" + (2**62).to_bytes(8, "little") + b"abc.",
        "is damaged or no pickle",
    ),
    "a line without an end": (b"c" + b"a" * 2**17, "is damaged or no pickle"),
    "a long tuple": (pickle.dumps(tuple(range(10)), 4), "a tuple of more than 9 values"),
    "a large key": (pickle.dumps({2**31: 1}, 4), "refused: a key of int"),
    "a key of two": (pickle.dumps({(1, 2): 1}, 4), "refused: a key of tuple"),
    "lists without end": (b"\x80\x04" + b"]" * 1_001 + b".", "more than 1,000 lists and dicts"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, tmp_path):
    data, message = REFUSED[name]
    with pytest.raises(KgdashError, match=message):
        read(tmp_path, data)


def test_more_names_than_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(pickle_arrays, "memory_budget", lambda: 64 * 50)
    data = pickle.dumps(["abc", "def"] * 50, 4)
    assert len(list(pickletools.genops(data))) > 50
    with pytest.raises(KgdashError, match="holds more names than fit; raise KGDASH_MEMORY"):
        read(tmp_path, data)


def test_what_is_kept_for_later_counts_twice(tmp_path, monkeypatch):
    # 30 MB of that took 2.6 GB.
    monkeypatch.setattr(pickle_arrays, "memory_budget", lambda: 64 * 50)
    with pytest.raises(KgdashError, match="holds more names than fit"):
        read(tmp_path, b"\x80\x04N" + b"\x94" * 30 + b".")


@pytest.mark.parametrize(
    "changes",
    [
        (b"K\x07K\x05", b"K\x07K\x06"),
        (b"K\x07K\x05", b"K\x07J\xff\xff\xff\xff"),
        (b"\x8c\x02f4", b"\x8c\x02i4"),
        (b"\x8c\x02f4", b"\x8c\x02f8"),
        (b"\x8c\x01<", b"\x8c\x01>"),
        (b"C\x8c", b"X\x8c\0\0\0"),
    ],
    ids=["shape", "below 0", "whole", "wider", "most first", "text"],
)
def test_what_an_array_says_of_itself_is_checked(changes, tmp_path):
    data = pickle.dumps(np.zeros((7, 5), np.float32), 4)
    assert data.count(changes[0]) == 1
    found = read(tmp_path, data.replace(*changes))
    assert isinstance(found, PickledArray)
    with pytest.raises(KgdashError, match=r"do not fit|expected floats|expected an array"):
        found.numbers("a")


def test_long_texts_of_numpy(tmp_path):
    """A file of 4 MB had one of 2 MB made into characters 190,000 times: minutes."""
    assert read(tmp_path, pickle.dumps([np.str_("x" * 1_000)], 4)) == ["x" * 1_000]
    with pytest.raises(KgdashError, match="a text of NumPy's of more than 4,000 bytes"):
        read(tmp_path, pickle.dumps([np.str_("x" * 1_001)], 4))


def test_names_of_functions_are_short(tmp_path):
    """They are looked at at each use, which takes six bytes."""
    name = b"X\x01\x00\x00\x00mX" + (500).to_bytes(4, "little") + b"a" * 500
    with pytest.raises(KgdashError, match="refused: a name of more than 500 characters"):
        read(tmp_path, b"\x80\x04" + name + b"\x93.")


def test_equal_texts_are_one(tmp_path):
    """Two of 1.5 million letters, each a key of one dict a million times, took five minutes."""
    pair = ["x" * 300, "x" * 150 + "x" * 150]
    found = read(
        tmp_path,
        b"\x80\x04]" + b"".join(b"X,\x01\x00\x00" + p.encode() + b"a" for p in pair) + b".",
    )
    assert found == pair
    assert found[0] is found[1]
