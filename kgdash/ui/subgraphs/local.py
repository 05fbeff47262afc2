"""What the page Local reliability shows of a subgraph: its cards, its drawing, what is clicked."""

from collections.abc import Hashable, Mapping

import numpy as np
import streamlit as st

from kgdash.charts.graph_drawing import GraphDrawing
from kgdash.runs import Run
from kgdash.statistics.estimate import number
from kgdash.studies.reliability.local_comparison import LocalComparison, Mean
from kgdash.ui.graph_view.component import show_graph
from kgdash.ui.runtime.run_scale import run_scale
from kgdash.ui.subgraphs.drawing import add_neighbours, added_entities, stable_layout, with_added
from kgdash.ui.subgraphs.selected_part import show_part
from kgdash.ui.widgets.card import show_card

_CARDS = {
    "relik": "Mean ReliK ↑",
    "tail_mrr": "Tail MRR ↑",
    "head_mrr": "Head MRR ↑",
    "both_mrr": "Both MRR ↑",
    "relation_mrr": "Relation MRR ↑",
}


def show_local_cards(means: Mapping[str, Mean]) -> None:
    """Show one card per measure.

    :param means: of `LocalComparison`
    """
    relik_of = "triples, sampled" if "relik_low" in means else "triples"
    with st.container(horizontal=True):
        for name, label in _CARDS.items():
            value, count = means[name]
            unit = relik_of if name == "relik" else "ranks"
            show_card(label, number(value), f"n = {count:,} {unit}")


def show_drawing(
    run: Run, comparison: LocalComparison, key: tuple[Hashable, ...], part_name: str
) -> None:
    """Draw the subgraph, and beside it the numbers of what was clicked, with ways on from there.

    :param key: what the comparison depends on
    :param part_name: of downloads
    """
    with st.container():  # one place, whatever shows there: what moves begins anew in the browser
        drawing = _drawing(run, comparison, key, part_name)
    entities = drawing.entities
    left, right = st.columns([5, 3], gap="large")
    with left:
        picked = show_graph(drawing, "drawing", expandable=True)
        if picked.expand is not None:
            add_neighbours(run, picked.expand, entities, key)
            st.rerun()
    with right:
        show_part(picked, run, drawing.triples)
        if picked.node is not None:
            _show_ways_on(run, picked.node, entities, key)


def _drawing(
    run: Run, comparison: LocalComparison, key: tuple[Hashable, ...], name: str
) -> GraphDrawing:
    subgraph, graph = comparison.subgraph, run.graph
    added = added_entities(key)
    entities = np.concatenate([subgraph.entities, np.array(added, dtype=np.int64)])
    triples = with_added(run, comparison.triples, entities) if added else comparison.triples
    seed = graph.entity_labels[subgraph.seed_entity]
    return GraphDrawing(
        entities,
        triples,
        graph.entity_labels,
        graph.relation_labels,
        stable_layout(run, entities, triples, (*key, *added)),
        run_scale(run),
        subgraph.seed_entity,
        frozenset(added),
        name,
        f"{run.name}: {len(entities)} entities around {seed}, {len(triples)} known triples",
    )


def _show_ways_on(run: Run, node: int, inside: np.ndarray, key: tuple[Hashable, ...]) -> None:
    with st.container(horizontal=True):
        st.button(
            "Start here",
            on_click=_start_at,
            args=(run.graph.entities[node],),
            icon=":material/my_location:",
            help="Make it the seed entity.",
        )
        st.button(
            "Add its neighbours",
            on_click=add_neighbours,
            args=(run, node, inside, key),
            icon=":material/hub:",
            help="Draw up to 12 more entities that it shares a triple with; so does a double click "
            "on it. The figures above stay those of the subgraph.",
        )


def _start_at(name: str) -> None:
    st.session_state["entity"] = name
