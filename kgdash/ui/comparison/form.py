"""The choices of the page Compare runs, kept in the URL, and the ranks that they lead to."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.ranking.metric import Metric
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.html import comparison_page
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.ui.comparison.runs_form import choose_runs
from kgdash.ui.metrics.report_button import offer_page
from kgdash.ui.runtime.results import ranks_of
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.choices import (
    choice,
    choose_filter,
    choose_metric,
    choose_rank_type,
    choose_side,
    choose_split,
)


@dataclass(frozen=True)
class Compared:
    """Runs, their ranks on the same triples, and what the page shows of them."""

    runs: dict[str, Run]
    ranks: dict[str, pd.DataFrame]
    split: str
    filter: str
    side: str
    rank_type: str
    metric: Metric

    @property
    def graph(self) -> KnowledgeGraph:
        """Return the graph that all runs are on."""
        return next(iter(self.runs.values())).graph

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Return what the ranks depend on, for `computed`."""
        return (*(run.identity for run in self.runs.values()), "compared", self.split, self.filter)

    @property
    def sides(self) -> str:
        """Return side and rank type as the first words of a text."""
        return f"{self.side.capitalize()} side{'s' * (self.side == 'both')}, {self.rank_type} ranks"

    @property
    def name(self) -> str:
        """Return the first part of the names of files."""
        return f"compared-{self.graph.name}-{self.split}"


def choose_comparison(run: Run) -> Compared:
    """Show the choices, rank by every run and return what is compared."""
    runs = choose_runs(run)
    with settings():
        metric = choose_metric(
            "Of the views Overall, By group and Seeds; the others compare reciprocal ranks."
        )
    with more_settings():
        split = choose_split(run.graph)
        filter_name = choose_filter(split)
        side = choose_side()
        rank_type = choose_rank_type()
    ranks = {name: ranks_of(run, split, filter_name) for name, run in runs.items()}
    return Compared(runs, ranks, split, filter_name, side, rank_type, metric)


def offer_comparison_report(compared: Compared) -> None:
    """Show a button that makes the report of the runs as they are compared, then one to save it."""
    setting = RankSetting.parse(compared.split, compared.filter, compared.side, compared.rank_type)
    offer_page(
        Call(comparison_page, list(compared.runs.values()), setting, compared.metric.key),
        (*compared.key, "report", compared.side, compared.rank_type, compared.metric.key),
        f"{compared.name}-report",
        "One HTML file that works offline: paired tests, metrics, where each run is better, which "
        "to trust where, true against false, calibration; with the commands behind it.",
    )


def choose_pair(compared: Compared) -> tuple[str, str]:
    """Show the choice of two of the runs and return their names."""
    names = list(compared.runs)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        a = choice("A", names, "a")
        b = choice("B", [name for name in names if name != a], "b")
    return a, b
