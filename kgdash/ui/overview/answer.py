"""Where a run can be trusted: values with intervals, its communities, what to look at first."""

from __future__ import annotations

from collections.abc import Hashable

import streamlit as st

from kgdash.charts.reliability_map import community_map
from kgdash.graph import IDS, KnowledgeGraph
from kgdash.graph.communities import find_communities
from kgdash.runs.call import Call
from kgdash.statistics.estimate import number
from kgdash.studies.overview.overview import Lead, Overview
from kgdash.studies.reliability.reliability_map import between
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.run_scale import map_scale
from kgdash.ui.subgraphs.link import open_local
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.chart import clicked_point
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.entity_choice import entity_address

_CARDS = {
    "mrr": "Test MRR ↑",
    "hits_at_1": "Hits@1 ↑",
    "hits_at_10": "Hits@10 ↑",
    "relik": "Mean ReliK ↑",
}

_LINKS = {
    "relation": ("pages/breakdowns.py", "Metrics by relation", {"order_relation": "worst first"}),
    "community": ("pages/local.py", "Its neighbourhood", {"method": "Neighbourhood"}),
    "triple": ("pages/inspect.py", "Inspect it", {}),
    "ties": ("pages/score_health.py", "Score health", {}),
}


def show_values(found: Overview) -> None:
    """Show the four values with their intervals."""
    with st.container(horizontal=True):
        for name, label in _CARDS.items():
            estimate = found.values[name]
            if name == "relik" and found.map.method == "growing":
                show_card(label, "…", "being counted")
            elif name == "relik" and not estimate.n:
                show_card(label, "–", "not counted")
            else:
                count = f"n = {found.count(name)}"
                beneath = f"{estimate.ends}, {count}" if estimate.ends else count
                show_card(label, number(estimate.value), beneath)
    if found.how:
        st.caption(plain(found.how))


def show_map(found: Overview, key: tuple[Hashable, ...]) -> None:
    """Draw the communities, coloured by ReliK; the one that is clicked opens as a subgraph."""
    graph = found.map.run.graph
    groups = find_communities(graph)
    lines = computed("Averaging", (*key, "lines"), Call(between, found.map, groups))
    st.header("ReliK of the graph's communities")
    picked = clicked_point(
        drawn(community_map, found.communities, lines, map_scale(found.map)),
        "overview_map",
        f"{found.map.run.name}-overview",
    )
    if picked is not None:
        entity = found.communities["central"].iloc[int(picked)]
        open_local("neighbourhood", entity=entity, size=60, hops=1)


def show_leads(found: Overview) -> None:
    """List what to look at first, each with the way to it."""
    st.header("Look here first")
    for lead in found.leads:
        with st.container(border=True, gap="small"):
            st.markdown(plain(lead.text))
            page, label, choices = _LINKS[lead.kind]
            st.page_link(
                page,
                label=label,
                icon=":material/arrow_forward:",
                query_params={**choices, **_named(found.map.run.graph, lead)},
            )
    if not found.leads:
        st.caption("Nothing stands out so far.")


def _named(graph: KnowledgeGraph, lead: Lead) -> dict[str, str]:
    if lead.kind == "triple":
        return dict(zip(IDS, lead.triple, strict=True))
    if lead.kind == "community":
        return entity_address(graph, lead.name, "entity")
    return {"group": lead.name} if lead.kind == "relation" else {}
