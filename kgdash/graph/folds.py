"""Cutting the known triples of a graph into folds for cross-validation.

Defined in numbers.md#16-cross-validation.
"""

from dataclasses import dataclass, replace

import numpy as np

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.graph.sorted_slices import distinct_rows


@dataclass(frozen=True)
class Fold:
    """One split of a graph's known triples into train, valid and test.

    ``number`` counts from 0. ``kept`` is how many triples of the fold's own part stay in train
    because an entity or relation would not occur there otherwise.
    """

    number: int
    graph: KnowledgeGraph
    kept: int


def cut_folds(graph: KnowledgeGraph, count: int, seed: int = 0) -> list[Fold]:
    """Cut the known triples F into folds with distinct held-out parts.

    F, of all splits, is shuffled once and cut into ``count`` parts whose sizes differ by at most
    one. Fold i trains on all parts but part i. From part i, in the order of the shuffle, each
    triple with an entity or relation that no training triple so far holds goes to train too (the
    cover, ``kept``); of the others, the first half (rounded down) is valid and the rest test. Hence
    every fold's splits are disjoint and together F, every entity and relation occurs in every
    train, and a triple is held out in one fold, or in none if it was needed. Five folds are splits
    of 80-10-10, up to the cover.

    With a count of 0 the only fold is the graph with the splits that it has.

    :param graph: each of its entities and relations is in a known triple
    :param count: of folds, ≥ 2; or 0
    :param seed: of the shuffle, ≥ 0
    :return: folds on the same entities and relations, ids and known triples as ``graph``
    :raises KgdashError: if a number is out of range, or a fold could hold nothing out for test
    """
    if count == 0:
        return [Fold(0, graph, 0)]
    triples = graph.all_triples
    if not 2 <= count <= len(triples) or seed < 0:
        raise KgdashError(
            f"cross-validation: expected 2 to {len(triples):,} folds of graph {graph.name}, or 0 "
            f"for its own splits, and a seed ≥ 0; found {count} folds and seed {seed}"
        )
    shuffled = np.random.default_rng(seed).permutation(triples)
    parts = np.array_split(shuffled, count)
    folds = []
    for number, part in enumerate(parts):
        others = np.concatenate(parts[:number] + parts[number + 1 :])
        needed = _needed(others, part, graph)
        held = part[~needed]
        if not len(held):
            raise KgdashError(
                f"cross-validation: all {len(part):,} triples of fold {number} are needed in "
                f"train, so that graph {graph.name} holds nothing out; choose fewer folds"
            )
        splits = {
            "train": np.concatenate([others, part[needed]]),
            "valid": held[: len(held) // 2],
            "test": held[len(held) // 2 :],
        }
        # Sorted, as all graphs are: what is trained depends on the order.
        splits = {name: distinct_rows(split).rows for name, split in splits.items()}
        folds.append(Fold(number, replace(graph, splits=splits), int(needed.sum())))
    return folds


def _needed(others: np.ndarray, part: np.ndarray, graph: KnowledgeGraph) -> np.ndarray:
    """Tell which triples of a part train needs: bool, ``(len(part),)``."""
    entities = np.zeros(graph.num_entities, dtype=bool)
    relations = np.zeros(graph.num_relations, dtype=bool)
    entities[others[:, [0, 2]]] = True
    relations[others[:, 1]] = True
    needed = np.zeros(len(part), dtype=bool)
    unseen = ~(entities[part[:, 0]] & relations[part[:, 1]] & entities[part[:, 2]])
    for row in np.flatnonzero(unseen):
        head, relation, tail = part[row]
        needed[row] = not (entities[head] and relations[relation] and entities[tail])
        entities[[head, tail]], relations[relation] = True, True
    return needed
