"""From what a user names to a Run: bundled names, safe directories, PyKEEN directories."""

import hashlib
import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch

from kgdash.errors import KgdashError, unknown_name
from kgdash.files.bounded_reading import bounded_memory, bounded_reading
from kgdash.files.shipped_tables import offer_tables
from kgdash.formats.kept_vectors import check_kept
from kgdash.formats.pykeen_directory import MODEL_FILE, read_pykeen_directory
from kgdash.formats.pykeen_model_file import PickledModel
from kgdash.formats.run_directory import MANIFEST, read_run, write_run
from kgdash.graph import KnowledgeGraph
from kgdash.graph.held_out import repeated_triples
from kgdash.runs import Run
from kgdash.runs.bundled import DEMO
from kgdash.runs.library import named_runs, run_folder
from kgdash.scoring import Scorer
from kgdash.scoring.build_model import build_model
from kgdash.scoring.kernel_scorer import fastest_scorer
from kgdash.scoring.model_spec import ModelSpec
from kgdash.scoring.pykeen_scorer import best_device
from kgdash.scoring.reckoned_memory import made_bytes
from kgdash.scoring.turning import check_turning

#: what follows of a split that holds triples of another
_NOT_HELD_OUT = {
    "train": "not held out, they tell what was learnt, and not what is predicted",
    "valid": "what is fitted or chosen on valid looks better than it is",
}


def load(source: str | Path, dataset: str | Path | None = None) -> Run:
    """Load a run.

    :param source: the name of a bundled run or of one in the folder of runs (`named_runs`), a
        directory in our safe form, or one as PyKEEN's ``PipelineResult.save_to_directory`` makes
    :param dataset: for a PyKEEN directory: the dataset's PyKEEN name or folder
    :return: the run, its model in evaluation mode on the accelerator if there is one
    :raises KgdashError: if nothing is there, it is damaged or hostile, or does not fit the dataset
    """
    if not str(source).strip():
        raise KgdashError("expected the name or the folder of a run; found an empty text")
    folder = run_folder(source)
    with bounded_reading(folder):
        run, pickled = _load(folder, source, dataset)
    if pickled is not None:
        check_kept(pickled, folder / MODEL_FILE)  # takes what scoring takes
    return run


def _load(
    folder: Path, source: str | Path, dataset: str | Path | None
) -> tuple[Run, PickledModel | None]:
    name = folder.name or folder.resolve().name
    # os.path, unlike Path, says of a name that can not be that nothing is there.
    if os.path.isfile(folder / MANIFEST):
        if dataset is not None:
            raise KgdashError(
                f"{folder} holds its own graph; leave the dataset out (--dataset is for PyKEEN "
                "directories)"
            )
        graph, spec, state, manifest = read_run(folder)
        if folder.parent == DEMO:
            offer_tables(folder, manifest["sha256"])
        named = str(source) if str(source) in named_runs() else str(folder)
        provenance = {**manifest["provenance"], "source": named}
        return assemble(name, graph, spec, state, manifest["training"], provenance), None
    if os.path.isfile(folder / MODEL_FILE):
        graph, pickled, training, notes = read_pykeen_directory(
            folder, None if dataset is None else str(dataset)
        )
        provenance = {
            "source": str(folder),
            "form": "PyKEEN directory",
            "dataset": trained_on(graph, dataset),
            "notes": list(notes),
        }
        return assemble(name, graph, pickled.spec, pickled.state, training, provenance), pickled
    if os.path.isdir(folder):
        present = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
        raise KgdashError(
            f"{folder} is not a run: expected {MANIFEST} (our form) or {MODEL_FILE} (PyKEEN's); "
            f"found {present}"
        )
    if os.path.exists(folder):
        raise KgdashError(f"{folder} is a file; give the directory of a run")
    if len(Path(source).parts) > 1:
        raise KgdashError(f"There is no folder {source}.")
    raise unknown_name("run", str(source), list(named_runs()), "the runs here, nor a directory")


def _scoring_bound(model: Any, name: str) -> AbstractContextManager[None]:
    """Let what is made of all edges or relations, which `check_made` bounds, be more than is read.

    Vectors that pass messages are made for the scorer, with a copy.
    """
    if not (made := made_bytes(model)):
        return nullcontext()
    refusal = f"{name}: to score takes more memory than there is: take fewer dimensions"
    return bounded_memory(2 * made, refusal, raises=True)


def assemble(
    name: str,
    graph: KnowledgeGraph,
    spec: ModelSpec,
    state: Mapping[str, torch.Tensor],
    training: Mapping[str, Any],
    provenance: Mapping[str, Any],
) -> Run:
    """Build the model and put a Run together.

    :param provenance: where the run comes from; its ``notes``, a list of texts, become the run's
    :raises KgdashError: if weights, configuration and graph do not fit
    """
    # Of gigabytes it takes seconds, on a core of its own.
    with ThreadPoolExecutor(1) as pool:
        digest = pool.submit(weights_digest, spec, state)
        model = build_model(
            spec, graph.splits["train"], graph.num_entities, graph.num_relations, state, name
        )
    with _scoring_bound(model, name):
        check_turning(model, name)
        scorer, remarks = fastest_scorer(model, best_device())
    check_fit(graph, scorer, name)
    recorded = provenance.get("notes")
    left_out = [
        f"{count:,} {split} triples left out: they hold an entity or relation unseen in training"
        for split, count in graph.left_out.items()
    ]
    repeated = [
        f"{count:,} of {len(graph.splits[split]):,} {split} triples are {other} triples, too: "
        + _NOT_HELD_OUT[other]
        for (split, other), count in repeated_triples(graph).items()
    ]
    return Run(
        name=name,
        graph=graph,
        scorer=scorer,
        spec=spec,
        weights_digest=digest.result(),
        training=training,
        provenance=provenance,
        notes=(
            *(map(str, recorded) if isinstance(recorded, list) else ()),
            *left_out,
            *repeated,
            *remarks,
        ),
    )


def weights_digest(spec: ModelSpec, state: Mapping[str, torch.Tensor]) -> str:
    """Return a SHA-256 over a model's configuration and tensors."""
    sha = hashlib.sha256(json.dumps(spec.to_json(), sort_keys=True).encode())
    for key in sorted(state):
        tensor = state[key].detach().cpu().contiguous()
        sha.update(f"\0{key}\0{tensor.dtype}\0{tuple(tensor.shape)}\0".encode())
        sha.update(tensor.flatten().view(torch.uint8).numpy().data if tensor.numel() else b"")
    return sha.hexdigest()


def convert(source: Path, out: Path, dataset: str | None) -> Path:
    """Convert a PyKEEN directory to the safe form (the command ``import``).

    :raises KgdashError: as `load`, or if ``out`` exists
    """
    if not (source / MODEL_FILE).is_file():
        raise KgdashError(f"{source} is not a PyKEEN directory: expected {MODEL_FILE} in it")
    with bounded_reading(source):
        graph, pickled, training, notes = read_pykeen_directory(source, dataset)
        spec, state = pickled.spec, pickled.state
        provenance = {
            "form": "imported from a PyKEEN directory",
            "imported_from": source.name,
            "dataset": trained_on(graph, dataset),
            "notes": list(notes),
        }
        assemble(source.name, graph, spec, state, training, provenance)
    check_kept(pickled, source / MODEL_FILE)
    return write_run(out, graph, spec, state, training, provenance)


def trained_on(graph: KnowledgeGraph, dataset: str | Path | None) -> str:
    """Return a dataset as runs name it: by its folder, wherever they are opened, or PyKEEN's name.

    :param dataset: what the graph was loaded of
    """
    return str(graph.folder or dataset)


def check_fit(graph: KnowledgeGraph, scorer: Scorer, where: str) -> None:
    """Refuse a model that scores other numbers of entities or relations than the graph has."""
    for kind, has, needs in (
        ("entities", scorer.num_entities, graph.num_entities),
        ("relations", scorer.num_relations, graph.num_relations),
    ):
        if has != needs:
            raise KgdashError(
                f"{where}: the model has {has:,} {kind}, graph {graph.name} has {needs:,}; "
                "load it with the dataset that it was trained on"
            )
