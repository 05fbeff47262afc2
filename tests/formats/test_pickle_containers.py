"""Pickles of plain containers are read like Python reads them; others run nothing."""

import pickle
import struct
import tracemalloc
from collections import OrderedDict, defaultdict
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.formats.pickle_containers import read_plain_pickle

_LEAVES = st.integers(-(2**31), 2**31 - 1) | st.text(max_size=5) | st.booleans() | st.none()
_PAIRS = st.tuples(_LEAVES) | st.tuples(_LEAVES, _LEAVES)
_KEYS = _LEAVES | _PAIRS | st.tuples(_PAIRS, st.tuples(_PAIRS, _LEAVES, _LEAVES))
_VALUES = st.recursive(
    _KEYS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4) | st.sets(_KEYS)
    ),
    max_leaves=8,
)


@given(_VALUES, st.integers(2, 5))
def test_reads_what_python_reads(value, protocol):
    read = read_plain_pickle(pickle.dumps(value, protocol), "x.pkl")
    assert read == value
    assert repr(type(read)) == repr(type(value))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_default_dicts_and_sets(protocol):
    value = defaultdict(set)
    value[("e", ("r",))] |= {(1, (2,)), (3, (2,))}
    value[(1, (2,))] |= {4}
    read = read_plain_pickle(pickle.dumps(value, protocol), "x.pkl")
    assert read == value
    assert type(read) is dict
    for factory in (None, list, set):
        assert read_plain_pickle(pickle.dumps(defaultdict(factory), protocol), "x.pkl") == {}
    frozen = pickle.dumps({frozenset(): 1}, protocol)
    with pytest.raises(KgdashError, match="damaged"):
        read_plain_pickle(frozen, "x.pkl")


_PLAIN = (dict, list, tuple, set, str, int, bool, type(None))


class Runs:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def _raw(*parts: bytes, protocol: int = 4) -> bytes:
    return b"\x80" + bytes([protocol]) + b"".join(parts) + b"."


def _text(text: str) -> bytes:
    return b"\x8c" + bytes([len(text)]) + text.encode()


_TOUCH = b"(" + _text("/tmp/x") + b"t"

HOSTILE = {
    "GLOBAL REDUCE": b"\x80\x02cos\nsystem\n(U\x04trueq\x00tR.",
    "STACK_GLOBAL": _raw(_text("os"), _text("system"), b"\x93", _TOUCH, b"R"),
    "posix": _raw(_text("posix"), _text("system"), b"\x93", _TOUCH, b"R"),
    "eval": _raw(b"cbuiltins\neval\n", _TOUCH, b"R"),
    "getattr": _raw(b"cbuiltins\ngetattr\n", _TOUCH, b"R"),
    "INST": b"(S'true'\nios\nsystem\n.",
    "OBJ": _raw(b"(cos\nsystem\n", _text("true"), b"o"),
    "NEWOBJ": _raw(b"cbuiltins\nset\n)\x81"),
    "NEWOBJ_EX": _raw(b"cbuiltins\nset\n)}\x92"),
    "BUILD": _raw(b"cbuiltins\nset\n)R}b"),
    "EXT1": _raw(b"\x82\x01"),
    "EXT4": _raw(b"\x84\x01\x00\x00\x00"),
    "PERSID": _raw(b"Pid\n"),
    "BINPERSID": _raw(_text("id"), b"Q"),
    "a module of ours": _raw(b"ckgdash.loading\nload\n", _TOUCH, b"R"),
    "a name within a name": _raw(_text("builtins"), _text("set.__class__"), b"\x93"),
    "factory": _raw(b"ccollections\ndefaultdict\ncos\nsystem\n\x85R"),
    "factory of factories": _raw(b"ccollections\ndefaultdict\nh\x00\x85R"),
    "text called": _raw(_text("builtins.set"), b")R"),
    "text as factory": _raw(b"ccollections\ndefaultdict\n", _text("builtins.set"), b"\x85R"),
    "defaultdict as factory": _raw(b"ccollections\ndefaultdict\n\x94h\x00\x85R"),
    "set of text": _raw(b"cbuiltins\nset\n", _text("abc"), b"\x85R"),
    "a class": pickle.dumps(OrderedDict(a=1)),
    "a number that is no integer": pickle.dumps(1.5),
    "bytes": pickle.dumps(b"x"),
    "protocol 0": pickle.dumps({(1, (2,)): {3}}, 0),
    "out-of-band buffer": _raw(b"\x97"),
    "a name alone": _raw(b"cbuiltins\nset\n"),
    "huge LONG4": _raw(b"\x8b\xff\xff\xff\x7f"),
    "huge text": _raw(b"\x8d" + struct.pack("<Q", 2**40)),
    "huge frame, no end": b"\x80\x04\x95" + struct.pack("<Q", 2**62) + b"]",
    "unhashable": _raw(b"\x8f(]\x90"),
    "items of nothing": _raw(b"(K\x01\x90"),
    "odd items": _raw(b"}(K\x01u"),
    "no memo": _raw(b"h\x07"),
    "empty stack": _raw(b"\x85"),
    "a short stack": _raw(b"K\x01\x87"),
    "two values": _raw(b"K\x01K\x02"),
    "open mark": _raw(b"(K\x01"),
    "no mark": _raw(b"]e"),
    "nothing": b"",
    "text": b"head\trelation\ttail\n",
    "zip": b"PK\x03\x04",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_anything_else_is_refused(name):
    with pytest.raises(KgdashError, match=r"^x\.pkl"):
        read_plain_pickle(HOSTILE[name], "x.pkl")


def test_nothing_runs(tmp_path):
    path = tmp_path / "made"
    for protocol in range(6):
        data = pickle.dumps({(1,): Runs(path)}, protocol)
        with pytest.raises(KgdashError, match="refused"):
            read_plain_pickle(data, "x.pkl")
        assert not path.exists()
        pickle.loads(data)
        assert path.exists(), "the file would have run"
        path.unlink()


@given(st.data())
def test_cut_or_changed_bytes_are_refused_or_read(data):
    whole = pickle.dumps(defaultdict(set, {(1, (2, 3)): {4, 5}, "a": [1, (2,)]}), 4)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(KgdashError):
        read_plain_pickle(whole[:cut], "x.pkl")
    changed = bytearray(whole)
    changed[cut] = data.draw(st.integers(0, 255))
    with suppress(KgdashError):
        assert type(read_plain_pickle(bytes(changed), "x.pkl")) in _PLAIN


def test_short_files_that_would_keep_python_busy():
    doubled = b")\x94" + b"".join(
        b"h" + bytes([i]) * 1 + b"h" + bytes([i]) + b"\x86\x94" for i in range(60)
    )
    with pytest.raises(KgdashError, match="levels"):
        read_plain_pickle(_raw(doubled, b"\x8f(h\x3c\x90"), "x.pkl")
    with pytest.raises(KgdashError, match="8 values"):
        read_plain_pickle(_raw(b"(", b"K\x01" * 9, b"t"), "x.pkl")
    items = b"]\x94(" + b"".join(b"J" + struct.pack("<i", i) for i in range(300)) + b"e"
    copies = b"cbuiltins\nset\n\x94" + b"h\x01h\x00\x85R" * 100
    with pytest.raises(KgdashError, match="refused"):
        read_plain_pickle(_raw(b"]", items, copies), "x.pkl")
    nested = _raw(b"]" * 1_300 + b"a" * 1_299)
    assert isinstance(read_plain_pickle(nested, "x.pkl"), list)
    far = _raw(b"K\x01r\xff\xff\xff\x7f")
    assert read_plain_pickle(far, "x.pkl") == 1


def test_too_large(monkeypatch):
    monkeypatch.setattr("kgdash.formats.pickle_containers.MAX_BYTES", 10)
    with pytest.raises(KgdashError, match="larger than"):
        read_plain_pickle(pickle.dumps(list(range(10))), "x.pkl")


def _set_of(definitions: list[bytes], members: list[bytes]) -> bytes:
    """Return a pickle of {0: a list of what is defined, 1: a set of members}."""
    made = b"".join(each + b"\x94" for each in definitions)
    return b"\x80\x04}(K\x00](" + made + b"eK\x01\x8f(" + b"".join(members) + b"\x90u."


def test_tuples_of_one_hash_are_refused():
    ints = [struct.pack("<ci", b"J", number) for number in (-1, -2)]
    eights = [
        b"(" + b"".join(ints[number >> bit & 1] for bit in range(8)) + b"t" for number in range(256)
    ]
    pairs = [b"h" + bytes([n // 100]) + b"h" + bytes([n % 100]) + b"\x86" for n in range(10_000)]
    with pytest.raises(KgdashError, match="keys of one hash"):
        read_plain_pickle(_set_of(eights, pairs), "x.pkl")
    with pytest.raises(KgdashError, match="keys of one hash"):
        read_plain_pickle(_called_set(eights, pairs), "x.pkl")


def _called_set(definitions: list[bytes], members: list[bytes]) -> bytes:
    made = b"".join(each + b"\x94" for each in definitions)
    called = b"cbuiltins\nset\n](" + b"".join(members) + b"e\x85R"
    return b"\x80\x04}(K\x00](" + made + b"eK\x01" + called + b"u."


def test_tuples_that_hold_one_again_and_again_are_refused():
    nested = [b"K\x01", *(b"(" + (b"h" + bytes([level])) * 8 + b"t" for level in range(5))]
    with pytest.raises(KgdashError, match="values on all of them"):
        read_plain_pickle(_set_of(nested, [b"h\x05"] * 10), "x.pkl")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (b"](" + b"\x8f" * 2**18 + b"e", "more containers"),
        (b"](" + b"(\x91" * 2**17 + b"e", "more containers"),
        (b"cbuiltins\nset\n\x94](" + b"h\x00)R" * 2**16 + b"e", "more containers"),
        (b"}" + b"\x94" * 2**18, "kept for later"),
        (b"(" * 2**18, "within each other"),
    ],
)
def test_bytes_that_take_hundreds_each_are_refused(parts, said):
    tracemalloc.start()
    with pytest.raises(KgdashError, match=said):
        read_plain_pickle(_raw(parts), "x.pkl")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * len(parts)


def test_keys_of_few_answers_are_no_containers_too_many():
    empty = {(n, (n,)): set() for n in range(5_000)}
    one = {(n, (n,)): [n] for n in range(200)}
    for protocol in range(2, 6):
        assert read_plain_pickle(pickle.dumps(empty, protocol), "x.pkl") == empty
        assert read_plain_pickle(pickle.dumps([one] * 2, protocol), "x.pkl") == [one] * 2
