"""Vectors under names in an order of their own, and where they go in a graph."""

from pathlib import Path

import numpy as np

from kgdash.graph.datasets import load_dataset

GRAPH = load_dataset("nations")

_random = np.random.default_rng(5)
#: row of the file → id in the graph: not the graph's order
ENTITY_IDS = _random.permutation(GRAPH.num_entities)
RELATION_IDS = _random.permutation(GRAPH.num_relations)
ENTITIES = tuple(GRAPH.entities[i] for i in ENTITY_IDS)
RELATIONS = tuple(GRAPH.relations[i] for i in RELATION_IDS)


def vectors(count: int, *shape: int, seed: int = 0) -> np.ndarray:
    """Draw rows, float32."""
    return np.random.default_rng(seed).normal(size=(count, *shape)).astype(np.float32)


def by_id(rows: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Put rows of a file into the graph's order, float64 or complex128."""
    out = np.empty(rows.shape, dtype=np.complex128 if rows.dtype.kind == "c" else np.float64)
    out[ids] = rows
    return out


def write_names(folder: Path, stem: str, names: tuple[str, ...]) -> None:
    (folder / f"{stem}.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


def write_arrays(folder: Path, entities, relations=None, **more) -> Path:
    """Write the plain form, as NumPy files."""
    folder.mkdir(exist_ok=True)
    for stem, names, values in (
        ("entities", ENTITIES, entities),
        ("relations", RELATIONS, relations),
    ):
        if values is not None:
            np.save(folder / f"{stem}.npy", values)
            write_names(folder, stem, names)
    for stem, values in more.items():
        np.save(folder / f"{stem}.npy", values)
    return folder


def all_triples() -> np.ndarray:
    """Return every triple of the graph's entities and every seventh relation."""
    sizes = (GRAPH.num_entities, GRAPH.num_relations, GRAPH.num_entities)
    grid = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, 3)
    return grid[grid[:, 1] % 7 == 0]
