"""The widgets that restrict an evaluation to some relations and entities."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.graph.restriction import Restriction, read_entities, restrict
from kgdash.runs.call import Reading
from kgdash.ui.metrics.types_upload import uploaded_types
from kgdash.ui.runtime.computed import refuse, try_computing
from kgdash.ui.runtime.result_cache import file_key
from kgdash.ui.runtime.sidebar import settings
from kgdash.ui.widgets.choices import choose_number
from kgdash.ui.widgets.entity_choice import choose_entities, show_unknown_entity
from kgdash.ui.widgets.names_choice import choose_names, relation_texts

#: of the address, and of the choice
_ENTITIES = "entities"


def choose_restriction(graph: KnowledgeGraph) -> Restriction:
    """Show the widgets and return what they say; ends the page's run where they can not be met."""
    with settings(), st.expander("Restrict", icon=":material/filter_alt:"):
        relations = choose_names("Relations", relation_texts(graph), "relations")
        try:
            listed = _listed_entities(graph)
            low, high, of_types = _conditions(graph)
            only = restrict(graph, relations, listed, low, high, of_types)
        except KgdashError as error:
            return refuse(error)
    show_unknown_entity(_ENTITIES)
    return only


def _listed_entities(graph: KnowledgeGraph) -> np.ndarray | None:
    """Show the ways to list entities and return all that are listed, or None for no list."""
    about = "Only triples between those chosen, pasted or in the file are ranked, among them alone."
    chosen = choose_entities(graph, "Entities", _ENTITIES, about)
    found = [np.array(chosen)] if chosen else []
    pasted = st.text_area(
        "Pasted entities", key="only_entities", height=110, placeholder="one name or label a line"
    )
    upload = st.file_uploader("A file of them", type=["txt", "tsv", "csv"], key="entity_file")
    given = {}
    if pasted and pasted.strip():
        given["the pasted list"] = pasted.encode()
    if upload is not None:
        given[upload.name] = upload.getvalue()
    for name, content in given.items():
        key = (graph.identity, "entities", *file_key(name, content))
        found.append(
            try_computing("Reading entities", key, Reading(read_entities, content, graph, name))
        )
    return np.unique(np.concatenate(found)) if found else None


def _conditions(graph: KnowledgeGraph) -> tuple[int | None, int | None, np.ndarray | None]:
    """Show the conditions on entities; return least and largest degree, and those of the types."""
    most = int(graph.degrees.max())
    with st.container(horizontal=True):
        low = choose_number(
            "Least degree",
            (0, most),
            0,
            "min_degree",
            "Of an entity: known triples, of all splits, that it is an end of.",
        )
        high = choose_number("Largest degree", (0, most), 0, "max_degree", "0: all.")
    bounds = low or None, high or None
    types = uploaded_types(graph, "restriction_types")
    if types is None:
        return *bounds, None
    texts = dict(zip(types.names, types.names, strict=True))
    names = choose_names("Types", texts, "only_types", in_address=False)
    return *bounds, types.entities_of(names) if names else None


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
