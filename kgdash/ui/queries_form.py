"""The widgets that choose queries with true and false answers."""

from __future__ import annotations

import streamlit as st

from kgdash.runs import Run
from kgdash.studies.queries import sample_queries
from kgdash.studies.query_types import HARD, PAPER_TYPES, QUERY_TYPES
from kgdash.ui.instances_choice import InstancesChoice


def choose_queries(run: Run) -> InstancesChoice:
    """Show the widgets and return what they say."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        types = st.pills(
            "Query types",
            list(QUERY_TYPES),
            selection_mode="multi",
            default=list(PAPER_TYPES),
            key="types",
            bind="query-params",
            help="1p, 2p, 3p: chains of one to three relations from an anchor. 2i, 3i: two or "
            "three branches that meet in the answer.",
        )
        per_type = st.number_input(
            "Queries per type", 1, 1000, 50, key="per_type", bind="query-params", width=150
        )
        hard = st.selectbox(
            "True answers need a triple",
            list(HARD),
            key="hard",
            bind="query-params",
            width=220,
            help="A true answer holds in the whole graph but can not be found on this part of it.",
        )
        seed = st.number_input(
            "Random seed", 0, 10**9, 0, key="query_seed", bind="query-params", width=130
        )
    if not types:
        st.info("Choose at least one query type.", icon=":material/info:")
        st.stop()
    chosen = tuple(t for t in QUERY_TYPES if t in types)
    return InstancesChoice(
        ("queries", chosen, int(per_type), hard, int(seed)),
        lambda report: sample_queries(
            run.graph, chosen, int(per_type), hard, int(seed), progress=report
        ),
    )
