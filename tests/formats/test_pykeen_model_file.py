"""PyKEEN's pickles: read without running them, rebuilt exactly, or refused with a reason."""

import builtins
import functools
import gc
import os
import pickle
import subprocess
import zipfile
from pathlib import Path

import pytest
import torch
from pykeen import utils as pykeen_utils
from pykeen.datasets import Nations
from pykeen.models import DistMult, Model, TransE, model_resolver

from kgdash.errors import KgdashError
from kgdash.formats.pykeen_model_file import read_pickled_model
from kgdash.scoring.build_model import build_model

ENTITIES, RELATIONS, DIM = 14, 55, 12
FACTORIES = {inverse: Nations(create_inverse_triples=inverse).training for inverse in (False, True)}
TRAINING = FACTORIES[False].mapped_triples.numpy()


def make(name: str, inverse: bool = False, **kwargs) -> Model:
    """Build a model whose weights and running statistics are not those of its initialisation."""
    cls = model_resolver.lookup(name)
    if name != "FixedModel":
        kwargs = {"embedding_dim": DIM, **kwargs}
    model = cls(triples_factory=FACTORIES[inverse], random_seed=0, **kwargs)
    torch.manual_seed(0)
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.is_floating_point():
                tensor.add_(torch.rand_like(tensor) * 0.1)
    return model.eval()


def save(model: object, path: Path, protocol: int = pickle.HIGHEST_PROTOCOL) -> Path:
    """Save as PipelineResult.save_model does."""
    torch.save(model, path, pickle_protocol=protocol)
    return path


def assert_same_scores(path: Path, model: Model) -> None:
    found = read_pickled_model(path)
    assert (found.num_entities, found.num_relations) == (ENTITIES, RELATIONS)
    rebuilt = build_model(found.spec, TRAINING, ENTITIES, RELATIONS, found.state, str(path))
    pairs = torch.cartesian_prod(torch.arange(ENTITIES), torch.arange(RELATIONS))
    with torch.no_grad():
        assert torch.equal(rebuilt.predict_t(pairs), model.predict_t(pairs))
        assert torch.equal(rebuilt.predict_h(pairs.flip(1)), model.predict_h(pairs.flip(1)))


def refusal(path: Path) -> str:
    with pytest.raises(KgdashError) as caught:
        read_pickled_model(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.fixture(scope="module")
def transe(tmp_path_factory) -> Path:
    return save(make("TransE"), tmp_path_factory.mktemp("models") / "trained_model.pkl")


# Models that can be read

CONFIGURATIONS = [
    ("TransE", False, {"scoring_fct_norm": 1}),
    ("TransE", False, {"scoring_fct_norm": 2}),
    ("TransE", True, {"power_norm": True}),
    ("TransE", False, {"loss": "nssa", "regularizer": "lp"}),
    ("DistMult", False, {}),
    ("DistMult", True, {"predict_with_sigmoid": True}),
    ("RotatE", False, {}),
    ("PairRE", False, {}),
    ("PairRE", False, {"p": 2}),
    ("ComplEx", False, {}),
    ("ConvE", True, {}),
    ("ConvE", True, {"embedding_height": 2, "embedding_width": 6, "output_channels": 4}),
    ("ConvE", True, {"apply_batch_normalization": False, "kernel_width": 2, "input_dropout": 0}),
    ("ConvE", True, {"input_channels": 2, "embedding_height": 2, "kernel_height": 2}),
    ("SimplE", False, {"clamp_score": 0.01}),
    ("RESCAL", False, {}),
    ("TuckER", False, {"relation_dim": 5}),
    ("TuckER", False, {"apply_batch_normalization": False}),
    ("HolE", False, {}),
    ("TransH", False, {}),
    ("TransR", False, {"relation_dim": 5, "max_projection_norm": 2.0}),
    ("TransD", False, {"relation_dim": 5}),
    ("TransF", False, {}),
    ("KG2E", False, {"dist_similarity": "ExpectedLikelihood"}),
    ("ProjE", False, {"inner_non_linearity": "relu"}),
    ("ERMLP", False, {"hidden_dim": 5, "activation": "tanh"}),
    ("ERMLPE", False, {"hidden_dim": 5}),
    ("NTN", False, {"num_slices": 2}),
    ("QuatE", False, {}),
    ("CP", False, {"rank": 3}),
    ("CrossE", False, {"combination_activation": "relu", "combination_dropout": None}),
    ("MuRE", False, {"p": 1}),
    ("TorusE", False, {"p": 1}),
    ("BoxE", False, {"p": 1, "tanh_map": False}),
    ("AutoSF", False, {}),
    ("DistMA", False, {}),
    ("SE", False, {}),
    ("UM", False, {}),
    ("ConvKB", False, {"num_filters": 3}),
    ("FixedModel", False, {}),
    ("RGCN", False, {"activation": "relu", "use_bias": False, "decomposition": "block"}),
    ("CompGCN", True, {}),
    ("NodePiece", True, {"num_tokens": 3}),
]


@pytest.mark.parametrize(("name", "inverse", "kwargs"), CONFIGURATIONS)
def test_scores_are_the_original_ones_bit_for_bit(name, inverse, kwargs, tmp_path):
    model = make(name, inverse, **kwargs)
    assert_same_scores(save(model, tmp_path / "trained_model.pkl"), model)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_other_protocols_are_read(protocol, tmp_path):
    model = make("DistMult", True)
    assert_same_scores(save(model, tmp_path / "m.pkl", protocol), model)


def test_model_that_was_scored_with_keeps_no_cache(tmp_path):
    model = make("CompGCN", True)
    with torch.no_grad():
        model.predict_t(torch.tensor([[0, 0]]))
    assert_same_scores(save(model, tmp_path / "m.pkl"), model)


# Models that cannot be rebuilt exactly


@pytest.mark.parametrize(
    ("name", "kwargs", "message"),
    [
        ("PairRE", {"entity_normalizer": None}, "normalizer: file None, rebuilt functools.partial"),
        ("TorusE", {"entity_normalizer": "normalize"}, "normalizer: file torch.nn.functional"),
    ],
)
def test_setting_that_no_argument_expresses(name, kwargs, message, tmp_path):
    path = save(make(name, **kwargs), tmp_path / "m.pkl")
    assert message in refusal(path)


def test_changed_attributes_are_refused(tmp_path):
    model = make("TransH")
    model.interaction.p = 3.5
    model.interaction.power_norm = "yes"
    assert "power_norm" in refusal(save(model, tmp_path / "m.pkl"))
    model = make("RotatE")
    model.interaction.p = 1
    assert "interaction.p: file 1, rebuilt 2" in refusal(save(model, tmp_path / "m.pkl"))
    model = make("TransE")
    model.interaction.extra = torch.nn.ReLU()
    assert "interaction.extra" in refusal(save(model, tmp_path / "m.pkl"))
    model = make("ConvE", True)
    model.interaction.hr2d[3].eps = 0.5
    assert "hr2d.3.eps: file 0.5, rebuilt 1e-05" in refusal(save(model, tmp_path / "m.pkl"))
    model = make("TransE")
    model.forward = torch.nn.init.zeros_
    assert "forward: file torch.nn.init.zeros_" in refusal(save(model, tmp_path / "m.pkl"))
    model = make("TransE")
    model.interaction.register_forward_hook(torch.nn.init.zeros_)
    assert "_forward_hooks" in refusal(save(model, tmp_path / "m.pkl"))


def test_wrapped_models_are_refused_by_the_class_that_is_in_the_way(tmp_path):
    model = model_resolver.lookup("CooccurrenceFilteredModel")(
        triples_factory=FACTORIES[False], embedding_dim=DIM
    )
    assert "refused: scipy.sparse" in refusal(save(model, tmp_path / "m.pkl"))


def test_other_things_than_models(tmp_path):
    model = make("TransE")
    path = tmp_path / "m.pkl"
    assert "bare weights or a checkpoint" in refusal(save(model.state_dict(), path))
    assert "bare weights or a checkpoint" in refusal(save({"epoch": 3}, path))
    assert "found list" in refusal(save([1, 2], path))
    assert "found torch._utils._rebuild_tensor_v2" in refusal(save(torch.zeros(2), path))
    assert "found torch.nn.modules.activation.ReLU" in refusal(save(torch.nn.ReLU(), path))
    assert "found pykeen.nn.modules.TransEInteraction" in refusal(save(model.interaction, path))


# Hostile pickles


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
    assert "expected a PyKEEN model, found pykeen.models" in refusal(path)
    assert not called
    assert sum(type(thing) is DistMult for thing in gc.get_objects()) <= before


# Hostile archives: pickles by hand


def archive(path: Path, pickled: bytes, **entries: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("m/data.pkl", pickled)
        for name, data in entries.items():
            file.writestr(name, data)
    return path


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


def repack(source: Path, target: Path, change, compression: int = zipfile.ZIP_STORED) -> Path:
    """Copy an archive, passing each (name, data) through a function."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", compression) as new:
        for entry in old.infolist():
            renamed, data = change(entry.filename, old.read(entry))
            if renamed:
                new.writestr(renamed, data)
    return target


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


def test_views_and_complex_numbers_are_read(tmp_path):
    model = TransE(triples_factory=FACTORIES[False], embedding_dim=DIM).eval()
    embeddings = model.entity_representations[0]._embeddings
    embeddings.weight = torch.nn.Parameter(torch.rand(DIM, ENTITIES + 2).t()[1:-1])
    assert not embeddings.weight.is_contiguous()
    save(model, tmp_path / "m.pkl")
    # PyKEEN itself scores with contiguous weights only.
    embeddings.weight = torch.nn.Parameter(embeddings.weight.detach().contiguous())
    assert_same_scores(tmp_path / "m.pkl", model)
    embeddings.weight = torch.nn.Parameter(torch.rand(ENTITIES, DIM) * 1j)
    found = read_pickled_model(save(model, tmp_path / "m.pkl"))
    assert found.state["entity_representations.0._embeddings.weight"].is_complex()


# Hostile archives: the zip file


@pytest.mark.parametrize("part", range(40))
def test_files_cut_short_are_refused(part, transe, tmp_path):
    data = transe.read_bytes()
    path = tmp_path / "m.pkl"
    path.write_bytes(data[: part * len(data) // 40 + part % 7])
    refusal(path)


@pytest.mark.parametrize("seed", range(40))
def test_flipped_bytes_are_refused_or_harmless(seed, transe, tmp_path):
    data = bytearray(transe.read_bytes())
    for i in range(5):
        data[(seed * 7919 + i * 104_729) % len(data)] ^= 1 << (seed % 8)
    path = tmp_path / "m.pkl"
    path.write_bytes(data)
    try:
        found = read_pickled_model(path)
    except KgdashError:
        return
    whole = read_pickled_model(transe).state
    assert all(torch.equal(found.state[name], whole[name]) for name in whole)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file"),
        (b"head\trelation\ttail\n", "not an archive of torch"),
        (pickle.dumps({"a": 1}), "a plain pickle"),
        (b"PK\x03\x04 and nothing more", "damaged or cut short"),
        (b"\x1f\x8b\x08\x00", "not an archive of torch"),
    ],
)
def test_other_files(content, message, tmp_path):
    path = tmp_path / "m.pkl"
    path.write_bytes(content)
    assert message in refusal(path)


def test_old_format_of_torch(tmp_path):
    path = tmp_path / "m.pkl"
    torch.save(make("TransE"), path, _use_new_zipfile_serialization=False)
    assert "before 1.6" in refusal(path)


def test_missing_file_and_directory(tmp_path):
    assert "cannot be read: No such file" in refusal(tmp_path / "nowhere.pkl")
    assert "cannot be read" in refusal(tmp_path)


def test_foreign_and_odd_archives(transe, tmp_path):
    path = tmp_path / "m.pkl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("word/document.xml", "<a/>")
    assert "not one of torch" in refusal(path)
    for name in ("../evil", "/etc/passwd", "m/../../evil", "m\\evil", "evil"):
        assert "odd name" in refusal(archive(path, b"\x80\x02N.", **{name: b""}))
    with pytest.warns(UserWarning, match="Duplicate"):
        archive(path, b"\x80\x02N.", **{"m/data.pkl": b""})
    assert "odd name" in refusal(path)
    repack(transe, path, lambda *entry: entry, zipfile.ZIP_DEFLATED)
    assert "compressed" in refusal(path)
    repack(transe, path, lambda n, d: (n, b"big" if n.endswith("byteorder") else d))
    assert "big-endian" in refusal(path)
    repack(transe, path, lambda n, d: ("" if n.endswith("data/0") else n, d))
    assert "found nothing" in refusal(path)


def test_a_long_listing_is_refused_before_it_is_read(tmp_path):
    # Of 1.4 million files it took 11 seconds.
    path = tmp_path / "m.pkl"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(20):
            archive.writestr(f"a/{number}" + "x" * 60_000, b"")
    with pytest.raises(KgdashError, match=r"lists its files in 1,\d+,\d+ bytes; expected at most"):
        read_pickled_model(path)


def test_entries_that_overlap_are_refused(transe, tmp_path):
    data = transe.read_bytes()
    with zipfile.ZipFile(transe) as file:
        claims = [entry for entry in file.infolist() if entry.filename.endswith("/data/1")]
    size = claims[0].file_size.to_bytes(4, "little")
    start = data.rindex(b"PK\x01\x02", 0, data.rindex(b"/data/1"))
    record = data[start:].replace(size, (1 << 30).to_bytes(4, "little"))
    path = tmp_path / "m.pkl"
    path.write_bytes(data[:start] + record)
    assert "claim more bytes" in refusal(path)
