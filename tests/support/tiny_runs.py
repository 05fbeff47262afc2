"""Small run directories to feed to pages and commands."""

import gzip
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from kgdash.formats.run_directory import read_run, write_run
from kgdash.runs.bundled import DEMO

#: the six models that are tested by name
MODELS = (
    "umls-transe",
    "umls-distmult",
    "umls-rotate",
    "umls-pairre",
    "umls-complex",
    "umls-conve",
)


def save_pykeen_directory(folder: Path) -> Path:
    """Train a tiny TransE on Nations and save it as PyKEEN's users do."""
    from pykeen.pipeline import pipeline

    result = pipeline(
        dataset="nations",
        model="TransE",
        model_kwargs={"embedding_dim": 6},
        training_kwargs={"num_epochs": 2, "use_tqdm": False},
        evaluation_kwargs={"use_tqdm": False},
        random_seed=0,
    )
    result.save_to_directory(folder)
    return folder


def altered_run(
    out: Path,
    splits: Mapping[str, np.ndarray] | None = None,
    weights: Callable[[torch.Tensor], torch.Tensor] = lambda tensor: tensor,
    entities: tuple[str, ...] | None = None,
) -> Path:
    """Write the default bundled run with other triples, weights or names; checksums are right."""
    graph, spec, state, manifest = read_run(DEMO / "umls-transe")
    graph = replace(graph, splits={**graph.splits, **(splits or {})})
    if entities is not None:
        graph = replace(graph, entities=entities, entity_labels=entities)
    state = {key: weights(tensor) for key, tensor in state.items()}
    return write_run(out, graph, spec, state, manifest["training"], manifest["provenance"])


def dataset_folder(out: Path, **splits: np.ndarray) -> Path:
    """Write a dataset folder of the default run's graph, with the splits given."""
    graph = read_run(DEMO / "umls-transe")[0]
    out.mkdir()
    for split, triples in splits.items():
        names = [(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in triples]
        with gzip.open(out / f"{split}.tsv.gz", "wt", encoding="utf-8") as stream:
            stream.writelines("\t".join(row) + "\n" for row in names)
    return out
