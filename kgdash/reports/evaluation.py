"""A run's ranks on one split by one filter, and the tables that are asked of them."""

from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.errors import check_name, unknown_name
from kgdash.progress import Progress, silent
from kgdash.ranking.metric import Metric
from kgdash.ranking.metric_lookup import DEFAULT_KS, find_metric, metric_records
from kgdash.ranking.metrics import POOLS, MetricsTable, metrics, tie_summary
from kgdash.ranking.rank_setting import RankSetting
from kgdash.runs import Run


@dataclass(frozen=True)
class Evaluation:
    """Each table is computed when it is first asked for, with the numbers of pages and commands.

    ``setting`` says which ranks charts and groups are of, ``metric`` which metric, by its key;
    ``progress`` is called while ranks are computed, ``patterns`` while relations' patterns are.
    Made by `evaluation`.
    """

    run: Run
    setting: RankSetting
    metric: str
    progress: Progress = silent
    patterns: Progress = silent
    _breakdowns: dict[str, pd.DataFrame] = field(default_factory=dict, repr=False, compare=False)

    @property
    def split(self) -> str:
        """Return the split whose triples are ranked."""
        return self.setting.split

    @property
    def filter(self) -> str:
        """Return the filter, the default one where none was chosen."""
        return self.setting.filter_used

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
            self._breakdowns[by] = breakdown(
                self._annotated, by, self.metric, self.setting.rank_type
            )
        return self._breakdowns[by]

    @cached_property
    def _annotated(self) -> pd.DataFrame:
        return add_rank_facts(self.ranks, self.run.graph, self.patterns)


def evaluation(
    run: Run,
    setting: RankSetting | None = None,
    metric: str = "inverse_harmonic_mean_rank",
    progress: Progress = silent,
    patterns: Progress = silent,
) -> Evaluation:
    """Ask for a run's ranks on a split; nothing is computed yet.

    :param setting: which ranks; none for the realistic ones of both sides on test
    :param metric: a name that `kgdash.ranking.metric_lookup.find_metric` takes
    :param progress: called with (done, total) of the ranks; may raise to cancel
    :param patterns: the same of the patterns of relations, which groups of ranks need
    :raises KgdashError: if a choice is unknown, or the split holds no triple
    """
    setting = setting or RankSetting()
    run.graph.split(setting.split)
    key = find_metric(metric, "charts and reports").key
    if key not in metric_records():
        raise unknown_name("metric", metric, list(metric_records()), "charts and reports")
    sides = [name for name in POOLS if name != "relation"]
    check_name("side", setting.side, sides, "charts and reports")
    return Evaluation(run, setting, key, progress, patterns)
