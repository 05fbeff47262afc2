"""Table of ranks → PyKEEN's rank-based metrics per side and rank type (numbers.md#2-metrics)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.ranking.metric import DEFAULT_KS, metric_calculators

#: side of the result -> sides of the ranks that it pools; "both" pools ranks, not means
#: (numbers.md#2-metrics)
POOLS: dict[str, tuple[str, ...]] = {
    "head": ("head",),
    "tail": ("tail",),
    "both": ("head", "tail"),
    "relation": ("relation",),
}


def metrics(
    ranks: pd.DataFrame, ks: Sequence[int] = DEFAULT_KS
) -> dict[str, dict[str, dict[str, float]]]:
    """Compute all of PyKEEN's rank-based metrics from a table of ranks (numbers.md#2-metrics).

    The values come from PyKEEN's own metric classes, given our ranks and numbers of candidates.

    :param ranks: a table of `kgdash.ranking.ranks.rank_triples`, at least one row
    :param ks: the k of hits_at_k, each ≥ 1
    :return: ``{side: {rank_type: {metric key: value}}}``; sides "head", "tail", "both" (their ranks
        pooled) and "relation", as far as the table has them; NaN where a metric is undefined
    :raises KgdashError: if there are no ranks, or a k is less than 1
    """
    calculators = metric_calculators(tuple(ks))

    def values(task: tuple[pd.DataFrame, str]) -> dict[str, float]:
        rows, rank_type = task
        candidates, kept = rows["candidates"].to_numpy(), _as_pykeen(rows, rank_type)
        return {key: float(metric(kept, candidates)) for key, metric in calculators.items()}

    tasks = {(s, kind): (rows, kind) for s, rows in pooled(ranks) for kind in RANK_TYPES}
    # NumPy lets go of the GIL where it sorts and takes logarithms, most of the time of long tables.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(tasks, pool.map(values, tasks.values()), strict=True))
    sides = dict.fromkeys(side for side, _ in tasks)
    return {side: {kind: found[side, kind] for kind in RANK_TYPES} for side in sides}


def _as_pykeen(ranks: pd.DataFrame, rank_type: str) -> np.ndarray:
    # PyKEEN keeps realistic ranks in float32; its z-scores show that rounding in the fifth digit.
    dtype = np.float32 if rank_type == "realistic" else np.int64
    return ranks[rank_type].to_numpy(dtype=dtype)


def pooled(ranks: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each side of the results with the rows that it pools.

    :raises KgdashError: if the table has no rows
    """
    if not len(ranks):
        raise KgdashError("there are no ranks to take metrics of: the set of triples is empty")
    present = set(ranks["side"].unique())
    for side, pool in POOLS.items():
        if present.issuperset(pool):
            yield side, ranks[ranks["side"].isin(pool)]


def metrics_frame(values: dict[str, dict[str, dict[str, float]]]) -> pd.DataFrame:
    """Lay metrics out as a table: one row per metric, columns ``(side, rank type)``."""
    columns = {(s, t): metric for s, types in values.items() for t, metric in types.items()}
    frame = pd.DataFrame(columns)
    frame.columns = pd.MultiIndex.from_tuples(list(columns), names=["side", "rank_type"])
    frame.index.name = "metric"
    return frame


def mean_reciprocal_rank(
    ranks: pd.DataFrame, sides: Sequence[str], rank_type: str = "realistic"
) -> float:
    """Return mean(1/r) over the ranks of some sides, NaN if there are none.

    Defined in numbers.md#2-metrics.
    """
    values = ranks.loc[ranks["side"].isin(sides), rank_type].to_numpy(dtype=np.float64)
    return float(np.mean(1.0 / values)) if len(values) else float("nan")


def tie_summary(ranks: pd.DataFrame) -> dict[str, float]:
    """Tell how much equal scores blur a table of ranks (numbers.md#1-ranks).

    :return: ``tied_share`` (share in [0, 1] of rows whose true answer shares its score with another
        candidate), ``largest_tie`` (scores in the largest such group, the true one included; 1 if
        none), ``mrr_gap`` (optimistic minus pessimistic MRR of the table, ≥ 0)
    """
    others = (ranks["pessimistic"] - ranks["optimistic"]).to_numpy()
    sides = list(ranks["side"].unique())
    gap = mean_reciprocal_rank(ranks, sides, "optimistic") - mean_reciprocal_rank(
        ranks, sides, "pessimistic"
    )
    return {
        "tied_share": float((others > 0).mean()) if len(others) else 0.0,
        "largest_tie": int(others.max(initial=0)) + 1,
        "mrr_gap": gap if len(others) else 0.0,
    }
