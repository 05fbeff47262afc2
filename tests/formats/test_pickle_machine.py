"""Hostile pickles of models: refused by name, and nothing in them runs."""

import builtins
import functools
import gc
import os
import subprocess
from pathlib import Path

import pytest
import torch
from pykeen import utils as pykeen_utils
from pykeen.models import DistMult

from tests.support.pickled_models import (
    archive,
    make,
    refusal,
    repack,
    save,
)


class Payload:
    """Pickles as a call of a function."""

    def __init__(self, function, *args):
        self.call = (function, args)

    def __reduce__(self):
        return self.call


def attack(marker: Path) -> dict[str, tuple[object, str]]:
    """Return hostile objects that would create the marker, and what the refusal must name."""
    touch = f"open({str(marker)!r}, 'w').close()"
    shell = f"touch {marker}"
    return {
        "system": (Payload(os.system, shell), "refused: posix.system"),
        "popen": (Payload(subprocess.Popen, ["touch", str(marker)]), ".Popen; no model"),
        "eval": (Payload(eval, touch), "refused: builtins.eval"),
        "exec": (Payload(exec, touch), "refused: builtins.exec"),
        "open": (Payload(open, str(marker), "w"), "refused: io.open"),
        "import": (Payload(builtins.__import__, "os"), "refused: builtins.__import__"),
        "partial": (functools.partial(os.system, shell), "refused: posix.system"),
        "load": (Payload(torch.load, str(marker)), "refused: torch.serialization.load"),
        "getattr": (Payload(getattr, torch.nn.ReLU, "forward"), "refused: builtins.getattr"),
        "getattr chain": (
            Payload(getattr, Payload(getattr, torch.nn.ReLU, "forward"), "__globals__"),
            "refused: builtins.getattr",
        ),
        "getattr of torch": (
            Payload(getattr, torch._C._VariableFunctionsClass, "__subclasses__"),
            "refused: builtins.getattr",
        ),
        "pykeen function": (
            Payload(pykeen_utils.set_random_seed, 1),
            "refused: pykeen.utils.set_random_seed",
        ),
        "pykeen module": (
            Payload(pykeen_utils.get_df_io, None),
            "refused: pykeen.utils.get_df_io",
        ),
        "sparse": (torch.eye(2).to_sparse(), "refused: torch._utils._rebuild_sparse_tensor"),
        "bytes": (b"1", "refused: _codecs.encode"),
    }


@pytest.mark.parametrize("name", list(attack(Path("marker"))))
@pytest.mark.parametrize("protocol", [2, 5])
def test_hostile_pickles_are_refused_by_name_and_do_not_run(name, protocol, tmp_path):
    marker = tmp_path / "marker"
    payload, message = attack(marker)[name]
    if name == "bytes" and protocol == 5:
        message = "opcode SHORT_BINBYTES"
    path = save({"model": payload}, tmp_path / "m.pkl", protocol)
    assert message in refusal(path)
    assert not marker.exists()


def test_what_a_call_would_change_is_not_read_as_it_was(tmp_path):
    """Read, the file set weights to 0; where it stands nothing is looked at."""
    model = make("TransE")
    part = model.entity_representations[0]
    part.initializer = Payload(torch.nn.init.zeros_, part._embeddings.weight)
    assert "refused: a call of torch.nn.init.zeros_" in refusal(save(model, tmp_path / "m.pkl"))


def test_payload_inside_a_real_model_is_refused(tmp_path):
    model = make("TransE")
    marker = tmp_path / "marker"
    model.interaction.p = Payload(os.system, f"touch {marker}")
    assert "refused: posix.system" in refusal(save(model, tmp_path / "m.pkl"))
    assert not marker.exists()


def test_admitted_names_are_never_called(tmp_path, monkeypatch):
    called = []
    path = save(Payload(DistMult, 1), tmp_path / "m.pkl")
    monkeypatch.setattr(DistMult, "__init__", lambda *args: called.append(args))
    before = sum(type(thing) is DistMult for thing in gc.get_objects())
    assert "refused: a call of pykeen.models" in refusal(path)
    assert not called
    assert sum(type(thing) is DistMult for thing in gc.get_objects()) <= before


@pytest.mark.parametrize(
    ("pickled", "message"),
    [
        (b"cos\nsystem\n(S'true'\ntR.", "refused: os.system"),
        (b"\x80\x02(ios\nsystem\n.", "opcode INST"),
        (b"\x80\x04\x8c\x05posix\x8c\x06system\x93.", "refused: posix.system"),
        (b"\x80\x04\x8c\rpykeen.models\x8c\tos.system\x93.", "refused: pykeen.models.os.system"),
        (b"\x80\x02\x82\x01.", "opcode EXT1"),
        (b"\x80\x02]r\xff\xff\xff\xff.", "found list"),
        (b"\x80\x02K\x01K\x02R.", "puts 2 where tuple"),
        (b"\x80\x02K\x01)R.", "puts 1 where Global"),
        (b"\x80\x02]K\x01b.", "puts list where Call"),
        (b"\x80\x02}]K\x01s.", "puts list where"),
        (b"\x80\x02})K\x01s.", "puts () where"),
        (b"\x80\x02K\x01K\x01Q.", "cannot read the storage 1"),
        (b"\x80\x02h\x05.", "damaged or not a model"),
        (b"\x80\x02.", "damaged or not a model"),
        (b"\x80\x02e.", "damaged or not a model"),
        (b"\x80\x04\x8c\x02\xff\xff.", "damaged or not a model"),
        (b"", "damaged or not a model"),
        (b"\x80\x02" + b"]" * 10, "damaged or not a model"),
        (b"\x80\x02)" + b"\x85" * 100_000 + b".", "expected a PyKEEN model"),
        (b"\x80\x02" + b"]" * (1 << 20) + b".", "over 1,048,576 bytes"),
    ],
)
def test_pickles_written_by_hand(pickled, message, tmp_path):
    assert message in refusal(archive(tmp_path / "m.pkl", pickled))


def replaced(old: bytes, new: bytes):
    """Return a change that replaces the first occurrence in the pickle."""

    def change(name: str, data: bytes) -> tuple[str, bytes]:
        if name.endswith("/data.pkl"):
            assert old in data
            data = data.replace(old, new, 1)
        return name, data

    return change


@pytest.mark.parametrize(
    ("level", "levels", "message"),
    [
        (b"\x85", 100_000, "RecursionError"),
        (b"r\xff\xff\x00\x00j\xff\xff\x00\x00\x86", 60, "more attributes than any model"),
    ],
    ids=["deep", "doubling"],
)
def test_nesting_that_would_exhaust_stack_or_time(level, levels, message, tmp_path):
    model = make("UM")
    model.interaction.p = "HERE"
    source = save(model, tmp_path / "source.pkl", protocol=2)
    change = replaced(b"X\x04\x00\x00\x00HERE", b")" + level * levels)
    assert message in refusal(repack(source, tmp_path / "m.pkl", change))


def test_shared_tensors_are_counted_before_any_is_rebuilt(tmp_path, monkeypatch):
    # 15 KB took 24 s: each of many modules holds the same dictionary of parameters.
    model, shared, many = make("UM"), torch.nn.Module(), torch.nn.Module()
    parameter = torch.nn.Parameter(torch.zeros(1))
    for i in range(100):
        shared.register_parameter(f"p{i}", parameter)
    for i in range(200):
        many.add_module(f"m{i}", shared)
    model.interaction.add_module("many", many)
    path = save(model, tmp_path / "m.pkl")
    monkeypatch.setattr("kgdash.formats.pykeen_model_file.rebuild_tensor", None)
    assert "more modules than any model has" in refusal(path)


def test_values_that_stand_at_one_path_are_counted(tmp_path):
    # 7 KB took time without end: of 1 and "1" the path is the same.
    model, nested = make("UM"), {1: None}
    for _ in range(24):
        nested = {1: nested, "1": nested}
    model.interaction.extra = nested
    assert "more attributes than any model" in refusal(save(model, tmp_path / "m.pkl"))


@pytest.mark.parametrize("part", ["attribute", "module"])
def test_long_names_of_what_holds_much_are_refused(part, tmp_path):
    # 0.4 MB took 8 GB: each of many paths repeats the name that they begin with.
    model, long = make("UM"), "x" * 400_000
    if part == "attribute":
        setattr(model, long, [None] * 100)
    else:
        model.interaction.add_module(long, torch.nn.ModuleList([torch.nn.Module()] * 100))
    found = {"attribute": "more attributes", "module": "more modules"}[part]
    assert f"{found} than any model" in refusal(save(model, tmp_path / "m.pkl"))


def test_what_modules_share_is_counted_in_each(tmp_path):
    # 0.4 MB took a minute: each of many modules holds the same many that are none.
    model, shared = make("UM"), torch.nn.Module()
    for i in range(100):
        shared.add_module(f"m{i}", None)
    for i in range(200):
        model.interaction.add_module(f"m{i}", shared)
    assert "more modules than any model has" in refusal(save(model, tmp_path / "m.pkl"))


def test_keys_that_may_have_one_hash_are_refused(tmp_path):
    # A megabyte of them kept all threads waiting for 104 s.
    path = save({number * (2**61 - 1): None for number in range(1, 3)}, tmp_path / "m.pkl")
    assert "refused: the pickle puts" in refusal(path)


def test_modules_nested_deep_are_refused(tmp_path):
    model = make("UM")
    module = model.interaction
    for _ in range(70):
        module.add_module("m", torch.nn.Module())
        module = module.m
    assert "more modules than any model has" in refusal(save(model, tmp_path / "m.pkl"))


KEY = b"\x8c\x010\x94\x8c\x03cpu"
SIZE, STRIDE, NUMEL = b"K\x0eK\x0c\x86", b"K\x0cK\x01\x86", b"K\xa8t"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (NUMEL, b"J\xff\xff\xff\x7ft", "expected 8,589,934,588 bytes, found 672 bytes"),
        (NUMEL, b"\x8a\x09" + b"\xff" * 8 + b"\x00t", "found 672 bytes"),
        (NUMEL, b"K\xa7t", "expected 668 bytes, found 672 bytes"),
        (NUMEL, b"J\xff\xff\xff\xfft", "cannot read the storage"),
        (SIZE, b"K\x0fK\x0c\x86", "do not fit a storage of 168 numbers"),
        (SIZE, b"J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86", "do not fit a storage"),
        (SIZE, b"J\xff\xff\xff\xffK\x0c\x86", "do not fit a storage"),
        (SIZE, b"K\x0e\x85", "do not fit a storage"),
        (SIZE, b"NK\x0c\x86", "do not fit a storage"),
        (STRIDE, b"K\x01K\x01\x86", "do not fit a storage"),
        (STRIDE, b"K\x00K\x01\x86", "do not fit a storage"),
        (STRIDE, b"K\x0dK\x01\x86", "do not fit a storage"),
        (b"QK\x00" + SIZE[:2], b"QK\x01" + SIZE[:2], "do not fit a storage"),
        (b"FloatStorage", b"DoubleStorag", "refused: torch.DoubleStorag"),
        (b"\x8c\x0cFloatStorage", b"\x8c\x0bLongStorage", "expected 1,344 bytes, found 672"),
        (KEY, b"\x8c\x019\x94\x8c\x03cpu", "storage 9: expected 672 bytes, found nothing"),
        (KEY, b"\x8c\x01/\x94\x8c\x03cpu", "cannot read the storage"),
        (b"num_entities\x94K\x0e", b"num_entities\x94K\x00", "these counts cannot be"),
        (b"num_entities\x94K\x0e", b"num_entities\x94K\x0f", "max_id: file 14, rebuilt 15"),
        (b"num_entities\x94K\x0e", b"num_entities\x94J\xff\xff\xff\x7f", "counts cannot be"),
    ],
)
def test_false_claims_about_tensors(old, new, message, transe, tmp_path):
    assert message in refusal(repack(transe, tmp_path / "m.pkl", replaced(old, new)))
