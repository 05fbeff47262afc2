"""The choice of entities, kept in the URL: any name, label or part of one can be typed."""

import numpy as np
import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.graph.entity_search import entity_text, search_entities, told_apart
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.visitors import MOST_CHOSEN

#: entities whose names the browser gets, those of highest degree; the others are found when typed
_OFFERED = 200

_HELP = "Type any name, label or part of one, then Enter. Listed are those of highest degree."


def choose_entity(graph: KnowledgeGraph, label: str, key: str) -> str:
    """Show the choice and return the entity's name; the one of highest degree at first.

    Where a text fits several entities they are offered below; where it fits none, a warning says
    which entity is shown instead.
    """
    offered = _offered(graph)
    typed = st.selectbox(
        label,
        [entity_text(graph, entity) for entity in offered],
        key=key,
        bind="query-params",
        accept_new_options=True,
        filter_mode="contains",
        help=_HELP,
    )
    return graph.entities[_found(graph, str(typed or ""), key, offered[0])]


def choose_entity_or_none(graph: KnowledgeGraph, label: str, key: str, none: str) -> str | None:
    """Show the choice, which ``none`` may take the place of; return the entity's name, or None.

    As `choose_entity`, but the address is the caller's, who sets the text in the session's state;
    what fits no entity leaves what was chosen before.

    :param none: the text that stands for no entity, first of the choices
    """
    texts = [none, *(entity_text(graph, entity) for entity in _offered(graph))]
    before = f"chosen {key}"
    typed = st.selectbox(
        label,
        texts,
        index=None,
        key=key,
        accept_new_options=True,
        filter_mode="contains",
        help=f"{_HELP} {none} leaves this side open.",
    )
    if typed == none:
        return None
    former = [*graph.entities_called(st.session_state.get(before, "")), *_offered(graph)][0]
    found = graph.entities[_found(graph, str(typed or ""), key, former)]
    st.session_state[before] = found
    return found


def choose_entities(graph: KnowledgeGraph, label: str, key: str, help: str) -> list[int]:
    """Show the choice of any number of entities and return their ids, ascending.

    Where a text fits several entities they are offered below; one that fits none is left out, and
    `show_unknown_entity` says so.

    :param help: what they are chosen for
    """
    typed = st.multiselect(
        label,
        [entity_text(graph, entity) for entity in _offered(graph)],
        key=key,
        bind="query-params",
        accept_new_options=True,
        filter_mode="contains",
        select_all=False,
        max_selections=MOST_CHOSEN,
        placeholder="all; type to search",
        help=f"{help} {_HELP}",
    )
    found: dict[str, list[int]] = {}
    for text in map(str, typed[:MOST_CHOSEN]):
        st.session_state.get(key)  # where another page, or a closed tab, ends the search
        found[text] = search_entities(graph, text)
    if unknown := [plain(text) for text, entities in found.items() if not entities]:
        st.session_state[_note(key)] = (
            f"No entity {', '.join(f'“{text}”' for text in unknown)} in this graph: left out."
        )
    return sorted(
        {
            entities[0]
            if len(entities) == 1
            else _choose_among(graph, entities, text, f"{key}_among_{text}")
            for text, entities in found.items()
            if entities
        }
    )


def entity_address(graph: KnowledgeGraph, name: str, key: str) -> dict[str, str]:
    """Return the parameter of an address by which `choose_entity` opens on an entity.

    Nothing for the one that it opens on anyway: what is as at first leaves the address again, as an
    entry of the browser's history that its Back button would stop at.

    :param name: of the entity
    :param key: of the choice
    """
    return {} if name == entity_text(graph, _offered(graph)[0]) else {key: name}


def show_unknown_entity(key: str) -> None:
    """Say on the page, if it is so, that the address or the user names no entity of the graph."""
    if note := st.session_state.pop(_note(key), None):
        st.warning(note, icon=":material/search_off:")


def _offered(graph: KnowledgeGraph) -> list[int]:
    degrees = graph.degrees
    few = min(_OFFERED, len(degrees))
    # Of millions, only those of high degree are sorted.
    high = np.flatnonzero(degrees >= np.partition(degrees, -few)[-few])
    found: list[int] = high[(-degrees[high]).argsort(kind="stable")][:few].tolist()
    return found


def _found(graph: KnowledgeGraph, typed: str, key: str, otherwise: int) -> int:
    """Return the entity of a text, by the user's choice if it fits several."""
    found = search_entities(graph, typed)
    if len(found) > 1:
        return _choose_among(graph, found, typed, f"{key}_among")
    if found:
        return found[0]
    st.session_state[_note(key)] = (
        f"No entity “{plain(typed)}” in this graph; showing "
        f"{plain(graph.entity_labels[otherwise])}."
    )
    return otherwise


def _choose_among(graph: KnowledgeGraph, found: list[int], typed: str, key: str) -> int:
    texts = told_apart({graph.entities[each]: entity_text(graph, each) for each in found})
    entities = dict(zip(texts.values(), found, strict=True))
    chosen = st.radio(f"Which “{plain(typed)}”?", list(entities), format_func=plain, key=key)
    return entities[str(chosen)]


def _note(key: str) -> str:
    return f"unknown {key}"
