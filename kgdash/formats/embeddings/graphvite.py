"""GraphVite: what ``application.save_model`` wrote of a knowledge graph.

A pickle of two dicts: ``graph`` with the names (``id2entity``, ``id2relation``) and ``solver`` with
the arrays (``entity_embeddings``, ``relation_embeddings``), both with settings besides if
``save_hyperparameter`` was on. Scores by ``application/network.py`` of version 0.2.2; the margin is
the same for all and left out.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.embedding import Embedding, Source
from kgdash.formats.embeddings.matrices import check_said, single_precision
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.parts import Parts
from kgdash.formats.pickle_arrays import PickledArray, read_array_pickle
from kgdash.formats.pickle_records import brief

_EXPECTED = "expected what save_model of a KnowledgeGraphApplication of GraphVite's writes"

_MODELS = ("TransE", "DistMult", "ComplEx", "SimplE", "RotatE")


def read_graphvite(path: Path, options: Options) -> Embedding:
    """Read a model of GraphVite's.

    :raises KgdashError: if it is of something else, the model has to be named, or is not read
    """
    root = read_array_pickle(path, _EXPECTED, "easydict.EasyDict")
    graph, solver = (
        root.get(key) if isinstance(root, dict) else None for key in ("graph", "solver")
    )
    if not isinstance(graph, dict) or not isinstance(solver, dict) or "id2entity" not in graph:
        raise KgdashError(f"{path} holds no graph of entities and relations; {_EXPECTED}")
    model = solver["model"] if "model" in solver else options.one_of(_MODELS, path)
    if model not in _MODELS:
        raise KgdashError(
            f"{path}: {brief(model)} is not read; expected one of {', '.join(_MODELS)}"
        )
    entities = _array(solver, "entity_embeddings", path)
    relations = _array(solver, "relation_embeddings", path)
    interaction, norm = model, 1 if model in ("TransE", "RotatE") else None
    if model == "RotatE":
        # Half of the columns are phases; the others are drawn and never used.
        relations = relations[:, : entities.shape[1] // 2]
    elif model == "SimplE":
        # ⟨h, r, t'⟩, the numbers of t' swapped in pairs
        interaction, swapped = "CP", entities[:, np.arange(entities.shape[1]) ^ 1]
        entities = np.concatenate([entities, swapped], axis=1)
    names = [_names(graph, kind, path) for kind in ("entity", "relation")]
    for size, own, kind in zip(
        ("num_vertex", "num_relation"), names, ("entities", "relations"), strict=True
    ):
        check_said(graph.get(size), len(own), size, kind, path)
    return Embedding(
        interaction,
        names[0],
        names[1],
        Parts(entities, relations, layout="interleaved", norm=norm, where=str(path)),
        Source(str(path), f"{path}, entities", f"{path}, relations"),
    )


def _array(solver: Mapping[str, Any], name: str, path: Path) -> np.ndarray:
    found, where = solver.get(name), f"{path}: {name}"
    if not isinstance(found, PickledArray):
        raise KgdashError(f"{where}: expected an array; found {type(found).__name__}")
    values = single_precision(found.numbers(where), where)
    if values.ndim != 2 or values.shape[1] % 2:
        raise KgdashError(f"{where}: expected rows of an even length; found shape {values.shape}")
    return values


def _names(graph: Mapping[str, Any], kind: str, path: Path) -> tuple[str, ...]:
    names, rows = graph.get(f"id2{kind}"), graph.get(f"{kind}2id")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise KgdashError(f"{path}: expected a list of names as id2{kind}; {_EXPECTED}")
    # By these GraphVite finds rows when it loads a model.
    if rows is not None and rows != {name: row for row, name in enumerate(names)}:
        raise KgdashError(f"{path}: {kind}2id and id2{kind} differ; save the model again")
    return tuple(names)
