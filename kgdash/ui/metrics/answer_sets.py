"""What the page Answer sets shows: groups, thresholds side by side, and the sets by name."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from kgdash.graph import IDS
from kgdash.graph.communities import describe_communities, find_communities
from kgdash.runs.call import Call
from kgdash.studies.probability.answer_sets import AnswerSets
from kgdash.studies.probability.query_groups import grouping
from kgdash.studies.probability.set_members import set_members
from kgdash.studies.probability.set_tables import CONDITIONS
from kgdash.studies.probability.set_verdict import GROUP_NAMES
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.subgraphs.link import open_local
from kgdash.ui.widgets.address import chosen_in_address, keep_in_address
from kgdash.ui.widgets.chart import clicked_point
from kgdash.ui.widgets.choices import group_name
from kgdash.ui.widgets.inspect_link import show_triples
from kgdash.ui.widgets.selection import selected_point
from kgdash.ui.widgets.table import show_table

#: sets that are listed
_LISTED = 30

#: of the address
_GROUP = "set_group"

_COVERAGE = {"coverage": "coverage", "low": "from", "high": "to", "mean_size": "mean size ↓"}


def choose_set_group(figure: go.Figure, table: pd.DataFrame, by: str, name: str) -> int | None:
    """Show the coverage of groups; return the row of that clicked last, which the address keeps.

    :param figure: of `kgdash.charts.group_rows.coverage_figure`
    :param table: what it draws
    """
    named, key = chosen_in_address(_GROUP), f"coverage_{by}"
    clicked_point(figure, key, name, partial(_take_group, key, table["group"].tolist()))
    rows = np.flatnonzero(table["group"] == named)
    return int(rows[0]) if len(rows) else None


def _take_group(key: str, groups: list[str]) -> None:
    row = selected_point(st.session_state[key])
    keep_in_address(_GROUP, "" if row is None else str(groups[int(row)]))


def show_groups(table: pd.DataFrame, by: str, name: str) -> None:
    """List the coverage of all groups.

    :param table: of `kgdash.studies.probability.answer_sets.AnswerSets.by_groups`
    """
    with st.expander(f"All {len(table):,} {GROUP_NAMES[by][0]}", icon=":material/table_rows:"):
        shown = table.drop(columns="number")
        titles = {"group": GROUP_NAMES[by][1], "n": "queries", **_COVERAGE}
        show_table(
            shown, "coverage_groups", name, **titles, median_size="median size ↓", p_holm="p (Holm)"
        )


def show_comparison(table: pd.DataFrame, name: str) -> None:
    """List plain and group-wise sets side by side.

    :param table: of `kgdash.studies.probability.answer_sets.compare_conditions`
    """
    plain_size = table.loc[table["condition"] == "none", "mean_size"].iloc[0]
    shown = table.assign(
        condition=["all alike" if name == "none" else group_name(name) for name in table.condition],
        cost=table["mean_size"] / plain_size,
    )[["condition", "coverage", "covgap", "worst", "mean_size", "cost"]]
    titles = {"condition": "threshold by", "covgap": "gap ↓", "cost": "× plain ↓"}
    show_table(
        shown,
        "conditions",
        name,
        table.assign(thresholds=table["condition"].map(CONDITIONS)),
        coverage="coverage",
        worst="worst ↑",
        mean_size="size ↓",
        **titles,
    )
    st.caption(
        "Gap: how far the coverage of a group lies from the promise, on average (CovGap). "
        "Worst: the least coverage of groups with 100 test queries or more. Size: on average, and "
        "in times that of one threshold for all."
    )


def show_sets(sets: AnswerSets, by: str, group: Any, key: tuple[Any, ...]) -> None:
    """List sets by name, those that miss the true answer first; a row opens its triple.

    :param group: the row of `by_groups` whose sets are wanted; None: all
    :param key: what the sets depend on
    """
    run, rows = sets.run, np.arange(len(sets.queries))
    if group is not None:
        rows = rows[grouping(run, by).codes(sets.asked) == group["number"]]
        st.header(f"Sets: {plain(str(group['group']))}")
        _offer_way(sets, by, int(group["number"]))
    else:
        st.header("Sets")
    queries = sets.queries.iloc[rows]
    order = np.lexsort((queries["size"], queries["covered"]))
    first = rows[order][:_LISTED]
    st.caption(
        f"{len(first):,} of {len(rows):,} sets: those without the true answer first, then the "
        "smallest. ✓ marks the true answer. Select a row to inspect its triple."
    )
    number = None if group is None else int(group["number"])
    about = (*key, by, number, "members")
    named = computed("Naming candidates", about, Call(set_members, sets, first))
    ids = named[IDS].to_numpy()
    shown = run.graph.with_names(named).rename(columns={"side": "open"})
    shown["covered"] = np.where(named["covered"], "✓ in", "✗ not in")
    wide = {"members": st.column_config.TextColumn("set, best first", width="large")}
    show_triples(
        run.graph,
        ids,
        shown[[*IDS, "open", "covered", "size", "members"]],
        f"sets_{by}_{number}",
        f"{run.name}-answer-sets",
        covered="true answer",
        **wide,
    )


def _offer_way(sets: AnswerSets, by: str, number: int) -> None:
    """Offer the view of a group, where there is one."""
    graph = sets.run.graph
    if by == "relation":
        st.page_link(
            "pages/breakdowns.py",
            label="Metrics by relation",
            icon=":material/arrow_forward:",
            query_params={"order_relation": "worst first"},
        )
    elif by == "community" and st.button("Open its neighbourhood", icon=":material/my_location:"):
        about = describe_communities(graph, find_communities(graph), [number])[number]
        entity = graph.entities[int(about.central[0])]
        open_local("neighbourhood", entity=entity, size=60, hops=1)
