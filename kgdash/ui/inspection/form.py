"""The choice of a triple as a sentence, kept in the address, and the way through a list."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.graph.entity_search import entity_text, label_and_name
from kgdash.runs import Run
from kgdash.studies.inspection.inspected_triple import OPEN, InspectedTriple, find_triple
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.widgets.inspect_link import ADDRESS, opened_list, triple_address

_TAKEN = "inspected_address"


def choose_triple(run: Run) -> InspectedTriple:
    """Show head, relation and tail as choices in a row; ends the page's run if two are open.

    The address names them by name or label; what it names wrongly is said and replaced.
    """
    graph = run.graph
    _take_address(graph)
    entities, relations = computed(
        "Listing names", (graph.digest, "choices of triples"), lambda _: _choices(graph)
    )
    columns = st.columns([3, 3, 3])
    for column, part in zip(columns, ADDRESS, strict=True):
        texts = relations if part == "relation" else entities
        with column:
            st.selectbox(
                part.capitalize(),
                list(texts),
                format_func=texts.__getitem__,
                key=_key(part),
                on_change=_put_address,
                args=(graph.digest,),
                help=f"{OPEN} leaves this side open.",
            )
    names = [st.session_state[_key(part)] for part in ADDRESS]
    if names.count(OPEN) > 1:
        st.info("Choose two of head, relation and tail.", icon=":material/info:")
        st.stop()
    return find_triple(graph, *names)


def inspect_here(graph: KnowledgeGraph, triple: Sequence[int]) -> None:
    """Put another triple into the page's address; it shows at the page's next run."""
    st.query_params.update(triple_address(graph, triple))


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
                else partial(inspect_here, run.graph, found.triples[to].tolist()),
            )
        st.caption(f"{place + 1:,} of {len(found.triples):,}: {plain(found.title)}")


def _key(part: str) -> str:
    return f"inspected_{part}"


def _take_address(graph: KnowledgeGraph) -> None:
    """Set the choices to what the address says, if it changed or they are not there yet."""
    address = tuple(st.query_params.get(part, "") for part in ADDRESS)
    there = all(_key(part) in st.session_state for part in ADDRESS)
    if there and st.session_state.get(_TAKEN) == (graph.digest, address):
        return
    names = _first_names(graph)
    if sum(map(bool, address)) >= 2:
        try:
            triple = find_triple(graph, *(part or OPEN for part in address))
            names = [name or OPEN for name in triple.names(graph)]
        except KgdashError as error:
            st.warning(f"{plain(str(error))}\\. Another triple is shown.", icon=":material/info:")
    for part, name in zip(ADDRESS, names, strict=True):
        st.session_state[_key(part)] = name
    _put_address(graph.digest)


def _put_address(digest: str) -> None:
    """Let the address say what is chosen."""
    names = {part: st.session_state[_key(part)] for part in ADDRESS}
    st.query_params.update(names)
    st.session_state[_TAKEN] = (digest, tuple(names.values()))


def _first_names(graph: KnowledgeGraph) -> list[str]:
    """Name the triple that the page opens on: the first of test, or else the first known one."""
    triples = graph.splits["test"] if len(graph.splits["test"]) else graph.all_triples
    return list(triple_address(graph, triples[0].tolist()).values())


def _choices(graph: KnowledgeGraph) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of entities, those with most triples first, and of relations, by name."""
    order = (-graph.degrees).argsort(kind="stable").tolist()
    entities = {graph.entities[e]: entity_text(graph, e) for e in order}
    pairs = zip(graph.relations, graph.relation_labels, strict=True)
    relations = {name: label_and_name(label, name) for name, label in pairs}
    return {OPEN: OPEN} | entities, {OPEN: OPEN} | relations
