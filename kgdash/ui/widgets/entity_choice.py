"""The choice of an entity, kept in the URL: any name, label or part of one can be typed."""

import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.graph.entity_search import entity_text, search_entities
from kgdash.ui.runtime.markdown import plain

#: entities whose names the browser gets, those of highest degree; the others are found when typed
_OFFERED = 200


def choose_entity(graph: KnowledgeGraph, label: str, key: str) -> str:
    """Show the choice and return the entity's name; the one of highest degree at first.

    Where a text fits several entities they are offered below; where it fits none, a warning says
    which entity is shown instead.
    """
    by_degree = (-graph.degrees).argsort(kind="stable")[:_OFFERED].tolist()
    typed = st.selectbox(
        label,
        [entity_text(graph, entity) for entity in by_degree],
        key=key,
        bind="query-params",
        accept_new_options=True,
        filter_mode="contains",
        help="Type any name, label or part of one, then Enter. Listed are those of highest degree.",
    )
    found = search_entities(graph, str(typed or ""))
    if not found:
        found = by_degree[:1]
        st.session_state[_note(key)] = (
            f"No entity “{plain(str(typed))}” in this graph; showing "
            f"{plain(graph.entity_labels[found[0]])}."
        )
    elif len(found) > 1:
        found = [_choose_among(graph, found, f"{key}_among")]
    return graph.entities[found[0]]


def show_unknown_entity(key: str) -> None:
    """Say on the page, if it is so, that the address or the user names no entity of the graph."""
    if note := st.session_state.pop(_note(key), None):
        st.warning(note, icon=":material/search_off:")


def _choose_among(graph: KnowledgeGraph, found: list[int], key: str) -> int:
    texts = {entity_text(graph, entity): entity for entity in found}
    chosen = st.radio("Which of these?", list(texts), key=key)
    return texts[str(chosen)]


def _note(key: str) -> str:
    return f"unknown {key}"
