"""The table beside the drawing of a subgraph: all its facts, or those of what was clicked."""

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.charts.style import cut
from kgdash.graph import KnowledgeGraph
from kgdash.runs import Run
from kgdash.statistics.estimate import number
from kgdash.ui.graph_view.component import Selection
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.widgets.inspect_link import IDS, offer_inspection, show_triples

#: shown of each fact, where the table has it; a `LocalComparison` has all
_COLUMNS = ("relik", "head_rank", "tail_rank", "split")

#: characters of each name in a fact: rows of thousands are tens of megabytes for each tab
_LONGEST = 80


def show_part(picked: Selection, run: Run, triples: pd.DataFrame) -> None:
    """Show the facts of a node, an edge or a cell, or all; a row opens its triple on Inspect.

    The least reliable come first.

    :param triples: all that are drawn: ``head, relation, tail`` (ids), ``relik``, and of a
        `LocalComparison` also ranks
    """
    part = triples.iloc[chosen_rows(picked, triples)].sort_values("relik", kind="stable")
    if picked.node is None and not picked.rows:
        st.caption(
            "The facts drawn, the least reliable first. Click an entity or a fact in the drawing "
            "to see its own; a row opens its triple."
        )
    else:
        st.markdown(f"**{_title(picked, run.graph, part)}**")
        _show_means(part)
    ids = part[IDS].to_numpy()
    if len(part) == 1:
        offer_inspection(run.graph, ids[0], "inspect_picked")
    name = f"{run.name}-drawn"
    columns = (("fact", "fact", 205), ("relation", "relation", 95), ("other", "to or from", 115))
    narrow = {
        column: st.column_config.Column(label, width=width) for column, label, width in columns
    }
    shown, named = _listed(picked, run.graph, part), run.graph.with_names(part)
    show_triples(run.graph, ids, shown, "picked", name, named, **narrow)


def chosen_rows(picked: Selection, triples: pd.DataFrame) -> np.ndarray:
    """Return the numbers of the rows that belong to what is chosen; all if nothing is."""
    if picked.node is not None:
        ends = triples[["head", "tail"]].to_numpy()
        return np.flatnonzero((ends == picked.node).any(axis=1))
    return np.array(picked.rows or range(len(triples)), dtype=np.int64)


def _show_means(part: pd.DataFrame) -> None:
    with st.container(horizontal=True):
        st.metric("Mean ReliK ↑", number(part["relik"].mean()))
        st.metric("Triples", f"{len(part):,}")
        if "reciprocal_rank" in part:
            st.metric("Reciprocal rank ↑", number(part["reciprocal_rank"].mean()))


def _listed(picked: Selection, graph: KnowledgeGraph, part: pd.DataFrame) -> pd.DataFrame:
    """Leave out of the columns what the title says."""
    if picked.node is None and not picked.rows:
        ids = part[IDS].to_numpy()
        there = np.unique(ids[:, [0, 2]]).tolist()
        labels = {number: cut(graph.entity_labels[number], _LONGEST) for number in there}
        # Of a path such as Freebase's, the end says most.
        ends = [cut(label.rsplit("/", 1)[-1], _LONGEST) for label in graph.relation_labels]
        facts = [f"{labels[h]} — {ends[r]} → {labels[t]}" for h, r, t in ids.tolist()]
        return pd.DataFrame({"fact": pd.Series(facts, part.index, "str"), "relik": part["relik"]})
    columns = [column for column in _COLUMNS if column in part]
    named = graph.with_names(part)
    if picked.node is not None:
        tails, heads = "→ " + named["tail"], "← " + named["head"]
        other = tails.where(part["head"] == picked.node, heads)
        return named.assign(other=other)[["relation", "other", *columns]]
    return named[["relation", *columns]]


def _title(picked: Selection, graph: KnowledgeGraph, part: pd.DataFrame) -> str:
    labels = graph.entity_labels
    if picked.node is not None:
        return plain(labels[picked.node])
    head, tail = (labels[int(part[end].iloc[0])] for end in ("head", "tail"))
    relation = graph.relation_labels[int(part["relation"].iloc[0])]
    between = f"— {relation} →" if len(picked.rows) == 1 else "→"
    return plain(f"{head} {between} {tail}")
