"""Readers of trained models: runs of ours, PyKEEN's directories and pickles, zip files of runs."""

import gzip
import hashlib
import io
import json
import shutil
from functools import cache
from pathlib import Path
from random import Random

import pytest
import torch
from pykeen.models import Model, model_resolver
from pykeen.triples import CoreTriplesFactory

from kgdash.formats import pykeen_directory
from kgdash.formats.pykeen_directory import read_pykeen_directory
from kgdash.formats.pykeen_model_file import PickledModel, read_pickled_model
from kgdash.formats.run_directory import MANIFEST, write_run
from kgdash.runs.adding import add_zip
from kgdash.runs.description import describe_run
from kgdash.runs.loading import load
from kgdash.runs.recent import describe_recent, note_opened
from kgdash.scoring.build_model import scoring_state
from kgdash.scoring.model_spec import ModelSpec
from tests.fuzz.harness import scratch
from tests.fuzz.mutation.bytewise import change_bytes
from tests.fuzz.mutation.containers import change_file, change_folder, pack, unpack
from tests.fuzz.reader import Reader
from tests.fuzz.readers.graphs import GRAPH, lines

#: architectures that are scored in different ways, small
_MODELS = {
    "TransE": {"embedding_dim": 4},
    "RotatE": {"embedding_dim": 4},
    "ERMLP": {"embedding_dim": 4, "hidden_dim": 3},
    "RGCN": {"embedding_dim": 4, "num_layers": 1},
}

_TRAINING = {
    "dataset": "tiny",
    "model": "TransE",
    "random_seed": 0,
    "losses": [2.0, 1.5],
    "evaluation": {"inverse_harmonic_mean_rank": 0.5, "hits_at_10": 0.75},
    "seconds": 1.5,
}

_RESULTS = {
    "losses": [2.0, 1.5],
    "metrics": {
        "both": {
            "realistic": {
                "inverse_harmonic_mean_rank": 0.5,
                **{f"hits_at_{k}": 0.5 for k in (1, 3, 10)},
            }
        }
    },
}


@cache
def tiny_model(name: str) -> Model:
    """Make an untrained model of `GRAPH`, the same every time."""
    train = torch.from_numpy(GRAPH.splits["train"])
    factory = CoreTriplesFactory(train, GRAPH.num_entities, GRAPH.num_relations)
    made = model_resolver.lookup(name)(triples_factory=factory, random_seed=0, **_MODELS[name])
    return made.eval()


@cache
def _pickled(name: str) -> bytes:
    stream = io.BytesIO()
    torch.save(tiny_model(name), stream, pickle_protocol=4)
    return pack(unpack(stream.getvalue()))


@cache
def _ours(name: str) -> dict[str, bytes]:
    spec, state = ModelSpec(name, _MODELS[name]), scoring_state(tiny_model(name))
    with scratch() as folder:
        made = write_run(folder / "run", GRAPH, spec, state, _TRAINING, {"notes": ["a note"]})
        return {path.name: path.read_bytes() for path in sorted(made.iterdir())}


def _runs() -> list[bytes]:
    return [pack(_ours(name)) for name in _MODELS]


def _zipped() -> list[bytes]:
    files = {f"run/{name}": content for name, content in _ours("TransE").items()}
    pykeen = {"a/trained_model.pkl": _pickled("TransE"), "a/results.json": b"{}"}
    return [pack(files, deflated=True), pack(_ours("TransE")), pack(pykeen)]


def _pykeen() -> list[bytes]:
    entities = [("id", "label"), *((str(n), f"e{n}") for n in range(GRAPH.num_entities))]
    relations = [("id", "label"), *((str(n), f"r{n}") for n in range(GRAPH.num_relations))]
    triples = GRAPH.splits["train"].astype(str).tolist()
    named = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in triples]
    numbered = [("head", "relation", "tail"), *triples]
    return [
        pack(
            {
                "trained_model.pkl": _pickled(name),
                "results.json": json.dumps(_RESULTS).encode(),
                "training_triples/entity_to_id.tsv.gz": _packed(entities),
                "training_triples/relation_to_id.tsv.gz": _packed(relations),
                "training_triples/numeric_triples.tsv.gz": _packed(numbered),
                "data/train.tsv": lines(named),
                "data/test.tsv": lines(named[:2]),
            }
        )
        for name in ("TransE", "RotatE")
    ]


def _packed(rows) -> bytes:
    return gzip.compress(lines(rows), mtime=0)


def change_run(data: bytes, random: Random) -> bytes:
    """Change a file of a run and, mostly, give its new checksum in run.json."""
    files = unpack(change_folder(data, random))
    try:
        manifest = json.loads(files[MANIFEST])
        for name in manifest["sha256"]:
            manifest["sha256"][name] = hashlib.sha256(files[name]).hexdigest()
    except (ValueError, LookupError, TypeError, RecursionError):
        return pack(files)
    if random.random() < 0.95:
        files[MANIFEST] = json.dumps(manifest).encode()
    return pack(files)


def _load(path: Path) -> None:
    described = describe_run("run", path)
    json.dumps(described).encode()
    run = load(path)
    names = (run.graph.name, *run.graph.entity_labels, *run.graph.relation_labels, *run.notes)
    "\n".join((*names, run.digest)).encode()


def _add(path: Path) -> None:
    kept = add_zip(path.read_bytes(), "run.zip")
    shutil.rmtree(kept)


def _recent() -> list[bytes]:
    content = {"format": "kgdash-recent-runs", "folders": [["/tmp", ""], ["/", "umls"]]}
    return [json.dumps(content).encode()]


def _note(path: Path) -> None:
    describe_recent()
    note_opened("/usr")
    describe_recent()


def _change_model(data: bytes, random: Random) -> bytes:
    if random.random() < 0.2:
        return change_bytes(data, random)
    return change_file("trained_model.pkl", data, random)


def _load_directory(path: Path) -> None:
    """Read a directory; models that come again and again, having a reader of their own, once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pykeen_directory, "read_pickled_model", _known_model)
        read_pykeen_directory(path, str(path / "data"))


def _known_model(path: Path) -> PickledModel:
    content = path.read_bytes() if path.is_file() else b""
    for name in _MODELS:
        if content == _pickled(name):
            return _plain_model(name)
    return read_pickled_model(path)


@cache
def _plain_model(name: str) -> PickledModel:
    with scratch() as folder:
        (folder / "model.pkl").write_bytes(_pickled(name))
        return read_pickled_model(folder / "model.pkl")


READERS = (
    Reader("runs", _runs, _load, "case.folder", change_run),
    Reader("zipped-runs", _zipped, _add, "case.zip"),
    Reader(
        "pykeen-models",
        lambda: [_pickled(name) for name in _MODELS],
        read_pickled_model,
        "case.pkl",
        _change_model,
    ),
    Reader("pykeen-directories", _pykeen, _load_directory, "case.folder"),
    Reader("recent-runs", _recent, _note, "data/recent-runs.json"),
)
