"""Whether valid and test triples are held out at all: some datasets hold triples of train there."""

import numpy as np

from kgdash.graph.knowledge_graph import KnowledgeGraph


def repeated_triples(graph: KnowledgeGraph) -> dict[str, int]:
    """Count the valid and the test triples that are train triples, too; splits without any are out.

    :return: by split
    """
    train = _codes(graph, "train")
    found = {}
    for split in ("valid", "test"):
        wanted = np.sort(_codes(graph, split))
        if len(wanted):
            place = np.minimum(np.searchsorted(wanted, train), len(wanted) - 1)
            found[split] = int(np.count_nonzero(wanted[place] == train))
    return {split: count for split, count in found.items() if count}


def _codes(graph: KnowledgeGraph, split: str) -> np.ndarray:
    """Write each triple as one number; objects where they do not fit into 64 bits."""
    fits = graph.num_entities**2 * graph.num_relations < 2**63
    head, relation, tail = graph.splits[split].T.astype(np.int64 if fits else object)
    codes: np.ndarray = (head * graph.num_relations + relation) * graph.num_entities + tail
    return codes
