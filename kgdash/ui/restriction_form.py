"""The widgets that restrict an evaluation to some relations and entities."""

from __future__ import annotations

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.restriction import Restriction, read_entities, restrict
from kgdash.ui.compute import refuse


def choose_restriction(graph: KnowledgeGraph) -> Restriction:
    """Show the widgets and return what they say; ends the page's run where they can not be met."""
    labels = dict(zip(graph.relations, graph.relation_labels, strict=True))
    with st.expander("Restrict", icon=":material/filter_alt:"):
        relations = st.multiselect(
            "Relations",
            graph.relations,
            format_func=lambda name: labels[name],
            key="relations",
            bind="query-params",
            placeholder="all; type to search",
        )
        left, right = st.columns(2, gap="large")
        with left:
            pasted = st.text_area(
                "Entities",
                key="only_entities",
                height=110,
                placeholder="all; else one name or label a line",
                help="Only triples between these entities are ranked, among them alone.",
            )
        with right:
            upload = st.file_uploader(
                "Or a file of them", type=["txt", "tsv", "csv"], key="entity_file"
            )
        with st.container(horizontal=True):
            low = st.number_input(
                "Least degree",
                0,
                None,
                None,
                key="min_degree",
                bind="query-params",
                width=150,
                help="Of an entity: known triples, of all splits, that it is an end of.",
            )
            high = st.number_input(
                "Largest degree", 0, None, None, key="max_degree", bind="query-params", width=150
            )
    try:
        listed = None
        if upload is not None:
            listed = read_entities(upload.getvalue(), graph, upload.name)
        elif pasted and pasted.strip():
            listed = read_entities(pasted, graph, "the pasted list")
        return restrict(graph, relations, listed, low, high)
    except KgdashError as error:
        return refuse(error)


def restriction_text(only: Restriction, graph: KnowledgeGraph, split: str) -> str:
    """Say on a line of its own what is left of a graph's split, or nothing if all is."""
    if not only.key:
        return ""
    left = only.count(graph, graph.split(split))
    return (
        f"  \nRestricted to {left['triples']:,} of {len(graph.split(split)):,} {split} triples, "
        f"{left['entities']:,} of {graph.num_entities:,} entities, "
        f"{left['relations']:,} of {graph.num_relations:,} relations."
    )
