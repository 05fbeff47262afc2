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


def text(value):
    return b"X" + len(value).to_bytes(4, "little") + value.encode()


def item(name, value):
    return text(name) + value + b"s"


def type_of(code, copied=b"\x88"):
    return b"cnumpy\ndtype\n" + text(code) + b"\x89" + copied + b"\x87R"


SAID = b"(K\3" + text("<") + b"NNNK\x04K\x04K\0tb"
ARRAY = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85C\1b\x87R"
FLAT = b"cnumpy.core.numeric\n_frombuffer\n(C\4abcd" + type_of("f4") + SAID + b"K\1\x85"
CUT = b"cnumpy.core.multiarray\nscalar\n" + type_of("U1") + SAID + b"C\x08a\0\0\0b\0\0\0\x86R"
OBJECT = b"ceasydict\nEasyDict\n)\x81"
ONE, TWO = item("a", b"K\1"), item("a", b"K\2")

#: what Python would make otherwise than it reads, written by hand
ODD = {
    "a type's second state": (type_of("f4") + SAID * 2, "a state of _Dtype that no pickler"),
    "an array's second state": (ARRAY + b"K\1\x85b" * 2, "a state of PickledArray that no pickler"),
    "a type that others change": (type_of("f4", b"\x89"), "a call of numpy.dtype"),
    "an order by another name": (FLAT + text("f") + b"tR", "a call of numpy.core.numeric._fromb"),
    "other attributes": (OBJECT + ONE + b"}" + TWO + b"b", "whose attributes are not its items"),
    "true for one": (OBJECT + ONE + b"}" + item("a", b"\x88") + b"b", "are not its items"),
    "more attributes": (OBJECT + b"}" + ONE + b"b", "whose attributes are not its items"),
    "no attributes": (OBJECT + ONE, "whose attributes are not its items"),
    "what Python looks for": (
        OBJECT + item("__dict__", b"}q\0") + b"}" + item("__dict__", b"h\0") + b"b",
        "whose attributes are not its items",
    ),
    "lists that differ later": (
        OBJECT + item("a", b"]") + b"}" + item("a", b"]q\0") + b"bh\0K\1a\x86",
        "whose attributes are not its items",
    ),
    "an item afterwards": (OBJECT + b"}b" + ONE, "a state that changes after it was given"),
    "an attribute afterwards": (OBJECT + b"}q\0bh\0" + ONE + b"\x86", "a state that changes after"),
    "one state of two": (b"}q\0" + OBJECT + b"h\0b" + OBJECT + b"h\0b\x87", "a state of _Object"),
    "its own state": (OBJECT + ONE + b"q\0h\0b", "a state of _Object that no pickler writes"),
    "a state of no object": (b"}}b", "a state of dict that no pickler writes"),
    "a class called": (b"ceasydict\nEasyDict\n)R", "a call of easydict.EasyDict"),
    "an object of another": (b"cnumpy\ndtype\n" + text("f4") + b"\x85\x81", "an object of numpy.d"),
}


def read_objects(folder, pickled):
    (folder / "a.pkl").write_bytes(b"\x80\x03" + pickled + b".")
    return read_array_pickle(folder / "a.pkl", "save it again", "easydict.EasyDict")


@pytest.mark.parametrize("case", ODD)
def test_what_no_pickler_writes_is_refused(case, tmp_path):
    pickled, message = ODD[case]
    with pytest.raises(KgdashError) as caught:
        read_objects(tmp_path, pickled)
    assert "refused: " in str(caught.value)
    assert message in str(caught.value)


def test_a_text_of_numpy_that_it_would_cut(tmp_path):
    assert isinstance(read_objects(tmp_path, CUT), PickledArray)


@pytest.mark.parametrize("value", [b"K\1", b"G" + b"\x40" * 8, b"](K\1X\1\0\0\0be", b"N", b"\x88"])
def test_attributes_that_are_equal(value, tmp_path):
    """A list becomes another one where an EasyDict is read, and is written twice after that."""
    pickled = OBJECT + item("a", value) + b"}" + item("a", value) + b"b"
    assert list(read_objects(tmp_path, pickled)) == ["a"]
