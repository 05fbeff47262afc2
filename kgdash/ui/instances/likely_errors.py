"""The view of likely errors: instances that look like the other label, and triples to check."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from kgdash.studies.instances.likely_errors import (
    likely_errors,
    plausible_missing_triples,
    suspicious_facts,
)
from kgdash.studies.rules.confidence import rule_confidence
from kgdash.ui.instances.detail import show_instance
from kgdash.ui.instances.separation import Separated, pick_instance
from kgdash.ui.runtime.computed import computed
from kgdash.ui.widgets.table import download, number_columns, written

#: rows shown; the files hold all
_MOST = 200

_LABELS = {"head_label": "head", "relation_label": "relation", "tail_label": "tail"}


def show_likely_errors(separated: Separated) -> None:
    """Show instances and triples that are worth a second look."""
    st.caption(
        "Lists to check, not verdicts: a low value says that the model is unsure here, a high one "
        "of a false instance may mean a fact that nobody wrote down. Select a row to see its "
        "triples."
    )
    left, right = st.columns(2, gap="large")
    chosen: list[int | None] = []
    for column, label, title in (
        (left, True, "True, but least reliable"),
        (right, False, "False, but most reliable"),
    ):
        with column:
            st.subheader(title)
            rows = likely_errors(
                separated.scored.table, label, separated.choice.measure, separated.choice.aggregate
            )
            key = f"errors_{'true' if label else 'false'}"
            name = f"{separated.name}-{'least-reliable-true' if label else 'most-reliable-false'}"
            chosen.append(pick_instance(separated, rows, key, name, _MOST))
    for instance in dict.fromkeys(chosen):
        if instance is not None:
            show_instance(separated.run, separated.scored, instance, separated.choice.measure)
    suspicious, plausible = computed(
        "Listing triples",
        (*separated.key, "triples to check"),
        lambda report: (
            suspicious_facts(separated.run.graph, separated.scored),
            plausible_missing_triples(
                separated.run.graph,
                separated.scored,
                rule_confidence(separated.run.graph, separated.groups, report),
            ),
        ),
    )
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Known facts to check")
        st.caption("Facts of the graph among the instances' triples, least ReliK first.")
        _show_triples(suspicious, "suspicious", f"{separated.name}-suspicious-facts")
    with right:
        st.subheader("Missing facts to consider")
        st.caption("Triples of the instances that no split holds, most reliable first.")
        _show_triples(plausible, "plausible", f"{separated.name}-plausible-missing")


def _show_triples(table: pd.DataFrame, key: str, name: str) -> None:
    """Show triples by their labels; the files hold names too."""
    first = ["relik", *_LABELS]
    others = table.columns.drop([*first, "head", "relation", "tail"])
    shown = table[[*first, *others]].head(_MOST)
    config = number_columns(
        shown, **_LABELS, mirror="mirror image", pca_confidence="PCA confidence"
    )
    st.dataframe(written(shown), hide_index=True, column_config=config, placeholder="–", key=key)
    if len(table) > _MOST:
        st.caption(f"The first {_MOST} of {len(table):,}; the files hold all.")
    download(table, name)
