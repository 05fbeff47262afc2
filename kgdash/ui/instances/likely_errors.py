"""The view of likely errors: instances that look like the other label, and triples to check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.runs.call import Call
from kgdash.studies.instances.likely_errors import (
    likely_errors,
    plausible_missing_triples,
    suspicious_facts,
)
from kgdash.studies.rules.confidence import rule_confidence
from kgdash.ui.instances.detail import show_instance
from kgdash.ui.instances.separation import Separated, pick_instance
from kgdash.ui.runtime.computed import computed
from kgdash.ui.widgets.inspect_link import IDS, pick_triple
from kgdash.ui.widgets.table import download

#: rows shown; the files hold all
_MOST = 200

_LABELS = {"head_label": "head", "relation_label": "relation", "tail_label": "tail"}


def show_likely_errors(separated: Separated) -> None:
    """Show instances and triples that are worth a second look."""
    st.caption(
        "Lists to check, not verdicts: a low value says that the model is unsure here, a high one "
        "of a false instance may mean a fact that nobody wrote down. Select an instance to see its "
        "triples, a triple to inspect it."
    )
    left, right = st.columns(2, gap="large")
    chosen: list[int | None] = []
    for column, label, title in (
        (left, True, "True, but least reliable"),
        (right, False, "False, but most reliable"),
    ):
        with column:
            st.header(title)
            rows = likely_errors(
                separated.scored.table, label, separated.choice.measure, separated.choice.aggregate
            )
            key = f"errors_{'true' if label else 'false'}"
            name = f"{separated.name}-{'least-reliable-true' if label else 'most-reliable-false'}"
            chosen.append(pick_instance(separated, rows, key, name, _MOST))
    for instance in dict.fromkeys(chosen):
        if instance is not None:
            show_instance(separated.run, separated.scored, instance, separated.choice.measure)
    graph, scored, own = separated.run.graph, separated.scored, separated.key
    suspicious = computed(
        "Listing facts", (*own, "facts to check"), Call(suspicious_facts, graph, scored)
    )
    confidence = computed(
        "Counting rules", (*own, "confidence"), Call(rule_confidence, graph, separated.groups)
    )
    plausible = computed(
        "Listing missing facts",
        (*own, "missing facts"),
        Call(plausible_missing_triples, graph, scored, confidence),
    )
    left, right = st.columns(2, gap="large")
    with left:
        st.header("Known facts to check")
        st.caption("Facts of the graph among the instances' triples, least ReliK first.")
        _show_triples(graph, suspicious, "suspicious", f"{separated.name}-suspicious-facts")
    with right:
        st.header("Missing facts to consider")
        st.caption("Triples of the instances that no split holds, most reliable first.")
        _show_triples(graph, plausible, "plausible", f"{separated.name}-plausible-missing")


def _show_triples(graph: KnowledgeGraph, table: pd.DataFrame, key: str, name: str) -> None:
    """Show triples by their labels, each to be inspected; the files hold names too."""
    first = ["relik", *_LABELS]
    others = table.columns.drop([*first, "head", "relation", "tail"])
    shown = table[[*first, *others]].head(_MOST)
    names = table[IDS].head(_MOST).to_numpy().tolist()
    ids = [[graph.entity_id(h), graph.relation_id(r), graph.entity_id(t)] for h, r, t in names]
    headings: dict[str, Any] = {
        **_LABELS,
        "mirror": "mirror image",
        "pca_confidence": "PCA confidence",
    }
    pick_triple(graph, np.array(ids, dtype=np.int64), shown, key, name, **headings)
    if len(table) > _MOST:
        st.caption(f"The first {_MOST} of {len(table):,}; the files hold all.")
    download(table, name)
