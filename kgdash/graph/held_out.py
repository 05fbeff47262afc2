"""Whether valid and test triples are held out at all: some datasets hold one triple in several."""

import numpy as np

from kgdash.graph.knowledge_graph import KnowledgeGraph
from kgdash.graph.known_triples import triple_keys


def repeated_triples(graph: KnowledgeGraph) -> dict[tuple[str, str], int]:
    """Count the valid triples that are train triples, and the test triples that are of either.

    :return: by split and the other one that holds them, too; pairs without any are left out
    """
    asked = np.concatenate([graph.splits[split] for split in ("valid", "test")])
    near = graph.splits["train"]
    for column in (0, 2):  # of millions few are left
        near = near[np.isin(near[:, column], asked[:, column])]
    parts = {"train": near} | {split: graph.splits[split] for split in ("valid", "test")}
    size = graph.num_entities, graph.num_relations
    keys = {split: triple_keys(triples, *size) for split, triples in parts.items()}
    pairs = (("valid", "train"), ("test", "train"), ("test", "valid"))
    found = {(of, other): int(np.isin(keys[of], keys[other]).sum()) for of, other in pairs}
    return {pair: count for pair, count in found.items() if count}
