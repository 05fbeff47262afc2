"""Any metric by groups of triples: where the model ranks well, and where badly."""

import streamlit as st

from kgdash.breakdowns.breakdown import SMALL, breakdown
from kgdash.breakdowns.custom_grouping import groups_by, missing_note
from kgdash.breakdowns.grouping import group_ranks
from kgdash.breakdowns.verdicts import groups_verdict
from kgdash.charts.breakdowns import side_heatmap
from kgdash.graph.relation_names import end_first
from kgdash.ranking.glossary import explained
from kgdash.runs.call import Call
from kgdash.statistics.estimate import number
from kgdash.ui.metrics.breakdown_form import choose_breakdown
from kgdash.ui.metrics.custom_groups_form import edit_groupings, own_groupings
from kgdash.ui.metrics.group_choice import choose_bar, choose_group
from kgdash.ui.metrics.group_triples import show_group_triples
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.results import metrics_of, ranks_with_facts
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.notes import show_notes
from kgdash.ui.widgets.table import download

run = current_run()
st.title("Breakdowns")
chosen = choose_breakdown(run)
info, side, rank_type = chosen.metric, chosen.side, chosen.rank_type

of_ranks = (chosen.split, chosen.filter)
ranks = ranks_with_facts(run, *of_ranks)
values = metrics_of(run, *of_ranks)
grouping = (run.identity, "groups", *of_ranks, *chosen.grouping_key)
members = computed(
    "Sorting into groups", grouping, Call(groups_by, ranks, run.graph, chosen.grouping)
)
table = computed(
    f"{info.label} of every group",
    (*grouping, info.key, rank_type),
    Call(breakdown, ranks, members, info.key, rank_type),
)
groups, overall = chosen.in_order(table), values.value(info.key, side, rank_type)
tied = groups.loc[groups["gap"].fillna(0).idxmax()]
named = groups.assign(group=[plain(end_first(group)) for group in groups["group"]])
st.markdown(groups_verdict(named, overall, info))
show_notes(missing_note(chosen.grouping))
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
    st.header("Values with 95% intervals" if groups["low"].notna().any() else "Values")
    st.caption(
        f"{side.capitalize()} side{'s' if side == 'both' else ''}, {rank_type} ranks; dashed: all "
        "groups. Hatched: a small group. Click a bar to see its triples."
    )
    files = f"{run.name}-{chosen.split}-by-{chosen.by}"
    beside = choose_bar(groups, info, overall, f"bars_{chosen.by}", files)
with right:
    if beside is not None:
        show_triples_of(beside)
    else:
        st.header("Group by side")
        st.caption("The bluer, the better. * a small group.")
        show_chart(
            drawn(side_heatmap, table, info, groups["group"].tolist()),
            "sides",
            f"{files}-and-side",
        )

st.header("All groups")
st.caption("Select a row to see its triples.")
ways = ["groups", chosen.by, side, chosen.order, info.key, rank_type, *of_ranks]
group = choose_group(groups, beside, info, rank_type, "_".join(ways))
download(table, files)
if group is not None and group != beside:
    show_triples_of(group)

edit_groupings(run, own_groupings(run).saved)
