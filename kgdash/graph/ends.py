"""The entities that triples have as ends, a loop's once."""

from __future__ import annotations

import numpy as np

from kgdash.graph.knowledge_graph import KnowledgeGraph


def triple_ends(triples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of triples: all heads, then the tails that are not their own head.

    :param triples: ids, int64, shape ``(n, 3)``
    :return: entities, and the row of each one's triple: int64, of equal length
    """
    heads, _, tails = triples.T
    others = np.flatnonzero(heads != tails)
    return np.concatenate([heads, tails[others]]), np.concatenate([np.arange(len(heads)), others])


def train_degrees(graph: KnowledgeGraph) -> np.ndarray:
    """Return how many train triples each entity is an end of: int64, ``(|E|,)``."""
    return np.bincount(triple_ends(graph.splits["train"])[0], minlength=graph.num_entities)
