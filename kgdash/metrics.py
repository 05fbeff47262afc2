"""Table of ranks → PyKEEN's rank-based metrics per side and rank type (§2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.ranking import RANK_TYPES

DEFAULT_KS = (1, 3, 5, 10)

#: side of the result -> sides of the ranks that it pools; "both" pools ranks, not means (§2)
POOLS: dict[str, tuple[str, ...]] = {
    "head": ("head",),
    "tail": ("tail",),
    "both": ("head", "tail"),
    "relation": ("relation",),
}

_LABELS = {
    "arithmetic_mean_rank": "Mean rank (MR)",
    "inverse_harmonic_mean_rank": "Mean reciprocal rank (MRR)",
    "geometric_mean_rank": "Geometric mean rank",
    "inverse_geometric_mean_rank": "Inverse geometric mean rank (IGMR)",
    "adjusted_arithmetic_mean_rank": "Adjusted mean rank (AMR)",
    "adjusted_arithmetic_mean_rank_index": "Adjusted mean rank index (AMRI)",
    "adjusted_inverse_harmonic_mean_rank": "Adjusted MRR",
    "adjusted_geometric_mean_rank_index": "Adjusted geometric mean rank index",
    "z_arithmetic_mean_rank": "Mean rank, z-score",
    "z_geometric_mean_rank": "Geometric mean rank, z-score",
    "z_inverse_harmonic_mean_rank": "MRR, z-score",
}

_FORMULAS = {
    "hits_at": "mean(r ≤ k)",
    "arithmetic_mean_rank": "mean(r)",
    "inverse_arithmetic_mean_rank": "1 / mean(r)",
    "harmonic_mean_rank": "1 / mean(1/r)",
    "inverse_harmonic_mean_rank": "mean(1/r)",
    "geometric_mean_rank": "exp mean(ln r)",
    "inverse_geometric_mean_rank": "1 / exp mean(ln r)",
    "median_rank": "median(r)",
    "inverse_median_rank": "1 / median(r)",
    "variance": "var(r)",
    "standard_deviation": "√var(r)",
    "median_absolute_deviation": "median |r − median(r)|, scaled to a normal's deviation",
    "count": "number of ranks",
    "adjusted_arithmetic_mean_rank": "MR / E[MR]",
    "adjusted_arithmetic_mean_rank_index": "1 − (MR − 1) / E[MR − 1]",
}


@dataclass(frozen=True)
class MetricInfo:
    """What a reader must know of a metric: shown wherever its value is."""

    key: str
    label: str
    formula: str
    increasing: bool
    value_range: str
    depends_on_num_entities: bool

    @property
    def arrow(self) -> str:
        """Return ↑ if higher is better, ↓ if lower is, nothing if neither is."""
        if self.key == "count":
            return ""
        return "↑" if self.increasing else "↓"


def metrics(
    ranks: pd.DataFrame, ks: Sequence[int] = DEFAULT_KS
) -> dict[str, dict[str, dict[str, float]]]:
    """Compute all of PyKEEN's rank-based metrics from a table of ranks (§2).

    The values come from PyKEEN's own metric classes, given our ranks and numbers of candidates.

    :param ranks: a table of `kgdash.ranking.rank_triples`, at least one row
    :param ks: the k of hits_at_k, each ≥ 1
    :return: ``{side: {rank_type: {metric key: value}}}``; sides "head", "tail", "both" (their ranks
        pooled) and "relation", as far as the table has them; NaN where a metric is undefined
    :raises KgdashError: if there are no ranks, or a k is less than 1
    """
    calculators = metric_calculators(tuple(ks))
    result: dict[str, dict[str, dict[str, float]]] = {}
    for side, rows in pooled(ranks):
        candidates = rows["candidates"].to_numpy()
        result[side] = {
            rank_type: {
                key: float(metric(_as_pykeen(rows, rank_type), candidates))
                for key, metric in calculators.items()
            }
            for rank_type in RANK_TYPES
        }
    return result


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
    """Return mean(1/r) over the ranks of some sides, NaN if there are none (§2)."""
    values = ranks.loc[ranks["side"].isin(sides), rank_type].to_numpy(dtype=np.float64)
    return float(np.mean(1.0 / values)) if len(values) else float("nan")


def tie_summary(ranks: pd.DataFrame) -> dict[str, float]:
    """Tell how much equal scores blur a table of ranks (§2).

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


@lru_cache(maxsize=32)
def metric_calculators(ks: tuple[int, ...] = DEFAULT_KS) -> dict[str, Any]:
    """Return PyKEEN's metric objects by key, hits_at_k once per k, in PyKEEN's alphabetical order.

    :raises KgdashError: if a k is less than 1
    """
    # Imported here: PyKEEN takes seconds to import, and `kgdash runs` does without it.
    from pykeen.metrics.ranking import HitsAtK, rank_based_metric_resolver

    wrong = [k for k in ks if int(k) != k or k < 1]
    if wrong or not len(ks):
        raise KgdashError(f"expected k of Hits@k to be whole numbers ≥ 1; found {list(ks)}")
    made: list[Any] = [HitsAtK(k=int(k)) for k in dict.fromkeys(ks)]
    made += [cls() for cls in rank_based_metric_resolver if cls is not HitsAtK]
    return {metric.key: metric for metric in sorted(made, key=lambda m: _sort_key(m.key))}


def _sort_key(key: str) -> tuple[str, int]:
    name, _, number = key.rpartition("_")
    return (name, int(number)) if number.isdigit() else (key, 0)


@lru_cache(maxsize=32)
def metric_guide(ks: tuple[int, ...] = DEFAULT_KS) -> dict[str, MetricInfo]:
    """Describe every metric that `metrics` gives for these ks, by key."""
    guide = {}
    for key, metric in metric_calculators(ks).items():
        adjusted = key.startswith(("adjusted_", "z_"))
        guide[key] = MetricInfo(
            key=key,
            label=_label(key),
            formula=_formula(key),
            increasing=bool(metric.increasing),
            value_range=_interval(metric.value_range),
            depends_on_num_entities=not adjusted and key != "count",
        )
    return guide


def _label(key: str) -> str:
    name, _, number = key.rpartition("_")
    if name == "hits_at" and number.isdigit():
        return f"Hits@{number}"
    hits = {"adjusted_hits_at_k": "Adjusted Hits@10", "z_hits_at_k": "Hits@10, z-score"}
    return _LABELS.get(key) or hits.get(key) or key.replace("_", " ").capitalize()


def _formula(key: str) -> str:
    if key.startswith("hits_at_"):
        return _FORMULAS["hits_at"]
    if key in _FORMULAS:
        return _FORMULAS[key]
    if key.startswith("z_"):
        return "(x − E[x]) / √Var[x], sign turned so that higher is better"
    return "(x − E[x]) / (best x − E[x])"


def _interval(value_range: Any) -> str:
    low = "−∞" if value_range.lower is None else f"{value_range.lower:g}"
    high = "∞" if value_range.upper in (None, float("inf")) else f"{value_range.upper:g}"
    left = "[" if value_range.lower is not None and value_range.lower_inclusive else "("
    right = "]" if high != "∞" and value_range.upper_inclusive else ")"
    return f"{left}{low}, {high}{right}".replace("-", "−")
