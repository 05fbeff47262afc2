"""What the page Local reliability shows of a subgraph: its cards, its drawing, what is clicked."""

from collections.abc import Hashable

import numpy as np
import streamlit as st

from kgdash.charts.graph_drawing import GraphDrawing, drawable
from kgdash.ranking.glossary import explained
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.runs.preparation import is_counted_unasked
from kgdash.statistics.estimate import Estimate, number
from kgdash.studies.reliability.local_comparison import LocalComparison
from kgdash.studies.reliability.local_verdict import local_estimates, local_verdict, whole_estimates
from kgdash.studies.reliability.run_relik import run_relik_known
from kgdash.ui.graph_view.component import show_graph
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_scale import run_scale
from kgdash.ui.subgraphs.drawing import (
    add_entities,
    added_entities,
    neighbours,
    stable_layout,
    with_added,
)
from kgdash.ui.subgraphs.selected_part import show_part
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.drawn import drawn

_ENDS = ("relik_low", "relik_high")

_CARDS = {
    "relik": "Mean ReliK ↑",
    "tail_mrr": "Tail MRR ↑",
    "head_mrr": "Head MRR ↑",
    "both_mrr": "Both MRR ↑",
    "relation_mrr": "Relation MRR ↑",
}


def counted_so_far(comparison: LocalComparison) -> str:
    """Say what the mean ReliK is about while it is counted; nothing of the last result."""
    if _ENDS[0] not in comparison.means:
        return ""
    value, low, high = (comparison.means[key].value for key in ("relik", *_ENDS))
    return so_far(value, low, high)


def so_far(value: float, low: float, high: float) -> str:
    """Say what the mean ReliK is about; NaN: too little is counted for that."""
    if not value > 0:
        return ""
    return f"Mean ReliK about {number(value)} (95%: {number(low)} to {number(high)})."


def show_local_answer(run: Run, comparison: LocalComparison) -> None:
    """Show the verdict, once all is counted, and the cards."""
    estimates = drawn(local_estimates, comparison)
    _show_verdict(run, comparison, estimates)
    _show_cards(comparison, estimates)
    if comparison.method == "sampled":
        _tell_sample(run)


def _show_verdict(run: Run, comparison: LocalComparison, estimates: dict[str, Estimate]) -> None:
    """Say whether the model is more or less reliable here than in the whole graph."""
    if comparison.share < 1:
        return
    whole = computed(
        "The whole graph",
        (run.identity, "whole", run_relik_known(run)),
        Call(whole_estimates, run),
    )
    st.markdown(" ".join(local_verdict(estimates, whole)))


def _show_cards(comparison: LocalComparison, estimates: dict[str, Estimate]) -> None:
    """Show one card per measure; of ReliK that is sampled, the interval, and none in the making."""
    means, method = comparison.means, comparison.method
    graph = comparison.subgraph.graph
    with st.container(horizontal=True):
        for name, label in _CARDS.items():
            value, count = means[name]
            text, unit = number(value), f"n = {count:,} {'triples' if name == 'relik' else 'ranks'}"
            estimate = estimates[name]
            if estimate.ends and _ENDS[0] not in means:
                unit = f"{estimate.ends}, {unit}"
            if name == "relik" and comparison.share < 1:
                text, unit = "–", f"{count:,} of {len(comparison.triples):,} triples counted"
            elif name == "relik" and _ENDS[0] in means:
                middle, ends = text, (number(means[end].value) for end in _ENDS)
                text = " – ".join(ends)
                unit += f", {method}; geometric middle {middle}"
            among = (
                f"{graph.num_relations:,} relations"
                if name == "relation_mrr"
                else f"{graph.num_entities:,} entities"
            )
            here = f"Here realistic, filtered, among {among}. {explained('interval')}"
            show_card(label, text, unit, None if name == "relik" else here)


def _tell_sample(run: Run) -> None:
    """Say what sampled ReliK is, and why it is where nobody chose it."""
    why = "" if is_counted_unasked(run) else " Graphs that take hours to count begin with it."
    st.info(
        "ReliK is sampled, 1,000 negatives a side: the true mean lies in the interval shown "
        "(95%), and where in it is not known. Single triples show the geometric middle of "
        f"their intervals. Choose exact for the true values.{why}",
        icon=":material/casino:",
    )


def show_drawing(
    run: Run, comparison: LocalComparison, key: tuple[Hashable, ...], part_name: str
) -> None:
    """Draw the subgraph, and beside it the numbers of what was clicked, with ways on from there.

    :param key: what the comparison depends on
    :param part_name: of downloads
    """
    with st.container():  # one place, whatever shows there: what moves begins anew in the browser
        drawing = _drawing(run, comparison, key, part_name)
        if len(drawing.triples) < len(comparison.triples):
            st.caption(
                f"Drawn and beside it: the {len(drawing.triples):,} least reliable triples; all "
                "are below."
            )
    entities = drawing.entities
    left, right = st.columns([5, 3], gap="large")
    with left:
        picked = show_graph(drawing, "drawing", expandable=True)
        if picked.expand is not None:
            add_entities(neighbours(run, picked.expand, entities), key)
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
    seed, drawn_ones = graph.entity_labels[subgraph.seed_entity], drawable(triples)
    said = f"{len(triples):,} known triples"
    if len(drawn_ones) < len(triples):
        said = f"the {len(drawn_ones):,} least reliable of {said}"
    return GraphDrawing(
        entities,
        drawn_ones,
        graph.entity_labels,
        graph.relation_labels,
        stable_layout(run, entities, triples, (*key, *added)),
        run_scale(run),
        subgraph.seed_entity,
        frozenset(added),
        name,
        f"{run.name}: {len(entities)} entities around {seed}, {said}",
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
            on_click=add_entities,
            args=(neighbours(run, node, inside), key),
            icon=":material/hub:",
            help="Draw up to 12 more entities that it shares a triple with; so does a double click "
            "on it. The figures above stay those of the subgraph.",
        )


def _start_at(name: str) -> None:
    st.session_state["entity"] = name
