"""What the page Local reliability shows of a subgraph: its cards, its drawing, what is clicked."""

from __future__ import annotations

from collections.abc import Hashable

import streamlit as st

from kgdash.charts.local_reliability import local_bars
from kgdash.charts.subgraph import EDGES, layout, pairs_of, subgraph_figure
from kgdash.runs import Run
from kgdash.statistics.estimate import number
from kgdash.studies.reliability.local_comparison import LocalComparison
from kgdash.ui.runtime.computed import computed
from kgdash.ui.subgraphs.selected_part import show_part
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.choices import choose_one
from kgdash.ui.widgets.selection import selected_point

_ENDS = ("relik_low", "relik_high")

_CARDS = {
    "relik": "Mean ReliK ↑",
    "tail_mrr": "Tail MRR ↑",
    "head_mrr": "Head MRR ↑",
    "both_mrr": "Both MRR ↑",
    "relation_mrr": "Relation MRR ↑",
}


def counted_so_far(comparison: LocalComparison) -> str:
    """Say what the mean ReliK is about while it is counted."""
    value, low, high = (comparison.means[key].value for key in ("relik", *_ENDS))
    return so_far(value, low, high)


def so_far(value: float, low: float, high: float) -> str:
    """Say what the mean ReliK is about; NaN: too little is counted for that."""
    if not value > 0:
        return ""
    return f"Mean ReliK about {number(value)} (95 %: {number(low)} to {number(high)})."


def show_local_cards(comparison: LocalComparison) -> None:
    """Show one card per measure; of ReliK that is sampled, the interval, and none in the making."""
    means, method = comparison.means, comparison.method
    with st.container(horizontal=True):
        for name, label in _CARDS.items():
            value, count = means[name]
            text, unit = number(value), f"n = {count:,} {'triples' if name == 'relik' else 'ranks'}"
            if name == "relik" and comparison.share < 1:
                text, unit = "–", f"{count:,} of {len(comparison.triples):,} triples counted"
            elif name == "relik" and _ENDS[0] in means:
                middle, ends = text, (number(means[end].value) for end in _ENDS)
                text = " – ".join(ends)
                unit += f", {method}; geometric middle {middle}"
            show_card(label, text, unit)
    if method == "sampled":
        st.info(
            "ReliK is sampled, 1,000 negatives a side: the true mean lies in the interval shown "
            "(95 %), and where in it is not known. Single triples show the geometric middle of "
            "their intervals. Choose exact for the true values.",
            icon=":material/casino:",
        )


def show_drawing(
    run: Run, comparison: LocalComparison, key: tuple[Hashable, ...], part_name: str
) -> None:
    """Draw the subgraph, and beside it the numbers of the node or edge that was clicked.

    :param key: what the comparison depends on
    :param part_name: of downloads
    """
    subgraph, triples = comparison.subgraph, comparison.triples
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("The subgraph")
        st.caption(
            "Nodes grow with their degree inside; the star is the seed. Click a node, or the "
            "diamond on an edge, to see its numbers."
        )
        placed = computed(
            "Drawing", (*key, "layout"), lambda _: layout(subgraph.entities, pairs_of(triples))
        )
        edges = choose_one(
            "Edges drawn",
            EDGES,
            "edges",
            default="all",
            format_func=lambda name: name if name == "all" else f"100 {name}",
        )
        labels, seed_entity = run.graph.entity_labels, subgraph.seed_entity
        drawn = show_chart(
            subgraph_figure(subgraph.entities, labels, seed_entity, triples, placed, str(edges)),
            "drawing",
            part_name,
            scroll_zoom=True,
            on_select="rerun",
            selection_mode="points",
        )
    with right:
        st.subheader("Selected")
        picked = selected_point(drawn)
        if picked is None:
            st.caption("Nothing yet. Until you click, here are the values of the whole subgraph.")
            show_chart(local_bars(comparison.means), "bars", f"{part_name}-figures")
        else:
            show_part(picked, run.graph, comparison)
