"""The ranked triples of a group, the worst or the best first, each to be inspected."""

from typing import Any

import pandas as pd
import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.ui.widgets.inspect_link import IDS, show_triples


def show_group_triples(graph: KnowledgeGraph, ranks: pd.DataFrame, group: str, name: str) -> None:
    """Show the ranks of a group.

    :param ranks: of `kgdash.breakdowns.grouping.group_ranks`, the best first
    :param name: of files, without an extension
    """
    first = st.segmented_control(
        "Order of the triples",
        ["best first", "worst first"],
        default="worst first",
        required=True,
        key=f"triples_order_{group}",
        label_visibility="collapsed",
    )
    st.caption("Select a row to inspect its triple.")
    rows = ranks[::-1] if first == "worst first" else ranks
    key = f"triples_of_group_{group}"  # one for both orders: made anew, a table blinks
    narrow: dict[str, Any] = {name: st.column_config.TextColumn(name, width=110) for name in IDS}
    if rows["relation"].nunique() == 1:
        narrow["relation"] = None  # the group says it
    show_triples(graph, rows[IDS].to_numpy(), graph.with_names(rows), key, name, **narrow)
