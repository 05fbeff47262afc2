"""Table of ranks → any metric by groups of triples, with bootstrap intervals and ties.

Defined in numbers.md#13-breakdowns.

The metrics of `kgdash.ranking.ratio_metrics` are computed for all groups at once by NumPy's group
reductions; all others by PyKEEN's classes, group by group. Tests hold both against these classes.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.breakdowns.grouped_ranks import GroupedRanks, SideRanks
from kgdash.breakdowns.grouping import Groups, groups_of
from kgdash.breakdowns.rank_facts import SINGLE_SIDES
from kgdash.errors import KgdashError, check_name
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.ranking.metric import Metric, RatioMetric
from kgdash.ranking.metric_lookup import DEFAULT_KS, find_metric, metric_calculators
from kgdash.ranking.metrics import POOLS
from kgdash.ranking.ratio_metrics import ratio_intervals
from kgdash.statistics.bootstrap import check_level

#: groups of fewer triples are marked: their values say little
SMALL = 30


def breakdown(
    annotated: pd.DataFrame,
    by: str | Groups,
    metric: str = "inverse_harmonic_mean_rank",
    rank_type: str = "realistic",
    level: float | None = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Compute a metric per group of triples and side, with its interval and the blur of ties.

    The interval, where there is one, is a bootstrap over the group's triples (`ratio_intervals`);
    a triple's two ranks are drawn together.

    :param annotated: of `add_rank_facts`, or some of its rows
    :param by: one of `kgdash.breakdowns.grouping.GROUPINGS`, or groups of this table: of
        `kgdash.breakdowns.custom_grouping.groups_by`, say
    :param metric: a name that `kgdash.ranking.metric_lookup.find_metric` takes: "mrr", "hits@7"
    :param level: of the intervals, in (0, 1); None for none, which is faster
    :param seed: of the bootstrap, ≥ 0; a group's interval does not depend on the other groups
    :return: one row per side ("head", "tail", "both" pooled, "relation", as far as the table has
        them) and group that has ranks there, groups in their order: ``group``, ``side`` (str),
        ``count`` (int64: ranks), ``triples`` (int64), ``value``, ``low``, ``high`` (float64; the
        ends NaN without an interval, and for metrics that are no function of a ratio of sums),
        ``small`` (bool: fewer than 30 triples), ``optimistic``, ``pessimistic`` (by these ranks),
        ``gap`` (their distance, ≥ 0), ``tied_share`` (of the ranks whose true answer shares its
        score with another candidate, in [0, 1]), ``largest_tie`` (int64: scores in the largest such
        group, the true one included; 1: none)
    :raises KgdashError: if there are no ranks, they have no facts, or a choice is unknown
    """
    asked = check_choices(metric, rank_type, level)
    places, codes, groups = groups_of(annotated, by)
    sides, triples, *ranks = (
        values[places]
        for values in (
            annotated["side"].cat.codes.to_numpy(),
            *(annotated[name].to_numpy() for name in ("triple", "candidates", *RANK_TYPES)),
        )
    )
    rows = _Rows(GroupedRanks(sides, codes, triples, len(groups)), *ranks)
    sums = _Sums.of(rows, asked)
    tables = []
    for side, pool in POOLS.items():
        wanted = [SINGLE_SIDES.index(s) for s in pool]
        if not sums.count[wanted].any(axis=1).all():
            continue
        part = SideRanks(rows.grouped, wanted)
        table = _table(rows, part, sums, asked)
        table["value"] = table[rank_type]
        table["low"], table["high"] = np.nan, np.nan
        if asked.ratio is not None and level is not None:
            ends = _intervals(rows, part, asked.ratio, rank_type, level, seed)
            table[["low", "high"]] = ends
        table.insert(0, "group", groups)
        table.insert(1, "side", side)
        tables.append(table[table["count"] > 0])
    if not tables:
        raise KgdashError("no rank is in any of the groups: choose others")
    order = ["group", "side", "count", "triples", "value", "low", "high", "small"]
    order += ["optimistic", "pessimistic", "gap", "tied_share", "largest_tie"]
    return pd.concat(tables, ignore_index=True)[order]


def check_choices(metric: str, rank_type: str, level: float | None) -> Metric:
    """Refuse choices that `breakdown` would refuse, before anything is computed for it.

    :return: the metric
    :raises KgdashError: if one is unknown or out of range
    """
    record = find_metric(metric, "breakdowns")
    check_name("rank type", rank_type, RANK_TYPES, "breakdowns")
    if level is not None:
        check_level(level)
    return record


@dataclass(frozen=True, eq=False)
class _Rows:
    """Ranks in groups, their numbers of candidates, and their values of each type."""

    grouped: GroupedRanks
    candidates: np.ndarray
    optimistic: np.ndarray
    realistic: np.ndarray
    pessimistic: np.ndarray

    def of_type(self, rank_type: str) -> np.ndarray:
        """Return the ranks of a type, ``(n,)``."""
        ranks: np.ndarray = getattr(self, rank_type)
        return ranks


@dataclass(frozen=True, eq=False)
class _Sums:
    """Per single side and group: ranks, those that are tied, and their largest tie's others.

    ``below``, and ``above`` by rank type: the sums of a `RatioMetric`; empty for other metrics.
    """

    count: np.ndarray
    tied: np.ndarray
    largest: np.ndarray
    below: np.ndarray
    above: dict[str, np.ndarray]

    @classmethod
    def of(cls, rows: _Rows, metric: Metric) -> "_Sums":
        """Add up."""
        grouped, candidates = rows.grouped, rows.candidates
        others = rows.pessimistic - rows.optimistic
        count, tied = grouped.sums(), grouped.sums(others > 0)
        below, above, ratio = np.empty(0), {}, metric.ratio
        if ratio is not None:
            below = grouped.sums(ratio.denominator(rows.optimistic, candidates))
            above = {
                kind: grouped.sums(ratio.numerator(rows.of_type(kind), candidates))
                for kind in RANK_TYPES
            }
        return cls(count, tied, grouped.largest(others), below, above)


def _table(rows: _Rows, part: SideRanks, sums: _Sums, metric: Metric) -> pd.DataFrame:
    """Compute all columns but the names and the intervals: one row per group, empty ones too."""
    counts = sums.count[part.sides].sum(axis=0)
    table = pd.DataFrame({"count": counts, "triples": part.triples})
    table["small"] = table["triples"] < SMALL
    if metric.ratio is None:
        by_type = _by_pykeen(rows, part, metric.key)
    else:
        below = sums.below[part.sides].sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_type = {
                kind: metric.ratio.transform(above[part.sides].sum(axis=0) / below)
                for kind, above in sums.above.items()
            }
    for kind, values in by_type.items():
        table[kind] = values
    table["gap"] = (table["optimistic"] - table["pessimistic"]).abs()
    table["tied_share"] = sums.tied[part.sides].sum(axis=0) / np.maximum(counts, 1)
    table["largest_tie"] = sums.largest[part.sides].max(axis=0) + 1
    return table


def _by_pykeen(rows: _Rows, part: SideRanks, metric: str) -> dict[str, np.ndarray]:
    """Compute a metric by PyKEEN's class, group by group: rank type -> ``(groups,)``."""
    calculator, groups = metric_calculators(DEFAULT_KS)[metric], rows.grouped.groups
    values = {kind: np.full(groups, np.nan) for kind in RANK_TYPES}
    for group, at in enumerate(part.positions()):
        for kind in RANK_TYPES if len(at) else ():
            # As `kgdash.ranking.metrics.metrics` has it: PyKEEN keeps realistic ranks in float32.
            dtype = np.float32 if kind == "realistic" else np.int64
            ranks = rows.of_type(kind)[at].astype(dtype)
            values[kind][group] = calculator(ranks, rows.candidates[at])
    return values


def _intervals(
    rows: _Rows, part: SideRanks, ratio: RatioMetric, rank_type: str, level: float, seed: int
) -> np.ndarray:
    """Return the low and high end per group: ``(groups, 2)``, NaN for those of few triples."""
    ranks, candidates = rows.of_type(rank_type)[part.at], rows.candidates[part.at]
    above, below = (
        part.sums_of_triples(values(ranks, candidates))
        for values in (ratio.numerator, ratio.denominator)
    )
    seeds = [(seed, group) for group in range(len(part.triples))]
    return ratio_intervals(ratio, above, below, part.triples, level, seeds)
