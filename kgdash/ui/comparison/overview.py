"""Views of the page Compare runs that show all runs: overall, by group, and seeds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.custom_grouping import groups_by, missing_note
from kgdash.breakdowns.grouping import GROUPINGS, Groups
from kgdash.charts.comparison import metric_dots, position_heatmap, seed_dots
from kgdash.ranking.metric import Metric
from kgdash.ranking.metric_lookup import metric_records
from kgdash.runs.call import Call
from kgdash.studies.comparison.comparison import MOST, by_group, mean_positions, overall_of
from kgdash.studies.comparison.seeds import ENOUGH, other_seeds, seed_groups, seed_spread
from kgdash.studies.inspection.other_runs import runs_on_same_graph
from kgdash.ui.comparison.form import Compared
from kgdash.ui.comparison.runs_form import add_runs
from kgdash.ui.metrics.custom_groups_form import own_groupings
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.results import metrics_of, ranks_with_facts
from kgdash.ui.runtime.sidebar import settings
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.choices import choice
from kgdash.ui.widgets.notes import show_notes
from kgdash.ui.widgets.table import download, number_columns, show_table, written

_ORDERS = ("as they are", "most triples")


def show_overall(compared: Compared) -> None:
    """Show one metric of every run as a chart, and all of them as a table."""
    table, info = _overall(compared), compared.metric
    st.header(info.label)
    st.caption(
        f"{compared.rank_type.capitalize()} ranks of {_count(compared)} {compared.split} triples. "
        "Bars: 95% interval of both sides."
    )
    one = table[(table["metric"] == info.key) & (table["rank_type"] == compared.rank_type)]
    one = one.merge(_intervals(compared), on=["run", "side"], how="left")
    show_chart(metric_dots(one, info), "dots", f"{compared.name}-{info.key}")
    st.header("All metrics")
    st.caption(
        f"{compared.sides}. Position 1 is the best; equal values share theirs. The file has all "
        "sides and rank types."
    )
    chosen = table[(table["side"] == compared.side) & (table["rank_type"] == compared.rank_type)]
    _show_wide(chosen, "metric", compared, metric_records())
    download(table, f"{compared.name}-metrics")


def show_groups(compared: Compared) -> None:
    """Show one metric of every run in every group of triples, with positions."""
    first = next(iter(compared.runs.values()))
    own = own_groupings(first)
    with settings():
        by = choice(
            "Group by",
            {name: name.replace("_", " ") for name in GROUPINGS}
            | {name: name for name in own.saved},
            "by",
            help="As on the page Breakdowns. Your own groups are those of the first run; their "
            "conditions on ranks are read from its ranks.",
        )
        order = choice("Order", list(_ORDERS), f"order_{by}", _ORDERS[by == "relation"])
    annotated = ranks_with_facts(first, compared.split, compared.filter)
    groups = computed(
        "Sorting into groups",
        (*compared.key, "groups", *own.key(by)),
        Call(groups_by, annotated, compared.graph, own.saved.get(by, by)),
    )
    show_notes(missing_note(own.saved.get(by, by)))
    way = (compared.metric.key, compared.rank_type)
    table = computed(
        f"{compared.metric.label} of every group",
        (*compared.key, "by group", *own.key(by), *way),
        Call(by_group, annotated, compared.ranks, groups, *way),
    )
    rows = table[table["side"] == compared.side]
    if order == "most triples":
        rows = rows.sort_values("triples", ascending=False, kind="stable")
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.header(f"{compared.metric.label} and position")
        st.caption(f"{compared.sides}. The bluer, the better the position. * a small group.")
        groups = rows["group"].drop_duplicates().tolist()
        show_chart(position_heatmap(rows, compared.metric, groups), "positions", compared.name)
    with right:
        st.header("Positions over all groups")
        st.caption("Every group counts the same, however many triples it has.")
        means = mean_positions(rows).drop(columns="side").sort_values("mean_position")
        show_table(means, "mean", f"{compared.name}-by-{by}-positions", best="first in")
    st.header("All groups")
    _show_wide(rows, "group", compared)
    download(table, f"{compared.name}-by-{by}")


def show_seeds(compared: Compared) -> None:
    """Show mean ± standard deviation of runs that differ in the seed only."""
    found = seed_groups(compared.runs)
    if not found:
        st.info(
            "No two of these runs are seeds of one configuration: recorded training settings, the "
            "seed left out, must be equal. Runs that kgdash trained record them; PyKEEN "
            "directories do not.",
            icon=":material/casino:",
        )
        _offer_seeds(compared)
        return
    chosen = choice("Configuration of", list(found), "configuration")
    names = found[chosen]
    seeds = ", ".join(
        f"{plain(name)} (seed {compared.runs[name].training['random_seed']})" for name in names
    )
    st.caption(f"{len(names)} runs that differ in the seed only: {seeds}.")
    if len(names) < ENOUGH:
        st.warning(
            f"OBL2021 demands {ENOUGH} seeds; a standard deviation of {len(names)} says little.",
            icon=":material/casino:",
        )
    values, info = _overall(compared), compared.metric
    spread = seed_spread(values, names)
    at = (spread["metric"] == info.key) & (spread["rank_type"] == compared.rank_type)
    st.header(info.label)
    st.caption(
        f"{compared.rank_type} ranks; diamonds: mean ± standard deviation of the sample (n − 1); "
        "dots: the seeds."
    )
    of_seeds = values[
        values["run"].isin(names)
        & (values["metric"] == info.key)
        & (values["rank_type"] == compared.rank_type)
    ]
    show_chart(seed_dots(of_seeds, spread[at], info), "seeds", f"{compared.name}-seeds")
    st.header("All metrics")
    st.caption(f"{compared.sides}. The file has all sides and rank types.")
    guide = metric_records()
    shown = spread[(spread["side"] == compared.side) & (spread["rank_type"] == compared.rank_type)]
    shown = shown.drop(columns=["side", "rank_type"])
    shown = shown.assign(metric=[_titled(guide[key]) for key in shown["metric"]])
    show_table(shown, "seed_table", f"{compared.name}-seeds", spread, low="least", high="greatest")


def _offer_seeds(compared: Compared) -> None:
    """Name runs that are seeds of those compared, each with a button that adds them."""
    candidates = runs_on_same_graph(next(iter(compared.runs.values())))
    for name, every in other_seeds(compared.runs, candidates).items():
        others = every[: MOST - 1]
        named = " and ".join(others)
        st.button(
            f"Add {named}, other seeds of {name}",
            key=f"seeds_of_{name}",
            icon=":material/add:",
            on_click=add_runs,
            args=(others,),
        )


def _intervals(compared: Compared) -> pd.DataFrame:
    """Return the interval of the metric over all triples: ``run, side, low, high``."""

    way = (compared.split, compared.filter, compared.rank_type, compared.metric.key)

    tables = {}
    for name, run in compared.runs.items():
        ranks = ranks_with_facts(run, compared.split, compared.filter)
        every = Groups(slice(None), np.zeros(len(ranks), dtype=np.int64), ["all"])
        tables[name] = computed(
            "Intervals",
            (run.identity, "interval", *way),
            Call(breakdown, ranks, every, compared.metric.key, compared.rank_type),
        )
    found = pd.concat(tables, names=["run", "row"]).reset_index("run")
    return found[["run", "side", "low", "high"]]


def _overall(compared: Compared) -> pd.DataFrame:
    return overall_of(
        {n: metrics_of(r, compared.split, compared.filter) for n, r in compared.runs.items()}
    )


def _show_wide(
    table: pd.DataFrame,
    rows: str,
    compared: Compared,
    guide: dict[str, Metric] | None = None,
) -> None:
    """Show values and positions with a row per metric or group, and two columns per run."""
    wide = table.pivot(index=rows, columns="run", values=["value", "position"])
    wide = wide.loc[table[rows].drop_duplicates()]
    shown = pd.DataFrame({rows: wide.index})
    if guide is not None:
        shown[rows] = [_titled(guide[key]) for key in wide.index]
    else:
        about = table.drop_duplicates(rows).set_index(rows).loc[wide.index]
        shown["triples"] = about["triples"].to_numpy()
        shown["size"] = ["small" if small else "" for small in about["small"]]
    for name in compared.runs:
        shown[name] = wide[("value", name)].to_numpy(dtype=float)
        shown[f"{name} · position"] = wide[("position", name)].astype("Int64").to_numpy()
    config = number_columns(shown) | {
        rows: st.column_config.TextColumn(rows, pinned=True, width=220 if guide else 180),
        **{f"{n} · position": st.column_config.NumberColumn("position") for n in compared.runs},
        **{n: st.column_config.NumberColumn(n) for n in compared.runs},
    }
    st.dataframe(
        written(shown), hide_index=True, placeholder="–", column_config=config, key=f"{rows}_table"
    )


def _titled(info: Metric) -> str:
    return f"{info.label} {info.arrow}".strip()


def _count(compared: Compared) -> str:
    return f"{len(compared.graph.splits[compared.split]):,}"
