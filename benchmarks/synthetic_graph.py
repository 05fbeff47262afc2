"""Graphs of any size in the shape of Wikidata5M: typed relations, few entities in many triples.

    python benchmarks/synthetic_graph.py FOLDER [--entities N] [--triples M] [--relations R]

Writes train.tsv, valid.tsv, test.tsv, entity_labels.tsv (names ``Q17``, labels of three words) and
DistMult's weights, entities.npy and relations.npy. Every relation leads from one type of entity to
another; both ends are drawn by weights that fall as the power −0.75 of an entity's place, so that
degrees do. Entities of a type lie around a centre that its relations know, but for those of every
tenth type, whose vectors are noise: there the model is weak.
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

#: entities of a type on average, dimension of vectors, and triples that are held out on each side
TYPE, DIMENSION, HELD_OUT = 5_000, 128, 5_163

#: every so many types are weak
WEAK = 10

_SYLLABLES = np.array([c + v for c in "bdfgklmnprstvz" for v in "aeiou"])


def triples(entities: int, relations: int, count: int, seed: int = 0) -> np.ndarray:
    """Draw distinct triples, popular entities more often: int64, ``(≤ count, 3)``."""
    rng = np.random.default_rng(seed)
    types = _types(entities)
    weights = 1.0 / np.arange(1, relations + 1)
    drawn = rng.choice(relations, size=int(1.1 * count), p=weights / weights.sum())
    domain, range_ = _types_of_relations(entities, relations)
    ends = [_of_type(kind[drawn], entities, types, rng) for kind in (domain, range_)]
    # Each entity once, that none is unseen.
    every = np.arange(entities)
    by_domain = [np.flatnonzero(domain == t) for t in range(types)]
    own = np.array([rng.choice(r) if len(r) else 0 for r in by_domain])[every % types]
    once = np.stack([every, own, _of_type(range_[own], entities, types, rng)], axis=1)
    rows = np.concatenate([once, np.stack([ends[0], drawn, ends[1]], axis=1)])
    keys = np.unique((rows[:, 0] * relations + rows[:, 1]) * entities + rows[:, 2])
    rng.shuffle(keys)
    queries, tails = np.divmod(keys[:count], entities)
    return np.stack([*np.divmod(queries, relations), tails], axis=1)


def _types(entities: int) -> int:
    return max(2, entities // TYPE)


def _types_of_relations(entities: int, relations: int) -> np.ndarray:
    """Draw the types that each relation leads from, and to: int64, ``(2, |R|)``."""
    return np.random.default_rng(3).integers(_types(entities), size=(2, relations))


def _of_type(kind: np.ndarray, entities: int, types: int, rng: np.random.Generator) -> np.ndarray:
    """Draw an entity of each type: those are ``type + types · place``."""
    places = (entities - 1 - kind) // types + 1
    return kind + types * np.floor(places * rng.random(len(kind)) ** 4).astype(np.int64)


def vectors(entities: int, relations: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Make DistMult's weights: float32, ``(|E|, 128)`` and ``(|R|, 128)``.

    A relation between two centres is their product, so that it scores entities of these types
    high; one of a weak type is noise.
    """
    rng = np.random.default_rng(seed)
    types = _types(entities)
    found = rng.standard_normal((entities, DIMENSION), dtype=np.float32)
    centres = rng.standard_normal((types, DIMENSION), dtype=np.float32)
    centres[::WEAK] = 0
    for start in range(0, entities, 2**18):
        found[start : start + 2**18] += (
            2 * centres[np.arange(start, min(start + 2**18, entities)) % types]
        )
    domain, range_ = _types_of_relations(entities, relations)
    noise = rng.standard_normal((relations, DIMENSION), dtype=np.float32)
    known = centres[domain] * centres[range_]
    return found, np.where(known.any(axis=1, keepdims=True), known, noise)


def labels(entities: int, seed: int = 2) -> np.ndarray:
    """Make labels of three words of two syllables."""
    rng = np.random.default_rng(seed)
    parts = _SYLLABLES[rng.integers(len(_SYLLABLES), size=(6, entities))]
    words = [np.char.add(parts[i], parts[i + 1]) for i in (0, 2, 4)]
    pair = np.char.add(np.char.add(words[0], " "), words[1])
    return np.char.add(np.char.add(pair, " "), words[2])


def write(folder: Path, entities: int, relations: int, count: int) -> None:
    """Write the files of a graph and of its model."""
    folder.mkdir(parents=True)
    rows = triples(entities, relations, count)
    names = np.char.add("Q", np.arange(entities).astype(str))
    seen = np.zeros(entities, dtype=bool)
    held = min(HELD_OUT, len(rows) // 10)
    parts = {"valid": rows[:held], "test": rows[held : 2 * held], "train": rows[2 * held :]}
    seen[parts["train"][:, [0, 2]]] = True
    for split, part in parts.items():
        columns = [part[:, 0], part[:, 1], part[:, 2]]
        texts = [names[columns[0]], np.char.add("P", columns[1].astype(str)), names[columns[2]]]
        _write_tsv(folder / f"{split}.tsv", texts)
    _write_tsv(folder / "entity_labels.tsv", [names[seen], labels(entities)[seen]])
    found, relation_vectors = vectors(entities, relations)
    # The ids of a graph are those of its names in order.
    order = np.argsort(names)
    np.save(folder / "entities.npy", found[order[seen[order]]])
    used = np.unique(parts["train"][:, 1])
    relation_names = np.char.add("P", used.astype(str))
    np.save(folder / "relations.npy", relation_vectors[used[np.argsort(relation_names)]])


def _write_tsv(path: Path, columns: list[np.ndarray]) -> None:
    table = pa.table({str(i): pa.array(column) for i, column in enumerate(columns)})
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    pyarrow.csv.write_csv(table, path, options)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--entities", type=int, default=4_594_485)
    parser.add_argument("--triples", type=int, default=20_624_605)
    parser.add_argument("--relations", type=int, default=822)
    chosen = parser.parse_args()
    write(chosen.folder, chosen.entities, chosen.relations, chosen.triples)
