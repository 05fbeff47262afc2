"""Whether valid and test triples are held out at all: some datasets hold one triple in several."""

import numpy as np

from kgdash.graph.knowledge_graph import KnowledgeGraph


def repeated_triples(graph: KnowledgeGraph) -> dict[tuple[str, str], int]:
    """Count the valid triples that are train triples, and the test triples that are of either.

    :return: by split and the other one that holds them, too; pairs without any are left out
    """
    codes = {split: np.sort(_codes(graph, split)) for split in ("valid", "test")}
    found = {}
    for split, other in (("valid", "train"), ("test", "train"), ("test", "valid")):
        wanted = codes[split]
        if len(wanted):
            held = codes[other] if other in codes else _codes(graph, other)
            place = np.minimum(np.searchsorted(wanted, held), len(wanted) - 1)
            found[split, other] = int(np.count_nonzero(wanted[place] == held))
    return {pair: count for pair, count in found.items() if count}


def _codes(graph: KnowledgeGraph, split: str) -> np.ndarray:
    """Write each triple as one number; objects where they do not fit into 64 bits."""
    fits = graph.num_entities**2 * graph.num_relations < 2**63
    head, relation, tail = graph.splits[split].T.astype(np.int64 if fits else object)
    codes: np.ndarray = (head * graph.num_relations + relation) * graph.num_entities + tail
    return codes
