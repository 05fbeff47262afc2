"""Ranks and metrics of a run for pages, remembered: pages that ask the same share the answer."""

from __future__ import annotations

import pandas as pd

from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.graph.restriction import Restriction
from kgdash.ranking.metric_lookup import DEFAULT_KS
from kgdash.ranking.metrics import MetricsTable, metrics
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.ui.runtime.computed import computed


def ranks_of(
    run: Run, split: str, filter: str, restriction: Restriction | None = None
) -> pd.DataFrame:
    """Return `Run.ranks`."""
    restriction = restriction or Restriction()
    raw = " without a filter" if filter == "none" else ""
    ranks: pd.DataFrame = computed(
        f"Ranking all {split} triples of {run.name}{raw}",
        (run.identity, "ranks", split, filter, *restriction.key),
        Call(run.ranks, split, filter=filter, restriction=restriction),
    )
    return ranks


def metrics_of(
    run: Run,
    split: str,
    filter: str,
    ks: tuple[int, ...] = DEFAULT_KS,
    restriction: Restriction | None = None,
) -> MetricsTable:
    """Return `kgdash.ranking.metrics.metrics` of these ranks."""
    ranks = ranks_of(run, split, filter, restriction)
    restriction = restriction or Restriction()
    values: MetricsTable = computed(
        "Metrics",
        (run.identity, "metrics", split, filter, ks, *restriction.key),
        Call(metrics, ranks, ks),
    )
    return values


def ranks_with_facts(run: Run, split: str, filter: str) -> pd.DataFrame:
    """Return these ranks with what they can be grouped by."""
    ranks = ranks_of(run, split, filter)
    table: pd.DataFrame = computed(
        "Sorting triples into groups",
        (run.identity, "annotated", split, filter),
        Call(add_rank_facts, ranks, run.graph),
    )
    return table
