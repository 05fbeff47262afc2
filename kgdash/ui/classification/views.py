"""The cards of triple classification, for all triples and for those of a subgraph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import pandas as pd
import streamlit as st

from kgdash.charts.style import number
from kgdash.studies.classification.classification import Classification
from kgdash.studies.classification.scores import FIGURES
from kgdash.studies.reliability.part_classification import judge_part
from kgdash.ui.runtime.computed import computed
from kgdash.ui.subgraphs.form import choose_subgraph
from kgdash.ui.widgets.table import show_table

_NAMES = {
    "accuracy": "Accuracy ↑",
    "precision": "Precision ↑",
    "recall": "Recall ↑",
    "f1": "F1 ↑",
    "roc_auc": "ROC-AUC ↑",
    "pr_auc": "PR-AUC ↑",
    "relik": "Mean ReliK ↑",
}


def show_figure_cards(figures: pd.DataFrame, chosen: Sequence[str] = tuple(FIGURES)) -> None:
    """Show a card per figure, with its interval, or the triples behind it, beneath.

    :param figures: ``figure``, ``value``, ``low``, ``high``, and ``count`` where there is one
    :param chosen: which of them
    """
    with st.container(horizontal=True):
        for name in chosen:
            row = figures.set_index("figure").loc[name]
            beneath = f"{number(row['low'])} to {number(row['high'])}"
            if pd.isna(row["low"]):
                beneath = f"n = {int(row['count']):,} triples" if "count" in row else "no interval"
            st.metric(
                _NAMES[name],
                number(row["value"]),
                beneath,
                delta_color="off",
                delta_arrow="off",
                border=True,
                help=f"{FIGURES[name]}." if name in FIGURES else "Over the known triples inside.",
            )


def describe(found: Classification) -> str:
    """Say in sentences what was judged by what."""
    about = found.about()
    test, own = about["test"], about["relations_with_own_threshold"]
    validation = found.figures.set_index("figure")["validation"]["accuracy"]
    text = (
        f"{test['true']:,} true and {test['false']:,} false test triples; beneath each figure its "
        f"{found.level * 100:g} % interval. Threshold {number(about['threshold'])}"
    )
    if found.thresholds == "relation":
        others = about["relations_with_global_threshold"]
        text += f" for relations without validation triples ({others:,}), {own:,} have their own"
    return f"{text}; accuracy on validation {number(validation)}."


def majority_note(found: Classification) -> str:
    """Warn where relations differ in their share of true triples; empty if they do not."""
    share = found.about()["majority_per_relation"]
    if found.paired or share < 0.55:
        return ""
    return (
        "These false triples are few for some relations and many for others: calling each "
        f"relation's triples what most of them are has an accuracy of {number(share)} already, "
        "which thresholds per relation profit from."
    )


def show_local(found: Classification, key: tuple[Hashable, ...], name: str) -> None:
    """Show the choice of a subgraph, and what classification and ReliK say of it.

    :param found: of all triples
    :param key: that it is remembered under
    :param name: of files, without an extension
    """
    run = found.run
    choice = choose_subgraph(run, "True triples")
    part = computed(
        "Walking the graph",
        (*key, choice, "subgraph"),
        lambda _: run.subgraph(**dict(choice.arguments)),
    )
    local = computed(
        "Judging the triples inside",
        (*key, choice, "local"),
        lambda report: judge_part(
            found, part, choice.evaluated, relik_method=choice.relik_method, progress=report
        ),
    )
    shown = ("relik", "accuracy", "precision", "recall", "f1", "roc_auc")
    show_figure_cards(local.figures, shown)
    kind = "test" if choice.evaluated == "test" else "known"
    st.caption(
        f"{len(part.entities)} entities; {len(local.triples) // 2:,} {kind} triples inside, each "
        "with a corruption whose new end is inside as well, judged by the thresholds above. "
        f"{part.note}"
    )
    if not len(local.triples):
        st.info(
            "None of these triples is inside: choose all triples, or a larger subgraph.",
            icon=":material/info:",
        )
        return
    show_table(run.graph.labelled(local.triples), "local_triples", f"{name}-subgraph")
