"""Tables of ranks of several runs on a graph that a test can read at a glance."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tests.support.fakes import make_graph

GRAPH = make_graph(
    train=[(0, 0, 1), (1, 0, 2), (2, 0, 0), (3, 1, 4), (4, 1, 5), (5, 1, 3)],
    test=[(0, 0, 2), (1, 1, 0), (2, 1, 3), (3, 1, 5), (4, 0, 4)],
    entities=6,
    relations=2,
)


def tables(
    ranks: Mapping[str, tuple[Sequence[float], Sequence[float]]], graph=GRAPH
) -> dict[str, pd.DataFrame]:
    """Make tables of the test triples' realistic ranks: those of heads, those of tails."""
    return {name: _table(graph, *sides) for name, sides in ranks.items()}


def _table(graph, head_ranks, tail_ranks) -> pd.DataFrame:
    parts = []
    for side, ranks in (("head", head_ranks), ("tail", tail_ranks)):
        part = pd.DataFrame(graph.split("test"), columns=["head", "relation", "tail"])
        part["side"] = side
        part["realistic"] = np.array(ranks, dtype=np.float64)
        part["optimistic"] = np.floor(part["realistic"]).astype(np.int64)
        part["pessimistic"] = np.ceil(part["realistic"]).astype(np.int64)
        part["candidates"] = 6
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


#: A wins on (0 0 2) and, by its tail, on (1 1 0); B on (2 1 3); the rest is equal
AB = tables({"A": ([1, 2, 4, 3, 2], [1, 1, 5, 1, 2]), "B": ([2, 2, 1, 3, 2], [4, 2, 2.5, 1, 2])})
