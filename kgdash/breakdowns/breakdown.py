"""Table of ranks → any metric by groups of triples, with bootstrap intervals and ties.

Defined in numbers.md#13-breakdowns.

The metrics of `kgdash.ranking.ratio_metrics` are computed for all groups at once by NumPy's group
reductions; all others by PyKEEN's classes, group by group. Tests hold both against these classes.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from kgdash.breakdowns.grouping import Groups, groups_of
from kgdash.breakdowns.rank_facts import SINGLE_SIDES
from kgdash.engine.ordering_kernels import stable_order
from kgdash.errors import KgdashError, check_name
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.ranking.metric import Metric, RatioMetric
from kgdash.ranking.metric_lookup import DEFAULT_KS, find_metric, metric_calculators
from kgdash.ranking.metrics import POOLS
from kgdash.ranking.ratio_metrics import FEWEST, ratio_intervals
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

    The interval is a bootstrap over the group's triples (`ratio_intervals`); a
    triple's two ranks are drawn together. There is none for fewer than 10 triples, nor where all
    values of a group are equal: resampling those would claim a certainty that they do not give.

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
    columns = ("triple", "candidates", *RANK_TYPES)
    arrays = {column: annotated[column].to_numpy()[places] for column in columns}
    side_codes = annotated["side"].cat.codes.to_numpy()[places]
    tables = []
    for side, pool in POOLS.items():
        wanted = [SINGLE_SIDES.index(s) for s in pool]
        if not np.isin(wanted, side_codes).all():
            continue
        at = np.isin(side_codes, wanted)
        every = bool(at.all())
        rows = _Rows(
            codes if every else codes[at],
            {name: values if every else values[at] for name, values in arrays.items()},
            len(groups),
        )
        table = _table(rows, asked)
        table["value"] = table[rank_type]
        table["low"], table["high"] = np.nan, np.nan
        if asked.ratio is not None and level is not None:
            table[["low", "high"]] = _intervals(rows, asked.ratio, rank_type, level, seed)
            certain = (table["triples"] < FEWEST) | (table["low"] == table["high"])
            table.loc[certain, ["low", "high"]] = np.nan
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


@dataclass(frozen=True)
class _Rows:
    """The ranks that one side pools: group of each row, its columns, number of groups."""

    codes: np.ndarray
    columns: dict[str, np.ndarray]
    groups: int

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum per group: float64, shape ``(groups,)``."""
        return np.bincount(self.codes, weights=values, minlength=self.groups)

    @cached_property
    def order(self) -> np.ndarray:
        """Return the rows by group, then by triple: int64."""
        triples = self.columns["triple"]
        by_triple = stable_order(triples, int(triples.max(initial=0)) + 1)
        return by_triple[stable_order(self.codes[by_triple], self.groups)]

    @cached_property
    def starts(self) -> np.ndarray:
        """Return where, in that order, the rows of each triple of a group start: int64."""
        codes, triples = self.codes[self.order], self.columns["triple"][self.order]
        new = np.ones(len(codes), dtype=bool)
        new[1:] = (codes[1:] != codes[:-1]) | (triples[1:] != triples[:-1])
        return np.flatnonzero(new)

    @cached_property
    def triples(self) -> np.ndarray:
        """Return the number of triples per group: int64, shape ``(groups,)``."""
        return np.bincount(self.codes[self.order[self.starts]], minlength=self.groups)

    def sums_of_triples(self, values: np.ndarray) -> np.ndarray:
        """Return the sum per triple of a group, one group's after the other's: float64."""
        return np.add.reduceat(values[self.order].astype(np.float64), self.starts)


def _table(rows: _Rows, metric: Metric) -> pd.DataFrame:
    """Compute all columns but the names and the intervals: one row per group, empty ones too."""
    columns = rows.columns
    counts = np.bincount(rows.codes, minlength=rows.groups)
    table = pd.DataFrame({"count": counts, "triples": rows.triples})
    table["small"] = table["triples"] < SMALL
    if metric.ratio is None:
        by_type = _by_pykeen(rows, metric.key)
    else:
        ratio, candidates = metric.ratio, columns["candidates"]
        below = rows.sums(ratio.denominator(columns["optimistic"], candidates))
        with np.errstate(divide="ignore", invalid="ignore"):
            by_type = {
                kind: ratio.transform(rows.sums(ratio.numerator(columns[kind], candidates)) / below)
                for kind in RANK_TYPES
            }
    for kind, values in by_type.items():
        table[kind] = values
    table["gap"] = (table["optimistic"] - table["pessimistic"]).abs()
    others = columns["pessimistic"] - columns["optimistic"]
    table["tied_share"] = rows.sums(others > 0) / np.maximum(counts, 1)
    largest = np.zeros(rows.groups, dtype=np.int64)
    np.maximum.at(largest, rows.codes, others)
    table["largest_tie"] = largest + 1
    return table


def _by_pykeen(rows: _Rows, metric: str) -> dict[str, np.ndarray]:
    """Compute a metric by PyKEEN's class, group by group: rank type -> ``(groups,)``."""
    calculator = metric_calculators(DEFAULT_KS)[metric]
    values = {kind: np.full(rows.groups, np.nan) for kind in RANK_TYPES}
    stops = np.cumsum(np.bincount(rows.codes, minlength=rows.groups))
    for group, part in enumerate(np.split(rows.order, stops[:-1])):
        for kind in RANK_TYPES if len(part) else ():
            # As `kgdash.ranking.metrics.metrics` has it: PyKEEN keeps realistic ranks in float32.
            dtype = np.float32 if kind == "realistic" else np.int64
            ranks = rows.columns[kind][part].astype(dtype)
            values[kind][group] = calculator(ranks, rows.columns["candidates"][part])
    return values


def _intervals(
    rows: _Rows, ratio: RatioMetric, rank_type: str, level: float, seed: int
) -> np.ndarray:
    """Return the low and high end per group: ``(groups, 2)``, NaN for empty ones."""
    ranks, candidates = rows.columns[rank_type], rows.columns["candidates"]
    above, below = (
        rows.sums_of_triples(values(ranks, candidates))
        for values in (ratio.numerator, ratio.denominator)
    )
    seeds = [(seed, group) for group in range(rows.groups)]
    return ratio_intervals(ratio, above, below, rows.triples, level, seeds)
