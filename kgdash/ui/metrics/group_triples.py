"""The ranked triples of a group, the worst or the best first, each to be inspected."""

import pandas as pd
import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.ui.widgets.inspect_link import IDS, show_triples


def show_group_triples(graph: KnowledgeGraph, ranks: pd.DataFrame, name: str) -> None:
    """Show the ranks of a group.

    :param ranks: of `kgdash.breakdowns.grouping.group_ranks`, the best first
    :param name: of files, without an extension
    """
    first = st.segmented_control(
        "Order of the triples",
        ["best first", "worst first"],
        default="worst first",
        required=True,
        key="triples_order",
        label_visibility="collapsed",
    )
    st.caption("Select a row to inspect its triple.")
    rows = ranks[::-1] if first == "worst first" else ranks
    ids = rows[IDS].to_numpy()
    show_triples(graph, ids, graph.with_names(rows), "triples_of_group", name)
