"""The choice of a triple as a sentence, kept in the address, and the way through a list."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph, triple_text
from kgdash.graph.entity_search import entity_text, label_and_name, told_apart
from kgdash.runs import Run
from kgdash.studies.inspection.inspected_triple import OPEN, InspectedTriple, find_triple
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.sidebar import settings
from kgdash.ui.widgets.entity_choice import choose_entity_or_none, show_unknown_entity
from kgdash.ui.widgets.inspect_link import ADDRESS, opened_list, triple_address

_TAKEN = "inspected_address"


def choose_triple(run: Run) -> InspectedTriple:
    """Show a triple as choices and as a sentence; ends the page's run if two sides are open.

    The address names them by name or label; what it names wrongly is said and replaced.
    """
    graph = run.graph
    _take_address(graph)
    names: list[str] = []
    with settings():
        for part in ADDRESS:
            if part == "relation":
                names.append(_choose_relation(graph))
                continue
            name = choose_entity_or_none(graph, part.capitalize(), _key(part), OPEN)
            names.append(name or OPEN)
    for part in ADDRESS:
        show_unknown_entity(_key(part))
    _put_address(graph.identity, names)
    if names.count(OPEN) > 1:
        st.info("Choose two of head, relation and tail.", icon=":material/info:")
        st.stop()
    triple = find_triple(graph, *names)
    st.markdown(f"**{plain(_sentence(graph, triple))}**")
    return triple


def show_way_through(run: Run, triple: InspectedTriple) -> None:
    """Offer the next and the previous triple of the list that this one was opened from."""
    found = opened_list(run.graph)
    place = found.place(triple.parts) if found is not None else None
    if found is None or place is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="way_through"):
        for name, step, icon in (
            ("Previous", -1, ":material/arrow_back:"),
            ("Next", 1, ":material/arrow_forward:"),
        ):
            to = place + step
            outside = not 0 <= to < len(found.triples)
            st.button(
                name,
                key=f"inspect_{name.lower()}",
                icon=icon,
                disabled=outside,
                on_click=None
                if outside
                else partial(_go_to, triple_address(run.graph, found.triples[to].tolist())),
            )
        title = found.title.removeprefix(f"{run.name}-")  # lists are called as their files are
        st.caption(f"{place + 1:,} of {len(found.triples):,}: {plain(title)}")


def _go_to(address: dict[str, str]) -> None:
    st.query_params.update(address)


def _sentence(graph: KnowledgeGraph, triple: InspectedTriple) -> str:
    labels = (graph.entity_labels, graph.relation_labels, graph.entity_labels)
    return triple_text(
        *(
            OPEN if part is None else texts[part]
            for part, texts in zip(triple.parts, labels, strict=True)
        )
    )


def _key(part: str) -> str:
    return f"inspected_{part}"


def _take_address(graph: KnowledgeGraph) -> None:
    """Set the choices to what the address says, if it changed or they are not there yet."""
    address = tuple(st.query_params.get(part, "") for part in ADDRESS)
    there = all(_key(part) in st.session_state for part in ADDRESS)
    if there and st.session_state.get(_TAKEN) == (graph.identity, address):
        return
    triple = _first(graph)
    if sum(map(bool, address)) >= 2:
        try:
            triple = find_triple(graph, *(part or OPEN for part in address))
        except KgdashError as error:
            st.warning(f"{plain(str(error))}\\. Another triple is shown.", icon=":material/info:")
    for part, chosen in zip(ADDRESS, triple.parts, strict=True):
        texts = graph.relations if part == "relation" else None
        st.session_state[_key(part)] = (
            OPEN if chosen is None else texts[chosen] if texts else entity_text(graph, chosen)
        )


def _put_address(identity: tuple[str, str], names: Sequence[str]) -> None:
    """Let the address say what is chosen."""
    address = dict(zip(ADDRESS, names, strict=True))
    if any(st.query_params.get(part) != name for part, name in address.items()):
        st.query_params.update(address)
    st.session_state[_TAKEN] = (identity, tuple(names))


def _first(graph: KnowledgeGraph) -> InspectedTriple:
    """Return the triple that the page opens on: the first of test, or else the first known one."""
    test = graph.splits["test"]
    first = test[0] if len(test) else graph.known().at(slice(1))[0]
    return InspectedTriple(*first.tolist())


def _choose_relation(graph: KnowledgeGraph) -> str:
    pairs = zip(graph.relations, graph.relation_labels, strict=True)
    texts = told_apart({OPEN: OPEN} | {name: label_and_name(label, name) for name, label in pairs})
    chosen = st.selectbox(
        "Relation",
        list(texts),
        format_func=texts.__getitem__,
        key=_key("relation"),
        help=f"{OPEN} leaves this side open.",
    )
    return str(chosen)
