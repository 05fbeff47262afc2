"""Table of ranks → PyKEEN's rank-based metrics per side and rank type (numbers.md#2-metrics)."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, check_name, unknown_name
from kgdash.files.html import table_html
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.progress import Progress, silent
from kgdash.ranking.metric_lookup import DEFAULT_KS, find_metric, metric_calculators, metric_records
from kgdash.statistics.estimate import number

#: side of the result -> sides of the ranks that it pools; "both" pools ranks, not means
#: (numbers.md#2-metrics)
POOLS: dict[str, tuple[str, ...]] = {
    "head": ("head",),
    "tail": ("tail",),
    "both": ("head", "tail"),
    "relation": ("relation",),
}

#: seconds between two reports
_POLL = 0.1


@dataclass(frozen=True)
class MetricsTable:
    """All metrics of a table of ranks, per side and rank type.

    ``frame``: float64, one row per metric, named by PyKEEN's key; columns ``(side, rank_type)``;
    NaN where a metric is undefined.
    """

    frame: pd.DataFrame

    @property
    def sides(self) -> list[str]:
        """Return the sides that there are: "head", "tail", "both" (pooled), "relation"."""
        return list(dict.fromkeys(side for side, _ in self.frame.columns))

    def value(self, metric: str, side: str = "both", rank_type: str = "realistic") -> float:
        """Return a metric, by any name that `find_metric` takes: "mrr", "hits@10", PyKEEN's key.

        :raises KgdashError: if there is no such metric, side or rank type here
        """
        values = self.values(side, rank_type)
        key = metric if metric in values else find_metric(metric).key
        if key not in values:
            raise unknown_name("metric", metric, list(values), "these metrics")
        return values[key]

    def values(self, side: str = "both", rank_type: str = "realistic") -> dict[str, float]:
        """Return all metrics of a side and rank type, by key.

        :raises KgdashError: if there is no such side or rank type here
        """
        check_name("rank type", rank_type, RANK_TYPES, "metrics")
        check_name("side", side, self.sides, "these metrics")
        return {str(key): float(v) for key, v in self.frame[side, rank_type].items()}

    def __repr__(self) -> str:
        """Name the MRR, and how to ask for the others."""
        sides = ", ".join(f"{side} {number(self.value('mrr', side))}" for side in self.sides)
        return f"metrics, of them MRR: {sides} (realistic)"

    def _repr_html_(self) -> str:
        guide = metric_records()
        rows = {
            "metric": [guide[key].label if key in guide else key for key in self.frame.index],
            **{
                side: [number(value) for value in self.values(side).values()] for side in self.sides
            },
            "key": self.frame.index,
        }
        return table_html("Metrics, realistic ranks", pd.DataFrame(rows))

    def nested(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return ``{side: {rank_type: {key: value}}}``, as JSON has them."""
        kinds = [kind for kind in RANK_TYPES if kind in self.frame.columns.unique("rank_type")]
        return {side: {kind: self.values(side, kind) for kind in kinds} for side in self.sides}


def metrics(
    ranks: pd.DataFrame, ks: Sequence[int] = DEFAULT_KS, progress: Progress = silent
) -> MetricsTable:
    """Compute all of PyKEEN's rank-based metrics from a table of ranks (numbers.md#2-metrics).

    The values come from PyKEEN's own metric classes, given our ranks and numbers of candidates.

    >>> metrics(run.ranks()).value("mrr", side="tail")

    :param ranks: a table of `kgdash.ranking.ranks.rank_triples`, at least one row
    :param progress: may raise to cancel
    :return: sides "head", "tail", "both" (their ranks pooled) and "relation", as far as the table
        has them
    :raises KgdashError: if there are no ranks, or a k is less than 1
    """
    calculators, over = metric_calculators(tuple(ks)), Event()

    def values(task: tuple[pd.DataFrame, str]) -> dict[str, float]:
        rows, rank_type = task
        candidates, of_type = rows["candidates"].to_numpy(), _as_pykeen(rows, rank_type)
        left = (item for item in calculators.items() if not over.is_set())
        return {key: float(metric(of_type, candidates)) for key, metric in left}

    tasks = {(s, kind): (rows, kind) for s, rows in pooled(ranks) for kind in RANK_TYPES}
    # NumPy lets go of the GIL where it sorts and takes logarithms, most of the time of long tables.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = {name: pool.submit(values, task) for name, task in tasks.items()}
        try:
            while left := wait(made.values(), _POLL).not_done:
                progress(len(made) - len(left), len(made))
        finally:
            over.set()  # a pool is left when its threads have ended
    columns = {name: each.result() for name, each in made.items()}
    frame = pd.DataFrame(columns).rename_axis("metric")
    return MetricsTable(frame.rename_axis(["side", "rank_type"], axis=1))


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


def mean_reciprocal_rank(
    ranks: pd.DataFrame, sides: Sequence[str], rank_type: str = "realistic"
) -> float:
    """Return mean(1/r) over the ranks of some sides, NaN if there are none.

    Defined in numbers.md#2-metrics.
    """
    values = ranks.loc[ranks["side"].isin(sides), rank_type].to_numpy(dtype=np.float64)
    return float(np.mean(1.0 / values)) if len(values) else float("nan")


def side_rows(ranks: pd.DataFrame, side: str) -> np.ndarray:
    """Return where the ranks of a side stand in a table of ranks.

    :param side: of `POOLS`
    :return: int64, shape ``(sides, triples)``: a column is a triple, in the order of the split
    """
    sides = ranks["side"].to_numpy()
    return np.stack([np.flatnonzero(sides == single) for single in POOLS[side]])


def triple_reciprocal_ranks(ranks: pd.DataFrame) -> np.ndarray:
    """Return the mean of each triple's two reciprocal ranks, realistic: float64, ``(n,)``."""
    values = ranks["realistic"].to_numpy()[side_rows(ranks, "both")]
    means: np.ndarray = (1 / values).mean(axis=0)
    return means


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
