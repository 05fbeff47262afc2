"""Triple classification: is a triple true? By a threshold on its score, chosen on validation."""

import streamlit as st

from kgdash.charts.classification import (
    calibration_figure,
    labelled_histogram,
    pr_figure,
    relik_accuracy_figure,
    roc_figure,
)
from kgdash.studies.classification.accuracy_by_relik import relik_steps
from kgdash.studies.classification.calibration import CALIBRATIONS
from kgdash.studies.classification.classification import classify
from kgdash.ui.classification.form import choose_classification
from kgdash.ui.classification.views import (
    describe,
    majority_note,
    show_figure_cards,
    show_local,
)
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.refined import refined, show_refinement
from kgdash.ui.runtime.run_picker import current_run, show_notes
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.markdown import plain
from kgdash.ui.widgets.selection import selected_row
from kgdash.ui.widgets.table import download, number_columns, show_table

run = current_run()
st.title("Triple classification")
st.caption(
    "Is a triple true? The model calls it true if its **score** reaches a **threshold**, the one "
    "with the highest accuracy on validation."
)
show_notes(run)
choice = choose_classification(run)
key = (run.digest, "classification", *choice.key)
found = computed(
    "Classifying triples",
    key,
    lambda report: classify(
        run, choice.negatives, choice.thresholds, choice.seed, choice.given, progress=report
    ),
)
tables = computed("Curves and calibration", (*key, "tables"), lambda _: found.tables())
confusion = found.about()["confusion"]
name = f"{run.name}-classification-{choice.negatives}-{choice.thresholds}"

show_figure_cards(found.figures)
st.caption(describe(found))
for note in (*found.notes, majority_note(found)):
    if note:
        st.info(plain(note), icon=":material/info:")

left, right = st.columns(2, gap="large")
with left:
    st.subheader("ROC curve")
    show_chart(roc_figure(tables["roc"], confusion), "roc", f"{name}-roc")
with right:
    st.subheader("Precision and recall")
    show_chart(pr_figure(tables["pr"], confusion), "pr", f"{name}-pr")

left, right = st.columns(2, gap="large")
with left:
    st.subheader("Scores")
    one = found.fitted.overall if choice.thresholds == "global" else None
    show_chart(labelled_histogram(tables["histogram"], one), "scores", f"{name}-scores")
    st.markdown(
        f"Of the true triples {confusion['true_positive']:,} are called true and "
        f"{confusion['false_negative']:,} false; of the false ones "
        f"{confusion['false_positive']:,} true and {confusion['true_negative']:,} false."
    )
    download(tables["scores"], f"{name}-triples")
with right:
    st.subheader("Calibration")
    show_chart(calibration_figure(tables["calibration"]), "calibration", f"{name}-calibration")
    st.caption(
        "Scores as probabilities, at the share of true triples that there is here: "
        + "; ".join(f"**{way}**: {text}" for way, text in CALIBRATIONS.items())
        + ". On the dashed line, predictions come true."
    )
    show_table(
        tables["calibration_errors"],
        "errors",
        f"{name}-calibration-errors",
        tables["calibration"],
        expected_calibration_error="calibration error ↓",
        brier_score="Brier score ↓",
    )

st.subheader("Per relation")
st.caption("Select a row to see the relation's scores. Majority: calling all what most are.")
relations = tables["relations"]
columns = ["relation", "accuracy", "accuracy_low", "accuracy_high", "true", "false", "majority"]
columns += ["own_threshold", "threshold"] if choice.thresholds == "relation" else []
columns += ["precision", "recall", "f1", "roc_auc", "pr_auc"]
row = selected_row(
    st.dataframe(
        relations[columns],
        hide_index=True,
        placeholder="–",
        column_config=number_columns(relations[columns], roc_auc="ROC-AUC", pr_auc="PR-AUC"),
        on_select="rerun",
        selection_mode="single-row",
        key=f"relations_{choice.negatives}_{choice.thresholds}_{choice.seed}",
    )
)
download(relations, f"{name}-relations")
if row is not None and row < len(relations):
    picked = found.relations.iloc[row]
    st.markdown(f"**{plain(relations['relation'][row])}**")
    show_chart(
        labelled_histogram(found.histogram(int(picked["relation"])), picked["threshold"]),
        "relation_scores",
        f"{name}-relation-{row + 1}",
    )

st.subheader("Does ReliK tell where?")
st.caption(
    "True test triples in quantiles of their ReliK. If ReliK is worth its name, the model judges "
    "those of high ReliK right more often."
)
method, by_relik = refined(
    "ReliK of the true test triples",
    (*key, "relik"),
    lambda report, _: relik_steps(found, report),
)
show_refinement("ReliK is sampled so far.")
show_chart(relik_accuracy_figure(by_relik), "by_relik", f"{name}-relik")
shares = by_relik[[column for column in by_relik if by_relik[column].notna().any()]]
show_table(shares, "relik_table", f"{name}-relik", by_relik)

st.subheader("In a part of the graph")
show_local(found, key, name)
