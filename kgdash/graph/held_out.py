"""Whether valid and test triples are held out at all: some datasets hold one triple in several."""

import numpy as np

from kgdash.graph.knowledge_graph import KnowledgeGraph


def repeated_triples(graph: KnowledgeGraph) -> dict[tuple[str, str], int]:
    """Count the valid triples that are train triples, and the test triples that are of either.

    :return: by split and the other one that holds them, too; pairs without any are left out
    """
    asked = np.concatenate([graph.splits[split] for split in ("valid", "test")])
    near = graph.splits["train"]
    for column in (0, 2):  # of millions few are left
        near = near[np.isin(near[:, column], asked[:, column])]
    codes = {split: _codes(graph, graph.splits[split]) for split in ("valid", "test")}
    codes["train"] = _codes(graph, near)
    pairs = (("valid", "train"), ("test", "train"), ("test", "valid"))
    found = {(of, other): int(np.isin(codes[of], codes[other]).sum()) for of, other in pairs}
    return {pair: count for pair, count in found.items() if count}


def _codes(graph: KnowledgeGraph, triples: np.ndarray) -> np.ndarray:
    """Write each triple as one number; objects where they do not fit into 64 bits."""
    fits = graph.num_entities**2 * graph.num_relations < 2**63
    head, relation, tail = triples.T.astype(np.int64 if fits else object)
    codes: np.ndarray = (head * graph.num_relations + relation) * graph.num_entities + tail
    return codes
