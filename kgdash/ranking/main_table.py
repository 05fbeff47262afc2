"""The table that papers print: the best-known metrics of one run or several."""

from collections.abc import Mapping, Sequence

import pandas as pd

from kgdash.errors import KgdashError, unknown_name
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.ranking.metric_lookup import find_metric
from kgdash.ranking.metrics import POOLS, MetricsTable

#: key of a metric -> what a column of the table is headed by
MAIN_METRICS = {
    metric.key: metric.short
    for metric in map(
        find_metric, ("mrr", "hits@1", "hits@3", "hits@10", "mr", "medr", "amr", "amri")
    )
}


def main_table(
    runs: Mapping[str, MetricsTable], rank_types: Sequence[str] = RANK_TYPES
) -> pd.DataFrame:
    """Lay out the main metrics of some runs.

    :param runs: name of the run -> `metrics` with k = 1, 3 and 10 among its k
    :param rank_types: which of "optimistic", "realistic" and "pessimistic"
    :return: float64; one row per side, rank type and run, named by an index of these three, runs
        innermost so that they stand below one another; columns `MAIN_METRICS` (keys)
    :raises KgdashError: if there is no run, or a rank type is unknown
    """
    wrong = [kind for kind in rank_types if kind not in RANK_TYPES]
    if wrong:
        raise unknown_name("rank type", wrong[0], RANK_TYPES, "metrics")
    if not runs or not rank_types:
        raise KgdashError("a table of metrics needs at least one run and one rank type")
    rows = {
        (side, kind, name): {key: table.value(key, side, kind) for key in MAIN_METRICS}
        for side in POOLS
        for kind in rank_types
        for name, table in runs.items()
        if side in table.sides
    }
    index = pd.MultiIndex.from_tuples(list(rows), names=["side", "ranks", "run"])
    return pd.DataFrame(list(rows.values()), index=index, columns=list(MAIN_METRICS), dtype=float)


def evaluated_text(graph: str, split: str, filter: str, triples: int, candidates: int) -> str:
    """Say what metrics are of, for captions.

    :param graph: its name
    :param triples: how many were ranked
    :param candidates: entities that each was ranked among, before filtering
    """
    how = "raw" if filter == "none" else f"filtered by {filter}"
    plural = "s" * (triples != 1)
    return (
        f"{graph}, {split} split: {triples:,} triple{plural}, {how}, {candidates:,} candidate "
        "entities a side before filtering"
    )
