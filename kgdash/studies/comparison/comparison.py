"""2 to 8 runs on one graph, side by side: every metric, any group, and each run's position.

Defined in numbers.md#14-comparing-runs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.grouping import Groups
from kgdash.errors import KgdashError, check_name
from kgdash.graph import IDS
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.metric_lookup import DEFAULT_KS, find_metric, metric_records
from kgdash.ranking.metrics import MetricsTable, side_rows
from kgdash.ranking.metrics import metrics as all_metrics
from kgdash.runs import Run
from kgdash.statistics.rounding import rounded

FEWEST, MOST = 2, 8

COMPARED_SIDES = ("head", "tail", "both")

#: tables of `Run.ranks` by the run's name, in the order of the runs
Ranks = Mapping[str, pd.DataFrame]

_TRIPLE = ["head", "relation", "tail", "side"]


def check_number(count: int, alone: bool = False) -> None:
    """Refuse fewer or more runs than are compared.

    :param alone: one run will do as well
    :raises KgdashError: unless there are 2 to 8
    """
    if count > MOST or (count < FEWEST and not alone):
        raise KgdashError(f"expected {FEWEST} to {MOST} runs to compare; found {count:,}")


def check_comparable(runs: Sequence[Run]) -> None:
    """Refuse runs that can not be compared triple by triple.

    :raises KgdashError: if there are fewer than 2 or more than 8, two are the same, or they are on
        different graphs
    """
    check_number(len(runs))
    graphs: dict[str, list[Run]] = {}
    for run in runs:
        graphs.setdefault(run.graph.digest, []).append(run)
    if len(graphs) > 1:
        found = "; ".join(
            f"{', '.join(run.name for run in members)} on {members[0].graph.name} "
            f"({len(members[0].graph.known()):,} triples, digest {digest[:8]})"
            for digest, members in graphs.items()
        )
        raise KgdashError(
            "runs are compared triple by triple, so they must be on the same graph with the same "
            f"splits; found {found}. Leave out those on another graph, or train them on this one"
        )
    first: dict[str, Run] = {}
    for run in runs:
        if run.digest in first:
            raise KgdashError(
                f"{first[run.digest].name} and {run.name} are the same run: their weights are "
                "equal. Leave one of them out"
            )
        first[run.digest] = run


def distinct_names(runs: Sequence[Run]) -> tuple[str, ...]:
    """Name each run so that no two have the same name: by its weights where folders agree."""
    times = Counter(run.name for run in runs)
    return tuple(
        run.name if times[run.name] == 1 else f"{run.name} ({run.weights_digest[:6]})"
        for run in runs
    )


def compared_ranks(
    runs: Sequence[Run], split: str = "test", filter: str | None = None, progress: Progress = silent
) -> dict[str, pd.DataFrame]:
    """Rank a split by every run, on both entity sides.

    :return: tables of `Run.ranks` by `distinct_names`
    :raises KgdashError: as `check_comparable` and `Run.ranks`
    """
    check_comparable(runs)
    reports = phases(progress, [1.0] * len(runs))
    return {
        name: run.ranks(split=split, filter=filter, progress=report)
        for name, run, report in zip(distinct_names(runs), runs, reports, strict=True)
    }


def overall(ranks: Ranks, ks: Sequence[int] = DEFAULT_KS) -> pd.DataFrame:
    """Compute every metric of every run, and the run's position in each.

    :param ranks: of `compared_ranks`
    :return: as `overall_of`
    :raises KgdashError: if the tables are not of the same triples
    """
    check_aligned(ranks)
    return overall_of({name: all_metrics(table, ks) for name, table in ranks.items()}, ks)


def overall_of(values: Mapping[str, MetricsTable], ks: Sequence[int] = DEFAULT_KS) -> pd.DataFrame:
    """Lay the metrics of several runs out side by side, with the position of each run.

    :param values: results of `kgdash.ranking.metrics.metrics` by the run's name
    :param ks: that they were computed with
    :return: one row per metric (but "count"), side, rank type and run: ``metric, side, rank_type,
        run`` (str), ``value`` (float64), ``position`` (Int64: 1 for the best, equal values share
        theirs; missing where the value is NaN)
    """
    guide = metric_records(tuple(ks))
    rows = [
        (metric, side, rank_type, name, value)
        for metric in guide
        if metric != "count"
        for side in next(iter(values.values())).sides
        for rank_type in RANK_TYPES
        for name, of_run in values.items()
        for value in [of_run.frame.at[metric, (side, rank_type)]]
    ]
    table = pd.DataFrame(rows, columns=["metric", "side", "rank_type", "run", "value"])
    increasing = table["metric"].map({key: info.increasing for key, info in guide.items()})
    table["position"] = _positions(table, ["metric", "side", "rank_type"], increasing)
    return table


def by_group(
    annotated: pd.DataFrame,
    ranks: Ranks,
    by: str | Groups,
    metric: str = "inverse_harmonic_mean_rank",
    rank_type: str = "realistic",
    progress: Progress = silent,
) -> pd.DataFrame:
    """Compute a metric of every run in every group of triples, and the run's position in each.

    :param annotated: `add_rank_facts` of any of the tables: all hold the same triples
    :param ranks: of `compared_ranks`
    :param by: as in `kgdash.breakdowns.breakdown.breakdown`
    :param metric: key of a metric of `kgdash.ranking.metrics`; hits_at_k for any k ≥ 1
    :return: one row per side, group that has ranks there, and run: ``group, side, run`` (str),
        ``triples`` (int64), ``small`` (bool: fewer than 30), ``value`` (float64), ``position``
        (Int64, as in `overall_of`)
    :raises KgdashError: if the tables are not of the same triples, or a choice is unknown
    """
    check_aligned(ranks)
    parts = []
    for number, (name, table) in enumerate(ranks.items()):
        progress(number, len(ranks))
        own = annotated.assign(**{column: table[column].to_numpy() for column in RANK_TYPES})
        parts.append(breakdown(own, by, metric, rank_type, level=None).assign(run=name))
    progress(len(ranks), len(ranks))
    table = pd.concat(parts)[["group", "side", "run", "triples", "small", "value"]]
    table = table.sort_index(kind="stable").reset_index(drop=True)  # run after run of each group
    table["position"] = _positions(table, ["side", "group"], find_metric(metric).increasing)
    return table


def mean_positions(groups: pd.DataFrame) -> pd.DataFrame:
    """Average the positions of each run over the groups, each group counting the same.

    :param groups: of `by_group`
    :return: one row per side and run, in their order: ``side, run`` (str), ``groups`` (int64: with
        a position), ``best`` (int64: groups where it is first, alone or with others),
        ``mean_position`` (float64, ≥ 1; NaN without groups)
    """
    placed = groups.assign(best=(groups["position"] == 1).fillna(False).astype(np.int64))
    found = placed.groupby(["side", "run"], sort=False).agg(
        groups=("position", "count"), best=("best", "sum"), mean_position=("position", "mean")
    )
    return found.reset_index().astype({"groups": np.int64, "mean_position": np.float64})


def stacked_ranks(ranks: Ranks, side: str = "both", rank_type: str = "realistic") -> np.ndarray:
    """Put the ranks of all runs into one array.

    :param ranks: of `compared_ranks`, or some of them
    :return: float64, ≥ 1, shape ``(sides, triples, runs)``, triples in the order of the split
    :raises KgdashError: if the tables are not of the same triples, or a choice is unknown
    """
    check_aligned(ranks)
    check_name("rank type", rank_type, RANK_TYPES, "comparisons")
    check_name("side", side, COMPARED_SIDES, "comparisons")
    rows = side_rows(next(iter(ranks.values())), side)
    columns = [table[rank_type].to_numpy(dtype=np.float64)[rows] for table in ranks.values()]
    return np.stack(columns, axis=2)


def reciprocal_ranks(ranks: Ranks, side: str = "both", rank_type: str = "realistic") -> np.ndarray:
    """Return the reciprocal rank of every triple by every run.

    The mean of a column is the run's MRR on that side (numbers.md#2-metrics).

    :param ranks: of `compared_ranks`, or some of them
    :param side: "head", "tail", or "both" for the mean of the triple's two
    :return: float64 in (0, 1], shape ``(triples, runs)``, triples in the order of the split
    :raises KgdashError: as `stacked_ranks`
    """
    return (1.0 / stacked_ranks(ranks, side, rank_type)).mean(axis=0)


def triples_of(ranks: Ranks, side: str = "both") -> np.ndarray:
    """Return the ranked triples in the order of `reciprocal_ranks`: ids, ``(triples, 3)``."""
    check_name("side", side, COMPARED_SIDES, "comparisons")
    table = next(iter(ranks.values()))
    return table[IDS].to_numpy()[side_rows(table, side)[0]]


def pair_of(ranks: Ranks, a: str, b: str) -> dict[str, pd.DataFrame]:
    """Return the tables of two different runs.

    :raises KgdashError: if a name is unknown, or both are the same
    """
    for name in (a, b):
        check_name("run", name, ranks, "this comparison")
    if a == b:
        raise KgdashError(f"expected two different runs; found {a} twice")
    return {name: ranks[name] for name in (a, b)}


def check_aligned(ranks: Ranks) -> None:
    """Refuse tables that do not hold the same triples and sides in the same order.

    :raises KgdashError: naming the first table that differs
    """
    first, *others = ranks
    for name in others:
        if not ranks[name][_TRIPLE].equals(ranks[first][_TRIPLE]):
            raise KgdashError(
                f"expected ranks of the same triples in the same order; those of {name} differ "
                f"from those of {first}. Rank the same split by both"
            )


def _positions(table: pd.DataFrame, within: list[str], increasing: pd.Series | bool) -> pd.Series:
    """Number the values within each group of rows from the best, 1; equal ones share theirs."""
    values = rounded(table["value"].to_numpy()) * np.where(increasing, -1.0, 1.0)
    best_first = pd.Series(values, table.index)
    keys = [table[column] for column in within]
    return best_first.groupby(keys, sort=False).rank(method="min").astype("Int64")
