"""ReliK: how reliable an embedding is around a triple, seen from its negatives alone.

For a triple x = (h, r, t), the known triples F, and a model's scores s:

- N⁻(h) = {(h, r′, t′) ∉ F} and N⁻(t) = {(h′, r′, t) ∉ F}, the negatives around its ends,
- rank_H(x) = 1 + |{y ∈ N⁻(h) : y ≠ x, s(y) > s(x)}|, rank_T(x) likewise over N⁻(t),
- ReliK(x) = ½ (1/rank_H(x) + 1/rank_T(x)), in (0, 1]; of a set of triples, the mean.

Egger et al., "ReliK: A Reliability Measure for Knowledge Graph Embeddings", WWW 2024. More in
numbers.md#4-relik. `relik_exact` counts all negatives, `relik_sampled` some.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.graph.known_triples import RANK_TYPES
from kgdash.scoring import ENTITY_SIDES

#: how negatives are counted: all, or a sample with one of three estimates
RELIK_METHODS = ("exact", "sampled", "sampled-paper", "lower-bound")


def relik_of_ranks(head_rank: pd.Series, tail_rank: pd.Series) -> pd.Series:
    """Return ½ (1/rank_H + 1/rank_T): float64, in (0, 1].

    :param head_rank: rank among the negatives that share the head, ≥ 1; ``tail_rank`` likewise
    """
    return 0.5 * (1.0 / head_rank + 1.0 / tail_rank)


@dataclass(frozen=True)
class SideCounts:
    """What one side of ReliK rests on, one entry per triple, all int64 of shape ``(n,)``.

    ``greater`` and ``equal``: negatives y ≠ x with s(y) > s(x) and s(y) = s(x); ``negatives``:
    |N⁻|, which counts x itself where x is not a known triple.
    """

    greater: np.ndarray
    equal: np.ndarray
    negatives: np.ndarray

    def rank(self, rank_type: str = "optimistic") -> np.ndarray:
        """Return the rank among the negatives: float64, ≥ 1; "optimistic" is the paper's."""
        share = {"optimistic": 0.0, "realistic": 0.5, "pessimistic": 1.0}[rank_type]
        return 1.0 + self.greater + share * self.equal


def relik_values(counts: pd.DataFrame, rank_type: str = "optimistic") -> pd.DataFrame:
    """Turn the counts of `relik_exact` into ranks and ReliK = ½ (1/rank_H + 1/rank_T).

    Defined in numbers.md#4-relik.

    :param counts: a table of `relik_exact`
    :param rank_type: how ties count: "optimistic" (the paper's strict inequality), "realistic",
        "pessimistic"
    :return: ``head, relation, tail`` (ids), ``head_rank``, ``tail_rank`` (int64; float64 for
        realistic), ``relik`` (float64 in (0, 1])
    """
    if rank_type not in RANK_TYPES:
        raise ValueError(f"expected a rank type out of {RANK_TYPES}; found {rank_type!r}")
    table = counts[["head", "relation", "tail"]].copy()
    for side in ENTITY_SIDES:
        columns = (counts[f"{side}_{c}"].to_numpy() for c in ("greater", "equal", "negatives"))
        rank = SideCounts(*columns).rank(rank_type)
        table[f"{side}_rank"] = rank if rank_type == "realistic" else rank.astype(np.int64)
    table["relik"] = relik_of_ranks(table["head_rank"], table["tail_rank"])
    return table
