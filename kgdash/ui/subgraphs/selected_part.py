"""The numbers of a node or an edge that was clicked in the drawing of a subgraph."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.statistics.estimate import number
from kgdash.studies.reliability.local_comparison import LocalComparison
from kgdash.ui.widgets.table import show_table


def show_part(picked: list[Any], graph: KnowledgeGraph, comparison: LocalComparison) -> None:
    """Show the triples of a node or an edge with their means.

    :param picked: ``["node", entity]`` or ``["edge", a, b]``, as the drawing's points carry it
    """
    kind, *entities = picked
    ends = comparison.triples[["head", "tail"]].to_numpy()
    if kind == "node":
        mine = (ends == entities[0]).any(axis=1)
    else:
        mine = (np.sort(ends, axis=1) == np.sort(entities)).all(axis=1)
    st.markdown(f"**{' – '.join(graph.entity_labels[e] for e in entities)}**")
    part = graph.with_names(comparison.triples[mine])
    with st.container(horizontal=True):
        st.metric("Mean ReliK ↑", number(part["relik"].mean()))
        st.metric("Triples", f"{len(part):,}")
        st.metric("Reciprocal rank ↑", number(part["reciprocal_rank"].mean()))
    shown = part[["head", "relation", "tail", "split", "relik", "reciprocal_rank"]]
    show_table(shown, "picked", "-".join([graph.name, *(graph.entities[e] for e in entities)]))
