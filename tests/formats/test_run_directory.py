"""Our own form on disk: what is written is read again; what was changed is refused."""

import hashlib
import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

from kgdash.errors import KgdashError
from kgdash.formats import run_directory as safe_format
from kgdash.formats.run_directory import (
    GRAPH,
    MANIFEST,
    TRIPLES,
    WEIGHTS,
    check_free,
    read_manifest,
    read_run,
    write_run,
)
from kgdash.formats.tensor_file import read_tensors
from kgdash.graph import arrow_texts
from kgdash.runs.loading import load
from kgdash.scoring.model_spec import ModelSpec
from tests.support.fakes import make_graph
from tests.support.paths import ROOT
from tests.support.tensor_files import listing

GROUND = replace(
    make_graph([(0, 0, 1), (1, 1, 2)], [(2, 0, 0)], [(0, 1, 0)]),
    entity_labels=("naïve", "E1", "E2"),
    left_out={"test": 3},
)
SPEC = ModelSpec("DistMult", {"embedding_dim": 4})
STATE = {
    "entity_representations.0._embeddings.weight": torch.arange(12.0).view(3, 4),
    "relation_representations.0._embeddings.weight": torch.ones(2, 4),
}


@pytest.fixture
def folder(tmp_path):
    return write_run(tmp_path / "mine", GROUND, SPEC, STATE, {"losses": [2.0, 1.5]}, {"form": "x"})


def alter(folder, name, change):
    """Change one file and give the manifest the right checksum for it."""
    path = folder / name
    change(path)
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["sha256"][name] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / MANIFEST).write_text(json.dumps(manifest))


def alter_json(folder, name, **changes):
    def change(path):
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    if name == MANIFEST:
        change(folder / name)
    else:
        alter(folder, name, change)


class TestRoundTrip:
    def test_all_comes_back(self, folder):
        graph, spec, state, manifest = read_run(folder)
        assert graph.digest == GROUND.digest
        assert (graph.name, graph.entity_labels, graph.relation_labels) == (
            GROUND.name,
            GROUND.entity_labels,
            GROUND.relation_labels,
        )
        assert graph.left_out == {"test": 3}
        assert all(graph.splits[s].dtype == np.int64 for s in graph.splits)
        assert spec == SPEC
        assert state.keys() == STATE.keys()
        assert all(torch.equal(state[key], STATE[key]) for key in STATE)
        assert manifest["training"] == {"losses": [2.0, 1.5]}
        assert manifest["provenance"] == {"form": "x"}

    @pytest.mark.parametrize("some", [1, 2, 3])
    def test_names_are_written_some_at_a_time_as_all_at_once(
        self, folder, tmp_path, monkeypatch, some
    ):
        monkeypatch.setattr(arrow_texts, "_BLOCK", some)
        again = write_run(tmp_path / "again", GROUND, SPEC, STATE, {}, {})
        assert (again / GRAPH).read_bytes() == (folder / GRAPH).read_bytes()
        names = json.loads((again / GRAPH).read_text())
        assert names["entity_labels"] == ["naïve", "E1", "E2"]
        assert (names["relation_labels"], names["left_out"]) == (["R0", "R1"], {"test": 3})
        start = '{\n "name": "tiny",\n "entities": [\n  "e0",\n  "e1",'
        assert (folder / GRAPH).read_text().startswith(start)

    @pytest.mark.parametrize("entities", [256, 257, 65_536, 65_537])
    def test_ids_of_every_width(self, tmp_path, entities):
        last = entities - 1
        graph = make_graph([(last, 0, 0), (0, 0, last)], entities=entities)
        write_run(tmp_path / "wide", graph, SPEC, STATE, {}, {})
        assert read_run(tmp_path / "wide")[0].splits["train"].tolist() == [
            [0, 0, last],
            [last, 0, 0],
        ]

    def test_weights_that_are_transposed_or_cut_from_wider_ones(self, tmp_path):
        wide, (entities, relations) = torch.ones(2, 8), STATE
        state = {entities: STATE[entities].t().contiguous().t(), relations: wide[:, ::2]}
        write_run(tmp_path / "views", GROUND, SPEC, state, {}, {})
        found = read_run(tmp_path / "views")[2]
        assert all(torch.equal(found[key], STATE[key]) for key in STATE)

    def test_half_precision_is_read_as_single(self, tmp_path):
        halved = {key: value.half() for key, value in STATE.items()}
        halved["entity_representations.0._embeddings.weight"] += 0.1
        folder = write_run(tmp_path / "half", GROUND, SPEC, halved, {}, {})
        state = read_run(folder)[2]
        assert {value.dtype for value in state.values()} == {torch.float32}
        assert all(torch.equal(state[key].half(), halved[key]) for key in halved)
        widened = {key: value.float() for key, value in halved.items()}
        write_run(tmp_path / "single", GROUND, SPEC, widened, {}, {})
        assert load(folder).digest == load(tmp_path / "single").digest

    def test_bfloat16_is_read_as_single(self, tmp_path):
        short = {key: value.bfloat16() for key, value in STATE.items()}
        state = read_run(write_run(tmp_path / "short", GROUND, SPEC, short, {}, {}))[2]
        assert all(torch.equal(state[key], short[key].float()) for key in short)

    def test_what_is_in_the_folder(self, folder):
        assert {p.name for p in folder.iterdir()} == {MANIFEST, WEIGHTS, GRAPH, TRIPLES}
        assert [p.name for p in folder.parent.iterdir()] == ["mine"]
        assert json.loads((folder / MANIFEST).read_text())["version"] == 1

    def test_the_model_scores_as_its_weights_say(self, folder):
        run = load(folder)
        # DistMult: Σ h · r · t, with r = 1
        expected = float((STATE["entity_representations.0._embeddings.weight"][0:2].prod(0)).sum())
        assert float(run.scorer.score_triples(torch.tensor([[0, 0, 1]]))) == expected
        assert run.name == "mine"
        assert run.notes == (
            "3 test triples left out: they hold an entity or relation unseen in training",
        )


class TestWriting:
    def test_never_over_something(self, folder, tmp_path):
        before = (folder / MANIFEST).read_bytes()
        dead = folder.with_name(
            ".mine-00000001.kgdash-part"
        )  # of a writer that was killed meanwhile
        dead.mkdir()
        with pytest.raises(KgdashError, match="mine exists already; remove it or choose another"):
            write_run(folder, GROUND, SPEC, STATE, {}, {})
        assert (folder / MANIFEST).read_bytes() == before
        assert not dead.exists()
        (tmp_path / "file").write_text("")
        with pytest.raises(KgdashError, match="exists already"):
            write_run(tmp_path / "file", GROUND, SPEC, STATE, {}, {})
        (tmp_path / "link").symlink_to("nowhere")  # found out after a training, once
        with pytest.raises(KgdashError, match="link exists already"):
            check_free(tmp_path / "link")

    def test_makes_the_folders_above(self, tmp_path):
        write_run(tmp_path / "a" / "b" / "run", GROUND, SPEC, STATE, {}, {})
        assert read_manifest(tmp_path / "a" / "b" / "run")["format"] == "kgdash-run"

    @pytest.mark.parametrize("step", ["_write_graph", "_write_json", "file_digest"])
    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
    def test_a_failure_leaves_nothing(self, tmp_path, monkeypatch, step, error):
        def fail(*args):
            raise error

        monkeypatch.setattr(safe_format, step, fail)
        expected = KgdashError if isinstance(error, OSError) else KeyboardInterrupt
        with pytest.raises(expected):
            write_run(tmp_path / "mine", GROUND, SPEC, STATE, {}, {})
        assert os.listdir(tmp_path) == []

    def test_a_full_disk_under_safetensors(self, tmp_path, monkeypatch):
        def fail(state, path):
            path.write_bytes(b"half")
            raise safetensors.SafetensorError("I/O error: No space left on device")

        monkeypatch.setattr(safetensors.torch, "save_file", fail)
        with pytest.raises(KgdashError, match=r"can not write .*mine: .*No space left"):
            write_run(tmp_path / "mine", GROUND, SPEC, STATE, {}, {})
        assert os.listdir(tmp_path) == []

    def test_where_nothing_can_be_written(self, tmp_path):
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(KgdashError, match="can not write"):
            write_run(tmp_path / "file" / "run", GROUND, SPEC, STATE, {}, {})

    def test_what_json_can_not_hold(self, tmp_path):
        with pytest.raises(TypeError):
            write_run(tmp_path / "mine", GROUND, SPEC, STATE, {"x": object()}, {})
        assert os.listdir(tmp_path) == []


class TestTampering:
    @pytest.mark.parametrize("name", [WEIGHTS, GRAPH, TRIPLES])
    def test_one_byte(self, folder, name):
        data = bytearray((folder / name).read_bytes())
        data[-3] ^= 1
        (folder / name).write_bytes(bytes(data))
        with pytest.raises(KgdashError, match=f"{name} is damaged or was changed.*SHA-256"):
            load(folder)

    @pytest.mark.parametrize("name", [WEIGHTS, GRAPH, TRIPLES])
    def test_missing(self, folder, name):
        (folder / name).unlink()
        with pytest.raises(KgdashError, match=f"can not read .*{name}: No such file"):
            load(folder)

    @pytest.mark.parametrize("sums", [{}, {"weights.safetensors": 3}])
    def test_no_checksum_is_no_pass(self, folder, sums):
        alter_json(folder, MANIFEST, sha256=sums)
        with pytest.raises(KgdashError, match="is damaged or was changed"):
            load(folder)

    @pytest.mark.parametrize("name", [WEIGHTS, TRIPLES])
    def test_no_safetensors(self, folder, name):
        alter(folder, name, lambda path: path.write_bytes(b"\x80\x05pickle?"))
        with pytest.raises(KgdashError, match=f"{name} is not a whole safetensors file"):
            load(folder)

    @pytest.mark.parametrize("name", [WEIGHTS, TRIPLES])
    def test_more_tensors_than_a_model_has(self, folder, name):
        alter(folder, name, lambda path: path.write_bytes(listing(20_000)))
        with pytest.raises(KgdashError, match=rf"{name} has a header of 1,"):
            load(folder)


class TestManifest:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"version": 2}, "expected format kgdash-run version 1; found 'kgdash-run' version 2"),
            ({"format": "other"}, "found 'other' version 1"),
            ({"training": None}, "expected an object under 'training'; found none"),
            ({"sha256": []}, "expected an object under 'sha256'"),
            ({"model": {}}, "expected keys"),
            ({"model": {**SPEC.to_json(), "name": "Distmult"}}, "did you mean 'DistMult'"),
            ({"model": {**SPEC.to_json(), "kwargs": {"embedding_dim": 5}}}, "expected shape"),
        ],
    )
    def test_what_does_not_fit(self, folder, changes, message):
        alter_json(folder, MANIFEST, **changes)
        with pytest.raises(KgdashError, match=message):
            load(folder)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "run.json is not valid JSON"),
            ("[]", "expected a JSON object; found list"),
            ("", "run.json is not valid JSON"),
            ("[" * 100_000, "run.json is not valid JSON"),
            (b"\xff\xfe{", "run.json is not valid JSON"),
        ],
    )
    def test_malformed(self, folder, text, message):
        (folder / MANIFEST).write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(KgdashError, match=message):
            load(folder)

    @pytest.mark.parametrize("name", ["run.json", "graph.json"])
    def test_more_lists_than_any_record_has(self, folder, name):
        """Thirty times their text in memory, and a minute of all others' time."""
        alter_json(folder, name, more=[[]] * 2**18)
        with pytest.raises(
            KgdashError, match=rf"{name} is not valid JSON: more than 262,144 objects"
        ):
            load(folder)

    def test_numbers_in_place_of_names(self, folder):
        alter_json(folder, "graph.json", more=["a,b", '"', *[0] * (2**18 + 64)])
        with pytest.raises(
            KgdashError, match=r"graph.json is not valid JSON: more than 262,144 ob"
        ):
            load(folder)
        alter_json(folder, "graph.json", more=["a,b,c,d", '"'] * 2**17)
        assert load(folder)

    def test_huge(self, folder, monkeypatch):
        monkeypatch.setitem(safe_format._MOST, MANIFEST, 100)
        with pytest.raises(KgdashError, match=r"can not read .*run.json: it is larger than 0 KiB"):
            load(folder)

    @pytest.mark.parametrize("name", ["weights.safetensors", "graph.json"])
    @pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
    def test_what_never_ends(self, folder, name, make):
        (folder / name).unlink()
        make(folder / name)
        with pytest.raises(KgdashError, match=rf"can not read .*{name}: it is a pipe, a device"):
            load(folder)


class TestContent:
    """Right checksums, wrong content: what a stranger could send."""

    @pytest.mark.parametrize(("value", "said"), [(float("nan"), "NaN"), (float("inf"), "infinite")])
    def test_weights_that_are_no_numbers(self, folder, value, said):
        def change(path):
            state = {key: tensor.clone() for key, tensor in STATE.items()}
            state["relation_representations.0._embeddings.weight"][1, 2] = value
            safetensors.torch.save_file(state, path)

        alter(folder, WEIGHTS, change)
        with pytest.raises(
            KgdashError, match=rf"of 8 weights .*1 (are )?{said}.*training diverged"
        ):
            load(folder)

    @pytest.mark.parametrize(
        ("ids", "message"),
        [
            (np.array([[0, 0, 3]]), "train holds ids that .*graph.json does not name"),
            (np.array([[0, 0, 1], [1, 1, 2], [0, 0, 1]]), "train holds a triple twice; write the"),
            (np.array([[0, 0, 1]] * 2, np.uint8), "train holds a triple twice; write the"),
            (np.array([[0, 2, 0]]), "train holds ids"),
            (np.array([[-1, 0, 0]]), "train holds ids"),
            (np.array([[2**64 - 1, 0, 0]], dtype=np.uint64), "train holds ids"),
            (np.array([[0.0, 0.0, 1.0]]), r"expected whole numbers train of shape \(n, 3\)"),
            (np.array([[0, 1]]), "expected whole numbers train"),
            (np.array([0, 1, 2]), "expected whole numbers train"),
            (None, "expected whole numbers train"),
        ],
    )
    def test_triples(self, folder, ids, message):
        def change(path):
            arrays = {s: np.ascontiguousarray(x) for s, x in GROUND.splits.items()}
            if ids is None:
                del arrays["train"]
            else:
                arrays["train"] = ids
            safetensors.numpy.save_file(arrays, path)

        alter(folder, TRIPLES, change)
        with pytest.raises(KgdashError, match=message):
            load(folder)

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e5m2, torch.bool])
    def test_triples_of_types_that_numpy_lacks(self, folder, dtype):
        ids = {split: torch.zeros(1, 3).to(dtype) for split in GROUND.splits}
        alter(folder, TRIPLES, lambda path: safetensors.torch.save_file(ids, path))
        with pytest.raises(
            KgdashError, match=r"triples\.safetensors: expected whole numbers train"
        ):
            load(folder)

    def test_weights_of_eight_bits(self, folder):
        state = {key: value.to(torch.float8_e4m3fn) for key, value in STATE.items()}
        alter(folder, WEIGHTS, lambda path: safetensors.torch.save_file(state, path))
        with pytest.raises(
            KgdashError, match=r"mine: .*expected torch\.float32, found torch\.float8"
        ):
            load(folder)

    def test_no_triple_in_any_split(self, folder):
        empty = {split: torch.zeros(0, 3, dtype=torch.int32) for split in GROUND.splits}
        alter(folder, TRIPLES, lambda path: safetensors.torch.save_file(empty, path))
        with pytest.raises(KgdashError, match=r"triples\.safetensors holds no triple in any split"):
            load(folder)

    @pytest.mark.parametrize(
        ("name", "changes"),
        [
            (GRAPH, {"entities": ["a\ud800", "b", "c"]}),
            (GRAPH, {"entity_labels": ["a", "\udfff", "c"]}),
            (GRAPH, {"relations": ["\ude00\ud83d", "s"]}),
            (MANIFEST, {"graph": "\ud800"}),
            (MANIFEST, {"training": {"loss": "\ud800"}}),
        ],
    )
    def test_halves_of_characters(self, folder, name, changes):
        alter_json(folder, name, **changes)
        with pytest.raises(KgdashError, match=rf"{name} is not valid JSON: .* is half of a char"):
            load(folder)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"entities": ["a", "b"]}, "holds ids that .* does not name"),
            ({"entities": ["a", "b", "b"]}, "the entities are not distinct"),
            ({"entities": ["a", "b", 3]}, "expected a list of names under 'entities'"),
            ({"entities": []}, "expected a list of names under 'entities'"),
            ({"relations": None}, "expected a list of names under 'relations'"),
            ({"entity_labels": ["x"]}, "expected 3 entity_labels; found 1"),
            ({"relation_labels": ["x", "y", "z"]}, "expected 2 relation_labels; found 3"),
            ({"relation_labels": "xy"}, "expected a list of names under 'relation_labels'"),
            (
                {"entities": ["a", "b", "c", "d"], "entity_labels": None},
                "weights are for 3 entities",
            ),
        ],
    )
    def test_names(self, folder, changes, message):
        alter_json(folder, GRAPH, **changes)
        with pytest.raises(KgdashError, match=message):
            load(folder)

    @pytest.mark.parametrize(
        "left_out",
        [None, 7, [1], {"test": "many", "other": 3}, {"test": -5, "valid": True, "train": 10**400}],
    )
    def test_counts_that_are_none_are_dropped(self, folder, left_out):
        alter_json(folder, GRAPH, left_out=left_out)
        assert load(folder).notes == ()

    def test_labels_may_repeat(self, folder):
        alter_json(folder, GRAPH, entity_labels=["x", "x", "x"])
        assert load(folder).graph.entity_labels == ("x", "x", "x")


@pytest.mark.parametrize(("mode", "above"), [(0o644, 0o755), (0o666, 0o755), (0o644, 0o777)])
def test_weights_that_others_may_change_are_not_mapped(tmp_path, mode, above):
    """They were changed between their digest and their use: another run's table was wrong then."""
    shutil.copytree(ROOT / "kgdash" / "demo" / "umls-transe", tmp_path / "run")
    weights = tmp_path / "run" / WEIGHTS
    weights.chmod(mode)
    weights.parent.chmod(above)
    state = read_run(tmp_path / "run")[2]
    before = {name: tensor.clone() for name, tensor in state.items()}
    with weights.open("r+b") as stream:
        stream.seek(-64, os.SEEK_END)
        stream.write(bytes(64))
    changed = any(not torch.equal(state[name], before[name]) for name in state)
    assert changed == ((mode, above) == (0o644, 0o755))


def test_what_others_could_change_when_it_was_opened_is_not_mapped(tmp_path, monkeypatch):
    """A link to another's file led to one's own by the time that its rights were asked for."""
    shutil.copytree(ROOT / "kgdash" / "demo" / "umls-transe", tmp_path / "run")
    (tmp_path / "run").chmod(0o777)

    def read(path, *given):
        path.parent.chmod(0o755)
        return read_tensors(path, *given)

    monkeypatch.setattr(safe_format, "read_tensors", read)
    state = read_run(tmp_path / "run")[2]
    before = {name: tensor.clone() for name, tensor in state.items()}
    with (tmp_path / "run" / WEIGHTS).open("r+b") as stream:
        stream.seek(-64, os.SEEK_END)
        stream.write(bytes(64))
    assert all(torch.equal(state[name], before[name]) for name in state)
