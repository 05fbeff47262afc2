"""PyTorch-BigGraph: a checkpoint's HDF5 files, with the lists of names of its entity path.

::

    config.json                          entities, relations, comparator, …
    checkpoint_version.txt               N
    embeddings_TYPE_PART.vN.h5           a row per entity; parts from 0
    model.vN.h5                          parameters of operators; global embedding
    entity_names_TYPE_PART.json          in the folder of the data (--names)
    dynamic_rel_names.json               likewise, where relations are dynamic

Scores by ``torchbiggraph/model.py`` and ``operators.py`` of version 1.0.1. With dynamic relations
the head is transformed where tails are asked for, and the tail where heads are, each by an operator
of its own; without, the tail is, always.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.text import decode_text, read_content
from kgdash.formats.embeddings.embedding import Embedding, Source
from kgdash.formats.embeddings.json_values import read_name_list, read_object
from kgdash.formats.embeddings.matrices import check_said, single_precision
from kgdash.formats.embeddings.name_lists import add_name, check_length
from kgdash.formats.embeddings.numbered_names import find_list
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.parts import Parts
from kgdash.formats.hdf5 import Hdf5File, open_hdf5
from kgdash.formats.run_record import is_number

#: operator → comparators with which it is read
_READ = {
    "none": ("dot", "cos", "l2", "squared_l2"),
    "translation": ("dot", "l2", "squared_l2"),
    "diagonal": ("dot",),
    "complex_diagonal": ("dot",),
    "linear": ("dot",),
}

#: operator → its parameters; those of dynamic relations are in one array, named in the plural
_PARAMETERS = {
    "translation": ("translation",),
    "diagonal": ("diagonal",),
    "complex_diagonal": ("real", "imag"),
    "linear": ("linear_transformation",),
}

#: bytes of parameters that are made for relations without any: a line of the configuration each
_MOST_MADE = 2**26

#: what torch adds to a norm by which it scales a vector down
_EPSILON = 1e-7


@dataclass(frozen=True)
class _Config:
    """What decides how a checkpoint scores; ``operators`` has one for each of ``relations``."""

    path: Path
    entity: str
    partitions: int
    relations: tuple[str, ...]
    operators: tuple[str, ...]
    comparator: str
    dynamic: bool
    global_embedding: bool
    max_norm: float | None
    dimension: object

    @cached_property
    def operator(self) -> str:
        """The operator of the relations; one without is taken to have it, and to change nothing."""
        return next((each for each in self.operators if each != "none"), "none")


def read_pbg(folder: Path, options: Options) -> Embedding:
    """Read a checkpoint of PyTorch-BigGraph's.

    :raises KgdashError: if a file is missing or damaged, or the model is not one that is read
    """
    config = _config(folder / "config.json")
    version = _version(folder / "checkpoint_version.txt")
    place = options.names or folder
    entities, names = _entities(folder, version, config, place)
    relation_names = config.relations
    if config.dynamic:
        relation_names = read_name_list(find_list(place, ("dynamic_rel_names.json",)))
    path, shape = folder / f"model.v{version}.h5", (len(relation_names), entities.shape[1])
    first, second = None, None
    if config.global_embedding or config.operator != "none":
        with open_hdf5(path) as file:
            if config.global_embedding:
                name = f"model/entities/{config.entity}/global_embedding"
                entities = entities + _array(file, path, name, shape[1:])
            if config.operator != "none":
                first = _operators(file, path, config, "lhs" if config.dynamic else "rhs", shape)
                second = _operators(file, path, config, "rhs", shape) if config.dynamic else None
    interaction, entities, relations = _scored(config, entities, first, len(relation_names))
    inverse = None if second is None else _scored(config, entities[:0], second, 0)[2]
    l2 = config.comparator in ("l2", "squared_l2")
    return Embedding(
        interaction,
        names,
        () if relations is None else relation_names,
        Parts(
            entities,
            relations,
            norm=2 if l2 else None,
            squared=config.comparator == "squared_l2",
            where=str(folder),
        ),
        Source(str(folder), f"{folder}, entities", f"{folder}, relations"),
        inverse=inverse,
    )


def _config(path: Path) -> _Config:
    said = read_object(path, "PyTorch-BigGraph writes it beside the vectors")
    entities, relations = said.get("entities"), said.get("relations")
    if not isinstance(entities, dict) or not isinstance(relations, list) or not relations:
        raise KgdashError(
            f"{path}: expected entities and relations, as PyTorch-BigGraph names them"
        )
    if len(entities) != 1:
        kinds = ", ".join(entities) or "none"
        raise KgdashError(
            f"{path}: one type of entities is read; found {kinds:.80}. Save the vectors as arrays"
        )
    ((entity, of_entity),) = entities.items()
    if not entity or not set("./\\\0").isdisjoint(entity):
        raise KgdashError(f"{path}: {entity!r:.60} is no type of entities")
    if not isinstance(of_entity, dict) or not all(isinstance(each, dict) for each in relations):
        raise KgdashError(f"{path}: expected what entities and relations are; found other values")
    for flag, of in (("bias", said), ("featurized", of_entity)):
        if of.get(flag, False) is not False:
            raise KgdashError(f"{path}: {flag} is not read; save the vectors as arrays")
    max_norm = said.get("max_norm")
    if max_norm is not None and not (is_number(max_norm) and max_norm > 0):
        raise KgdashError(f"{path}: expected a max_norm above 0; found {max_norm!r:.40}")
    partitions = of_entity.get("num_partitions", 1)
    if type(partitions) is not int or partitions < 1:
        raise KgdashError(f"{path}: expected num_partitions of 1 or more; found {partitions!r:.40}")
    config = _Config(
        path,
        entity,
        partitions,
        tuple(_said(each, "name", None, path) for each in relations),
        tuple(_said(each, "operator", "none", path) for each in relations),
        _said(said, "comparator", "cos", path),
        _said(said, "dynamic_relations", False, path),
        _said(said, "global_emb", True, path),
        max_norm,
        of_entity.get("dimension") or said.get("dimension"),
    )
    for operator in config.operators:
        known = config.comparator in _READ.get(operator, ())
        if not known or operator not in (config.operator, "none"):
            several = ", ".join(dict.fromkeys(config.operators))
            read = "; ".join(f"{name} with {', '.join(by)}" for name, by in _READ.items())
            raise KgdashError(
                f"{path}: operators {several:.80} with comparator {config.comparator:.40} are not "
                f"read; read is one of {read}"
            )
    return config


def _said(said: Mapping[str, Any], key: str, default: str | bool | None, path: Path) -> Any:
    value, flag = said.get(key, default), isinstance(default, bool)
    if not isinstance(value, bool if flag else str):
        kind = "true or false" if flag else "text"
        raise KgdashError(f"{path}: expected {kind} as {key}; found {value!r:.40}")
    return value


def _version(path: Path) -> int:
    if not path.is_file():
        raise KgdashError(
            f"no {path.name} in {path.parent}; give the folder of a checkpoint of PyTorch-BigGraph"
        )
    text = decode_text(read_content(path, str(path), 100), str(path)).strip()
    if not (text.isascii() and text.isdecimal()):
        raise KgdashError(f"{path}: expected a number; found {text!r:.40}")
    return int(text)


def _entities(
    folder: Path, version: int, config: _Config, place: Path
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Read the parts of the entities' matrix, one below the other, and their names."""
    found, first = [], dict[str, int]()
    for part in range(config.partitions):
        path = folder / f"embeddings_{config.entity}_{part}.v{version}.h5"
        list_file = find_list(place, (f"entity_names_{config.entity}_{part}.json",))
        own = read_name_list(list_file)
        with open_hdf5(path) as file:
            rows = single_precision(file.array("embeddings"), str(path))
        check_length(own, len(rows), list_file, path)
        for name in own:  # parts may be links to one file
            add_name(first, name, len(first) + 1, f"{folder}, entities, row")
        found += [rows] if len(rows) else []
    shapes = {rows.shape[1:] for rows in found}
    if len(shapes) != 1 or len(min(shapes)) != 1:
        raise KgdashError(f"{folder}: expected rows of one length in all parts; found {shapes}")
    entities = np.concatenate(found)
    check_said(config.dimension, entities.shape[1], "dimension", "columns", config.path)
    if config.max_norm is not None:
        norms = np.sqrt(np.einsum("ij,ij->i", entities, entities, dtype=np.float64))
        scale = np.where(norms > config.max_norm, config.max_norm / (norms + _EPSILON), 1)
        entities *= scale.astype(np.float32)[:, None]
    return entities, tuple(first)


def _array(file: Hdf5File, path: Path, name: str, shape: tuple[int, ...]) -> np.ndarray:
    values = single_precision(file.array(name), f"{path}, {name}")
    if values.shape != shape:
        raise KgdashError(f"{path}: {name}: expected shape {shape}; found {values.shape}")
    return values


def _operators(
    file: Hdf5File, path: Path, config: _Config, side: str, shape: tuple[int, ...]
) -> np.ndarray:
    """Read the parameters of all relations: ``(|R|, d)``, of linear ones ``(|R|, d, d)``."""
    count, width = shape
    sizes = {"real": (width // 2,), "imag": (width // 2,), "linear_transformation": (width, width)}
    found = []
    for name in _PARAMETERS[config.operator]:
        size = sizes.get(name, (width,))
        if config.dynamic:
            plural = name if name in ("real", "imag") else f"{name}s"
            whole = f"model/relations/0/operator/{side}/{plural}"
            found.append(_array(file, path, whole, (count, *size)))
            continue
        _check_made(config.operators.count("none"), size, path)
        rows = [
            _array(file, path, f"model/relations/{number}/operator/{side}/{name}", size)
            if operator == config.operator
            else _unchanging(name, size)
            for number, operator in enumerate(config.operators)
        ]
        found.append(np.stack(rows))
    return np.concatenate(found, axis=1)


def _check_made(count: int, size: tuple[int, ...], path: Path) -> None:
    if count * math.prod(size) * 4 > _MOST_MADE:
        raise KgdashError(
            f"{path}: {count:,} relations without parameters take more than "
            f"{_MOST_MADE // 2**20} MiB; save the vectors as arrays"
        )


def _unchanging(name: str, size: tuple[int, ...]) -> np.ndarray:
    if name == "linear_transformation":
        return np.eye(*size, dtype=np.float32)
    return np.full(size, name in ("diagonal", "real"), dtype=np.float32)


def _scored(
    config: _Config, e: np.ndarray, r: np.ndarray | None, count: int
) -> tuple[str, np.ndarray, np.ndarray | None]:
    """Return interaction, entities and relations that score as the checkpoint does.

    :param r: parameters that change the head if relations are dynamic, else the tail
    :param count: how many relations there are
    """
    if config.comparator == "cos":
        return "cosine", e, None
    if r is None:
        if config.comparator == "dot":
            return "dot", e, None
        _check_made(count, e.shape[1:], config.path)
        return "TransE", e, np.zeros((count, e.shape[1]), np.float32)
    match config.operator:
        case "translation" if config.comparator == "dot":
            # ⟨h + r, t⟩ = ⟨[h, 1], [1, r], [t, t]⟩ and ⟨h, t + r⟩ = ⟨[h, h], [1, r], [t, 1]⟩
            ones = np.ones_like(e)
            both = (e, ones, e, e) if config.dynamic else (e, e, e, ones)
            return "CP", np.concatenate(both, axis=1), np.concatenate([r * 0 + 1, r], axis=1)
        case "translation":
            return "TransE", e, r if config.dynamic else -r
        case "complex_diagonal" if not config.dynamic:
            real, imaginary = np.split(r, 2, axis=1)
            return "ComplEx", e, np.concatenate([real, -imaginary], axis=1)
        case "complex_diagonal":
            return "ComplEx", e, r
        case "linear":
            return "RESCAL", e, np.swapaxes(r, 1, 2) if config.dynamic else r
    return "DistMult", e, r
