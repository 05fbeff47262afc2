"""What the page Agreement shows: the answer, the runs, where they disagree, on which queries."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.charts.comparison import ambiguity_bars
from kgdash.progress import Progress, phases
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.runs.library import named_stamps
from kgdash.statistics.estimate import Estimate, percent
from kgdash.studies.agreement.agreement import Agreement, AgreementSetting
from kgdash.studies.agreement.agreement_report import (
    MEASURES,
    agreement_by,
    discrepancies,
    foreseen_conflicts,
)
from kgdash.studies.agreement.agreement_verdict import foreseen_verdict
from kgdash.studies.comparison.comparison import MOST
from kgdash.studies.comparison.seeds import other_seeds
from kgdash.studies.inspection.other_runs import runs_on_same_graph
from kgdash.studies.probability.query_groups import GROUPINGS
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.loaded_runs import quick_runs, sound_runs
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.choices import (
    choose_filter,
    choose_one,
    choose_split,
    drop_empty,
    group_name,
)
from kgdash.ui.widgets.inspect_link import IDS, show_triples
from kgdash.ui.widgets.table import show_table

#: rows of the list of queries on the page; the files have all
_SHOWN = 500

_MARGINS = {0.05: "5%", 0.1: "10%", 0.2: "20%", 1.0: "any"}


def suggested_runs(run: Run) -> list[str]:
    """Name the runs that the page opens with: those that differ from the chosen one in the seed."""
    names = computed(
        "Looking for runs",
        (run.identity, "seeds", named_stamps()),
        lambda report: _seeds_of(run, report),
    )
    return list(sound_runs(quick_runs(run, names), MOST - 1, beside=[run]))


def _seeds_of(run: Run, progress: Progress) -> list[str]:
    looking, telling = phases(progress, [1.0, 1.0])
    near = runs_on_same_graph(run, progress=looking)
    return other_seeds({run.name: run}, near, telling).get(run.name, [])


def choose_setting(run: Run) -> AgreementSetting:
    """Show the choices of what is compared."""
    for key in ("hit_at", "margin"):
        drop_empty(key)
    with settings():
        k = st.segmented_control(
            "A hit is a rank up to",
            [1, 3, 10],
            default=1,
            required=True,
            key="hit_at",
            bind="query-params",
        )
        margin = st.segmented_control(
            "MRR short of the best by at most",
            list(_MARGINS),
            default=0.05,
            required=True,
            format_func=_MARGINS.__getitem__,
            help="Runs that rank worse do not compete: that they disagree is no surprise.",
            key="margin",
            bind="query-params",
        )
    with more_settings():
        split = choose_split(run.graph)
        filter = choose_filter(split)
    return AgreementSetting(k, margin, split, filter)


def show_figures(found: Agreement, summary: dict[str, Estimate]) -> None:
    """Show the shares of queries in conflict, of all runs, of two, of votes, and the overlap."""
    titles = {
        "ambiguity": "In conflict ↓",
        "pairwise": "Two runs disagree ↓",
        "vote_pairwise": "Two votes disagree ↓",
        "overlap": "Overlap ↑",
        "vote_hits": f"Hits@{found.setting.k} of the vote ↑",
    }
    with st.container(horizontal=True):
        for name, title in titles.items():
            value = summary[name]
            ends = f"{percent(value.low)} to {percent(value.high)}" if value.ends else None
            if name == "vote_hits":
                ends = f"best run {percent(summary['best_hits'].value)}"
            show_card(title, percent(value.value), ends, f"{MEASURES[name].capitalize()}.")


def show_runs(found: Agreement) -> None:
    """Show what each run makes of the queries, and who was left out."""
    st.header("The runs")
    if found.left_out:
        st.caption(
            f"Left out, as they rank worse: {', '.join(map(plain, found.left_out))}. "
            "A wider margin lets them in."
        )
    table = discrepancies(found).drop(columns="competes")
    show_table(
        table,
        "runs",
        f"{_name(found)}-runs",
        mrr="MRR ↑",
        hits=f"Hits@{found.setting.k} ↑",
        discrepancy="unlike the best ↓",
    )


def show_where(found: Agreement, summary: dict[str, Estimate], key: tuple[Hashable, ...]) -> None:
    """Show the conflicts by group, and whether ReliK foresees them."""
    st.header("Where do they disagree?")
    about = (
        "Community, degree and ReliK are those of the entity that a query names, over its "
        f"training triples, by the best run, {plain(found.best)}."
    )
    by = choose_one("Queries by", list(GROUPINGS), "by", "relation", about, format_func=group_name)
    groups = computed("Conflicts by group", (*key, by), Call(agreement_by, found, by))
    foreseen = computed(
        "Asking ReliK for conflicts", (*key, "foreseen"), Call(foreseen_conflicts, found)
    )
    st.markdown(foreseen_verdict(foreseen))
    show_chart(ambiguity_bars(groups, summary["ambiguity"].value), "conflicts", _name(found, by))
    with st.expander(f"All {len(groups):,} groups", icon=":material/table_rows:"):
        show_table(
            groups.drop(columns=["number", "small"]),
            "groups",
            _name(found, by),
            groups,
            ambiguity="in conflict ↓",
            low="from",
            high="to",
            pairwise="two runs ↓",
            vote_pairwise="two votes ↓",
            hits=f"Hits@{found.setting.k} ↑",
        )


def show_conflicts(found: Agreement) -> None:
    """Show the queries in conflict, those most divided first; a row opens its triple."""
    st.header("Queries in conflict")
    rows = found.queries[found.queries["conflict"]]
    count = len(found.runs)
    divided = np.abs(rows["hits"] - count / 2)
    rows = rows.assign(divided=divided).sort_values(["divided", "overlap"], kind="stable")
    rows = rows.drop(columns=["divided", "conflict"])
    shown = rows.head(_SHOWN)
    few = f"The first {_SHOWN:,} of {len(rows):,}" if len(rows) > _SHOWN else f"{len(rows):,}"
    st.caption(
        f"{few}, the most divided first. Select a row to inspect it; there, *Other runs* shows "
        "what each makes of it."
    )
    graph = found.runs[found.best].graph
    show_triples(
        graph,
        shown[IDS].to_numpy(),
        _readable(graph.with_names(shown), count),
        "in_conflict",
        _name(found, "conflicts"),
        graph.with_names(rows),
        side="asked for",
        hits="hit by",
        vote_rank="rank by vote",
        vote_conflict="votes differ",
    )


def _readable(table: pd.DataFrame, count: int) -> pd.DataFrame:
    hits = [f"{n} of {count}" for n in table["hits"]]
    ranks = table["vote_rank"].replace(np.inf, np.nan)
    return table.assign(hits=hits, vote_rank=ranks)


def _name(found: Agreement, what: str = "agreement") -> str:
    graph = found.runs[found.best].graph
    return f"{graph.name}-{found.setting.split}-agreement-{what}".removesuffix("-agreement")
