"""The numbers of what was clicked in the drawing of a subgraph, and the ways on from there."""

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.statistics.estimate import number
from kgdash.ui.graph_view.component import Selection
from kgdash.ui.widgets.inspect_link import IDS, offer_inspection, show_triples
from kgdash.ui.widgets.markdown import plain

#: shown of each fact, where the table has it; a `LocalComparison` has all
_COLUMNS = ("relik", "head_rank", "tail_rank", "split")


def show_part(picked: Selection, graph: KnowledgeGraph, triples: pd.DataFrame) -> None:
    """Show the facts of a node, an edge or a cell, the least reliable first.

    :param triples: all that are drawn: ``head, relation, tail`` (ids), ``relik``, and of a
        `LocalComparison` also ranks
    """
    columns = [column for column in _COLUMNS if column in triples]
    part = triples.iloc[chosen_rows(picked, triples)].sort_values("relik", kind="stable")
    st.markdown(f"**{_title(picked, graph, part)}**")
    with st.container(horizontal=True):
        st.metric("Mean ReliK ↑", number(part["relik"].mean()))
        st.metric("Triples", f"{len(part):,}")
        if "reciprocal_rank" in part:
            st.metric("Reciprocal rank ↑", number(part["reciprocal_rank"].mean()))
    named = graph.with_names(part)
    if picked.node is not None:
        is_head = part["head"].to_numpy() == picked.node
        other = np.where(
            is_head, "→ " + named["tail"].astype(str), "← " + named["head"].astype(str)
        )
        shown = named.assign(other=other)[["relation", "other", *columns]]
    else:
        shown = named[["relation", *columns]]
    ids = part[IDS].to_numpy()
    if len(part) == 1:
        offer_inspection(graph, ids[0], "inspect_picked")
    name = f"{graph.name}-selected"
    show_triples(graph, ids, shown, "picked", name, named, other="to or from")


def chosen_rows(picked: Selection, triples: pd.DataFrame) -> np.ndarray:
    """Return the numbers of the rows that belong to what is chosen."""
    if picked.node is None:
        return np.array(picked.rows, dtype=np.int64)
    ends = triples[["head", "tail"]].to_numpy()
    return np.flatnonzero((ends == picked.node).any(axis=1))


def _title(picked: Selection, graph: KnowledgeGraph, part: pd.DataFrame) -> str:
    labels = graph.entity_labels
    if picked.node is not None:
        return plain(labels[picked.node])
    head, tail = (labels[int(part[end].iloc[0])] for end in ("head", "tail"))
    relation = graph.relation_labels[int(part["relation"].iloc[0])]
    between = f"— {relation} →" if len(picked.rows) == 1 else "→"
    return plain(f"{head} {between} {tail}")
