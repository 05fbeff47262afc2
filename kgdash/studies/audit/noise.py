"""Planted errors: corrupted triples among the training triples (numbers.md#28-wrong-facts)."""

from dataclasses import replace

import numpy as np

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.graph.known_triples import triple_keys
from kgdash.graph.sorted_slices import distinct, distinct_rows
from kgdash.studies.classification.corruption import DRAWS, all_entities, corrupt


def add_noise(
    graph: KnowledgeGraph, share: float, seed: int = 0
) -> tuple[KnowledgeGraph, np.ndarray]:
    """Add corrupted triples to train.

    Random training triples have one end, a coin says which, replaced by a random entity so that the
    triple is in no split; none is added twice.

    :param share: of the number of training triples, in (0, 1]; rounded, at least one is added
    :param seed: ≥ 0
    :return: the graph with them, and which of its training triples they are: bool, ``(n,)``
    :raises KgdashError: if a number is out of range, or the graph has no room for so many
    """
    train = graph.split("train")
    if not 0 < share <= 1 or seed < 0:
        raise KgdashError(
            f"noise: expected a share in (0, 1] and a seed ≥ 0; found {share:g} and {seed}"
        )
    wanted = max(1, round(share * len(train)))
    rng, group = np.random.default_rng(seed), np.zeros(len(train), dtype=np.int64)
    either = dict.fromkeys(("head", "tail"), all_entities(graph))
    known, added = graph.known(), np.empty((0, 3), dtype=np.int64)
    while len(added) < wanted:
        # All of them, so that none found means that there is none.
        drawn = train[rng.permutation(len(train))]
        wrong, found = corrupt(known, drawn, rng.random((len(drawn), DRAWS)), either, group)
        if not found.any():
            raise KgdashError(
                f"noise: graph {graph.name} has room for {len(added):,} of {wanted:,} corrupted "
                "triples: all others with an end replaced are known"
            )
        wrong = wrong[found]
        first = np.sort(distinct_rows(wrong).first)
        added = np.concatenate([added, wrong[first]])[:wanted]
        known = graph.known_with(added, ("train", "valid", "test"))
    together = distinct_rows(np.concatenate([train, added])).rows
    size = graph.num_entities, graph.num_relations
    planted = np.isin(triple_keys(together, *size), distinct(triple_keys(added, *size)))
    name = f"{graph.name}-noise-{share:g}-seed-{seed}"
    return replace(graph, name=name, splits={**graph.splits, "train": together}), planted
