"""Readers of what trust rests on: places of trainings, models of folds, tables, triples."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from kgdash.files.table_cache import replace_table, stored_table, table_lock
from kgdash.formats.run_directory import MANIFEST, write_run
from kgdash.graph import IDS
from kgdash.graph.folds import cut_folds
from kgdash.graph.triple_files import stream_graph_triples
from kgdash.runs.checkpoint import Checkpoint
from kgdash.runs.training import TrainingConfig
from kgdash.scoring.build_model import scoring_state
from kgdash.studies.audit.cross_fitting import HELD_OUT, NEEDED, kept_audit
from kgdash.studies.audit.cross_fitting import _key as audit_key
from kgdash.studies.correlation.fold_runs import fold_run, run_folder
from kgdash.studies.probability.set_tables import _key as sets_key
from tests.fuzz.harness import scratch
from tests.fuzz.mutation.bytewise import change_bytes
from tests.fuzz.mutation.containers import pack
from tests.fuzz.reader import Reader
from tests.fuzz.readers.graphs import GRAPH, lines
from tests.fuzz.readers.models import change_run, tiny_model
from tests.fuzz.readers.own_files import RUN

_PLACE = {"graph": GRAPH.digest, "training": {"seed": 1}}
_SAID = {"losses": [2.0, 1.5], "checks": [[1, 0.25]], "seconds": 1.5}
_TENSORS = {
    "weights.0": torch.arange(12.0).reshape(4, 3),
    "optimizer.0.step": torch.tensor(7.0),
    "random": torch.arange(8, dtype=torch.uint8),
}


@cache
def _checkpoint() -> tuple[str, bytes]:
    """Return the name of a training's place, and its content."""
    with scratch() as folder:
        Checkpoint(_PLACE).write(_SAID, _TENSORS)
        (path,) = (folder / "cache").glob("*.safetensors")
        return path.name, path.read_bytes()


def _use_checkpoint(path: Path) -> None:
    """What is read is what was written, or nothing."""
    found = Checkpoint(_PLACE).read()
    if found is not None:
        assert found[0] == _SAID
        assert found[1].keys() == _TENSORS.keys()
        assert all(torch.equal(found[1][name], each) for name, each in _TENSORS.items())


_CONFIG = TrainingConfig("TransE", {"embedding_dim": 4}, epochs=1)
(_FOLD,) = cut_folds(GRAPH, 0)


def _fold_runs() -> list[bytes]:
    model = tiny_model("TransE")
    with scratch() as folder:
        made = write_run(
            folder / "run", _FOLD.graph, _CONFIG.spec(), scoring_state(model), _CONFIG.record(), {}
        )
        return [pack({path.name: path.read_bytes() for path in sorted(made.iterdir())})]


def _use_fold_run(path: Path) -> None:
    """Find the model of a fold, as audits and cross-validation do; none is trained."""
    workdir = path.parent / "folds"
    place = run_folder(workdir, _FOLD, _CONFIG)
    place.parent.mkdir(parents=True)
    path.rename(place)
    try:
        if (place / MANIFEST).is_file():
            run = replace(fold_run(workdir, _FOLD, _CONFIG), graph=GRAPH)
            run.scorer.score_tails(torch.tensor([[7, 2]]))
    finally:
        shutil.rmtree(workdir)


def _table_reader(name: str, key: Mapping[str, Any], table: pd.DataFrame, use: Callable) -> Reader:
    """Make a reader of a table on disk: bytes change, and it is what was written, or none."""
    place = table_lock(key).stem

    def make() -> list[bytes]:
        with scratch() as folder:
            replace_table(key, table, {"kind": "audit", "seconds": 1.5})
            return [(folder / "cache" / f"{place}.parquet").read_bytes()]

    def read(path: Path) -> None:
        found = use()
        assert found is None or found.equals(table)

    return Reader(name, make, read, f"cache/{place}.parquet", change=change_bytes)


_ROWS = 8
_AUDIT = pd.DataFrame(GRAPH.splits["train"], columns=IDS).assign(
    suspicion=pd.array([1, 2, *[None] * (_ROWS - 2)], dtype="Int64"),
    relik=[0.25, 0.5, *[np.nan] * (_ROWS - 2)],
    status=[HELD_OUT, HELD_OUT, *[NEEDED] * (_ROWS - 2)],
)
_NAMED = [(f"e{h}", f"r{r}", f"E{t}") for h, r, t in GRAPH.all_triples.tolist()]
_PAIR = ("relation", 0.1)
_THRESHOLDS = pd.DataFrame(
    {"group": [-1, 0], "queries": [12, 6], "threshold": [0.5, np.inf], "score": ["rank", "rank"]}
)


def _triples(path: Path) -> None:
    for part in stream_graph_triples(path, GRAPH, 3):
        assert part.min() >= 0
        assert (part < (GRAPH.num_entities, GRAPH.num_relations, GRAPH.num_entities)).all()


READERS = (
    Reader("checkpoints", lambda: [_checkpoint()[1]], _use_checkpoint, f"cache/{_checkpoint()[0]}"),
    Reader("fold-runs", _fold_runs, _use_fold_run, "case.folder", change_run),
    _table_reader("audits", audit_key(GRAPH, _CONFIG), _AUDIT, lambda: kept_audit(GRAPH, _CONFIG)),
    _table_reader(
        "answer-sets",
        sets_key(RUN, "thresholds", _PAIR),
        _THRESHOLDS,
        lambda: stored_table(sets_key(RUN, "thresholds", _PAIR)),
    ),
    Reader("trust-triples", lambda: [lines(_NAMED)], _triples, "case.tsv"),
)
