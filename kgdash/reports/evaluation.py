"""A run's ranks on one split by one filter, and the tables that are asked of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from kgdash.breakdowns.breakdown import breakdown, check_choices
from kgdash.breakdowns.rank_facts import annotate
from kgdash.errors import unknown_name
from kgdash.graph import FILTERS, default_filter
from kgdash.progress import Progress, silent
from kgdash.ranking.metric import Metric
from kgdash.ranking.metric_lookup import DEFAULT_KS, metric_records
from kgdash.ranking.metrics import POOLS, MetricsTable, metrics, tie_summary
from kgdash.runs import Run


@dataclass(frozen=True)
class Evaluation:
    """Each table is computed when it is first asked for, with the numbers of pages and commands.

    ``metric`` (a key of `metrics`), ``side`` and ``rank_type`` are what charts and groups
    are of; ``progress`` is called while ranks are computed. Made by `evaluation`.
    """

    run: Run
    split: str
    filter: str
    rank_type: str
    metric: str
    side: str
    progress: Progress = silent
    _breakdowns: dict[str, pd.DataFrame] = field(default_factory=dict, repr=False, compare=False)

    @property
    def info(self) -> Metric:
        """Describe the chosen metric."""
        return metric_records()[self.metric]

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """Return the ranks of `kgdash.runs.Run.ranks`."""
        return self.run.ranks(split=self.split, filter=self.filter, progress=self.progress)

    @cached_property
    def values(self) -> MetricsTable:
        """Return all metrics of `kgdash.ranking.metrics.metrics`."""
        return metrics(self.ranks, DEFAULT_KS)

    def raw_values(self, progress: Progress = silent) -> MetricsTable:
        """Return all metrics of raw ranks."""
        return metrics(self.run.ranks(split=self.split, filter="none", progress=progress))

    @cached_property
    def ties(self) -> dict[str, dict[str, float]]:
        """Return `kgdash.ranking.metrics.tie_summary` per side."""
        return {
            side: tie_summary(self.ranks[self.ranks["side"].isin(POOLS[side])])
            for side in self.values.sides
        }

    def breakdown(self, by: str) -> pd.DataFrame:
        """Return `kgdash.breakdowns.breakdown.breakdown` of the chosen metric."""
        if by not in self._breakdowns:
            self._breakdowns[by] = breakdown(self._annotated, by, self.metric, self.rank_type)
        return self._breakdowns[by]

    @cached_property
    def _annotated(self) -> pd.DataFrame:
        return annotate(self.ranks, self.run.graph)


def evaluation(
    run: Run,
    split: str = "test",
    filter: str | None = None,
    rank_type: str = "realistic",
    metric: str = "inverse_harmonic_mean_rank",
    side: str = "both",
    progress: Progress = silent,
) -> Evaluation:
    """Ask for a run's ranks on a split; nothing is computed yet.

    :param run: the run
    :param split: "train", "valid" or "test"
    :param filter: what counts as known (default: what fits the split)
    :param rank_type: "optimistic", "realistic" or "pessimistic"
    :param metric: key of a metric
    :param side: "head", "tail" or "both"
    :param progress: called with (done, total) of the ranks; may raise to cancel
    :raises KgdashError: if a choice is unknown, or the split holds no triple
    """
    run.graph.split(split)
    chosen = filter or default_filter(split)
    if chosen not in FILTERS:
        raise unknown_name("filter", chosen, list(FILTERS), "kgdash")
    key = check_choices(metric, rank_type, None).key
    if key not in metric_records():
        raise unknown_name("metric", metric, list(metric_records()), "charts and reports")
    sides = [name for name in POOLS if name != "relation"]
    if side not in sides:
        raise unknown_name("side", side, sides, "charts and reports")
    return Evaluation(run, split, chosen, rank_type, key, side, progress)
