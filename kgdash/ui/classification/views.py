"""The cards of triple classification, for all triples and for those of a subgraph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import pandas as pd
import streamlit as st

from kgdash.charts.classification import labelled_histogram, relik_accuracy_figure
from kgdash.runs.call import Call
from kgdash.statistics.estimate import number
from kgdash.studies.classification.accuracy_by_relik import exact_accuracy_by_relik
from kgdash.studies.classification.classification import Classification
from kgdash.studies.classification.curves import score_histogram
from kgdash.studies.classification.scores import METRICS
from kgdash.studies.reliability.subgraph_classification import classify_subgraph
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.subgraphs.form import choose_subgraph, walked
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.inspect_link import IDS, show_triples
from kgdash.ui.widgets.selection import selected_row
from kgdash.ui.widgets.table import download, number_columns, show_table, written

_HEADINGS = {"accuracy_low": "from", "accuracy_high": "to", "roc_auc": "ROC-AUC"}

#: columns that the table's menu shows
_LATER = dict.fromkeys(["precision", "recall", "f1", "pr_auc"])

_NAMES = {
    "accuracy": "Accuracy ↑",
    "precision": "Precision ↑",
    "recall": "Recall ↑",
    "f1": "F1 ↑",
    "roc_auc": "ROC-AUC ↑",
    "pr_auc": "PR-AUC ↑",
    "relik": "Mean ReliK ↑",
}


def show_metric_cards(metrics: pd.DataFrame, chosen: Sequence[str] = tuple(METRICS)) -> None:
    """Show a card per metric, with its interval, or the triples behind it, beneath.

    :param metrics: ``figure``, ``value``, ``low``, ``high``, and ``count`` where there is one
    :param chosen: which of them
    """
    with st.container(horizontal=True):
        for name in chosen:
            row = metrics.set_index("figure").loc[name]
            beneath = f"{number(row['low'])} to {number(row['high'])}"
            if pd.isna(row["low"]):
                beneath = f"n = {int(row['count']):,} triples" if "count" in row else "no interval"
            about = f"{METRICS[name]}." if name in METRICS else "Over the known triples inside."
            show_card(_NAMES[name], number(row["value"]), beneath, about)


def describe(found: Classification) -> str:
    """Say in sentences what was classified by what."""
    about = found.about()
    test, own = about["test"], about["relations_with_own_threshold"]
    validation = found.metrics.set_index("figure")["validation"]["accuracy"]
    text = (
        f"{test['true']:,} true and {test['false']:,} false test triples; beneath each figure its "
        f"{found.setting.level * 100:g}% interval. Threshold {number(about['threshold'])}"
    )
    if found.setting.thresholds == "relation":
        others = about["relations_with_global_threshold"]
        text += f" for relations without validation triples ({others:,}), {own:,} have their own"
    return f"{text}; accuracy on validation {number(validation)}."


def majority_note(found: Classification) -> str:
    """Warn where relations differ in their share of true triples; empty if they do not."""
    share = found.about()["majority_per_relation"]
    if found.setting.paired or share < 0.55:
        return ""
    return (
        "These false triples are few for some relations and many for others: calling each "
        f"relation's triples what most of them are has an accuracy of {number(share)} already, "
        "which thresholds per relation profit from."
    )


def show_relations(found: Classification, relations: pd.DataFrame, name: str) -> None:
    """Show the metrics of every relation, and the scores of the one that is selected.

    :param relations: of `Classification.tables`
    :param name: of files, without an extension
    """
    setting = found.setting
    columns = ["relation", "accuracy", "accuracy_low", "accuracy_high", "true", "false", "majority"]
    columns += ["own_threshold", "threshold"] if setting.thresholds == "relation" else []
    columns += ["precision", "recall", "f1", "roc_auc", "pr_auc"]
    row = selected_row(
        st.dataframe(
            written(relations[columns]),
            hide_index=True,
            placeholder="–",
            column_config=number_columns(relations[columns], **_HEADINGS, **_LATER),
            on_select="rerun",
            selection_mode="single-row",
            key=f"relations_{setting.negatives}_{setting.thresholds}_{setting.seed}",
        )
    )
    download(relations, f"{name}-relations")
    if row is not None and row < len(relations):
        picked = found.relations.iloc[row]
        st.markdown(f"**{plain(relations['relation'][row])}**")
        scores = score_histogram(found.test, int(picked["relation"]))
        show_chart(
            drawn(labelled_histogram, scores, picked["threshold"]),
            "relation_scores",
            f"{name}-relation-{row + 1}",
        )


def show_accuracy_by_relik(found: Classification, key: tuple[Hashable, ...], name: str) -> None:
    """Show how often triples are classified right in quantiles of ReliK.

    :param found: of all triples
    :param key: that it is remembered under
    :param name: of files, without an extension
    """
    by_relik = computed(
        "ReliK of the true test triples",
        (*key, "relik"),
        Call(exact_accuracy_by_relik, found),
    )
    show_chart(drawn(relik_accuracy_figure, by_relik), "by_relik", f"{name}-relik")
    shown = by_relik[[column for column in by_relik if by_relik[column].notna().any()]]
    with st.expander("The figures as a table"):
        later = dict.fromkeys(["relik_least", "relik_most"])
        show_table(shown, "relik_table", f"{name}-relik", by_relik, **later)


def show_local(found: Classification, key: tuple[Hashable, ...], name: str) -> None:
    """Show the choice of a subgraph, and what classification and ReliK say of it.

    :param found: of all triples
    :param key: that it is remembered under
    :param name: of files, without an extension
    """
    run = found.run
    choice = choose_subgraph(run, "True triples")
    part = walked(run, choice)
    local = computed(
        "Judging the triples inside",
        (*key, choice, "local"),
        Call(classify_subgraph, found, part, choice.evaluated, relik_method=choice.relik_method),
    )
    shown = ("relik", "accuracy", "precision", "recall", "f1", "roc_auc")
    show_metric_cards(local.metrics, shown)
    kind = "test" if choice.evaluated == "test" else "known"
    st.caption(
        f"{len(part.entities)} entities; {len(local.triples) // 2:,} {kind} triples inside, each "
        "with a corruption whose new end is inside as well, classified by the thresholds above. "
        f"{part.note}"
    )
    if not len(local.triples):
        st.info(
            "None of these triples is inside: choose all triples, or a larger subgraph.",
            icon=":material/info:",
        )
        return
    named, ids = run.graph.with_names(local.triples), local.triples[IDS].to_numpy()
    show_triples(run.graph, ids, named, "local_triples", f"{name}-subgraph")
