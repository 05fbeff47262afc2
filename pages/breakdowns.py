"""Any metric by groups of triples: where the model ranks well, and where badly."""

import numpy as np
import streamlit as st

from kgdash.breakdowns.breakdown import SMALL, breakdown
from kgdash.breakdowns.custom_grouping import groups_by
from kgdash.breakdowns.grouping import group_ranks
from kgdash.charts.breakdowns import group_bars, side_heatmap
from kgdash.graph.relation_names import end_first
from kgdash.ranking.glossary import explained
from kgdash.statistics.estimate import number
from kgdash.ui.metrics.breakdown_form import choose_breakdown
from kgdash.ui.metrics.custom_groups_form import custom_groupings, edit_groupings
from kgdash.ui.metrics.group_triples import show_group_triples
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.results import metrics_of, ranks_with_facts
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.widgets.chart import clicked_point, show_chart
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.selection import selected_row
from kgdash.ui.widgets.table import download, number_columns, value_bar, written

run = current_run()
st.title("Breakdowns")
st.caption("One metric by groups of triples: where the model ranks well, and where badly.")
chosen = choose_breakdown(run)
info, side, rank_type = chosen.metric, chosen.side, chosen.rank_type

of_ranks = (chosen.split, chosen.filter)
ranks = ranks_with_facts(run, *of_ranks)
values = metrics_of(run, *of_ranks)
grouping = (run.digest, "groups", *of_ranks, *chosen.grouping_key)
members = computed(
    "Sorting into groups", grouping, lambda _: groups_by(ranks, run.graph, chosen.grouping)
)
table = computed(
    f"{info.label} of every group",
    (*grouping, info.key, rank_type),
    lambda _: breakdown(ranks, members, info.key, rank_type),
)
groups, overall = chosen.in_order(table), values.value(info.key, side, rank_type)
tied = groups.loc[groups["gap"].fillna(0).idxmax()]
with st.container(horizontal=True):
    st.metric(f"{info.label}, all groups {info.arrow}", number(overall), border=True)
    st.metric("Groups", f"{len(groups):,}", border=True)
    st.metric(f"Groups of fewer than {SMALL} triples", f"{groups['small'].sum():,}", border=True)
    st.metric(
        "Widest gap by ties ↓",
        "< 0.001" if 0 < tied["gap"] < 0.001 else number(tied["gap"]),
        border=True,
        help=f"{explained('gap')} Here of “{plain(tied['group'])}”: {tied['tied_share']:.1%} of "
        f"answers share their score, at most {tied['largest_tie']:,} of one query.",
    )


def show_triples_of(group: str) -> None:
    """Show the triples of a group that was picked."""
    st.header(plain(end_first(group)))
    triples = group_ranks(ranks, members, group, side, rank_type)
    show_group_triples(run.graph, triples, group, f"{run.name}-{chosen.split}-{group}")


left, right = st.columns([3, 2], gap="large")
with left:
    st.header("Values with 95% intervals")
    st.caption(
        f"{side.capitalize()} side{'s' if side == 'both' else ''}, {rank_type} ranks; dashed: all "
        "groups. Hatched: a small group. Click a bar to see its triples."
    )
    point = clicked_point(
        drawn(group_bars, groups, info, overall),
        f"bars_{chosen.by}",
        f"{run.name}-{chosen.split}-by-{chosen.by}",
    )
with right:
    if point in groups["group"].to_numpy():
        show_triples_of(point)
    else:
        st.header("Group by side")
        st.caption("The bluer, the better. * a small group.")
        show_chart(
            drawn(side_heatmap, table, info, groups["group"].tolist()),
            "sides",
            f"{run.name}-{chosen.split}-by-{chosen.by}-and-side",
        )

st.header("All groups")
st.caption(
    "Optimistic and pessimistic values, their gap, and how many ranks are tied tell how much equal "
    "scores blur a value. Select a row to see its triples."
)
listed = groups.drop(columns="side").assign(tied_share=100 * groups["tied_share"])
listed["small"] = ["small" if is_small else "" for is_small in groups["small"]]
ticked = np.flatnonzero(groups["group"] == point).tolist()
ways = [chosen.by, side, chosen.order, info.key, rank_type, *of_ranks, *map(str, ticked)]
row = selected_row(
    st.dataframe(
        written(listed),
        hide_index=True,
        placeholder="–",
        column_config=number_columns(
            listed, count="ranks", value=rank_type, tied_share="tied %", small="size"
        )
        | {"group": st.column_config.TextColumn("group", width="medium", pinned=True)}
        | value_bar(info, rank_type),
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": ticked}},
        key=f"groups_{'_'.join(ways)}",  # another one at a click on a bar, whose row it ticks
    )
)
download(table, f"{run.name}-{chosen.split}-by-{chosen.by}")

if row is not None and groups["group"][row] != point:
    show_triples_of(groups["group"][row])

edit_groupings(run, custom_groupings(run))
