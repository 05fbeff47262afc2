"""Triple classification: is a triple true? By a threshold on its score, chosen on validation."""

import streamlit as st

from kgdash.charts.classification import (
    CALIBRATION_NAMES,
    calibration_figure,
    labelled_histogram,
    pr_figure,
    roc_figure,
)
from kgdash.runs.call import Call
from kgdash.studies.classification.calibration import CALIBRATIONS, NOISE
from kgdash.studies.classification.classification import classify
from kgdash.ui.classification.form import choose_classification
from kgdash.ui.classification.views import (
    describe,
    majority_note,
    show_accuracy_by_relik,
    show_local,
    show_metric_cards,
    show_relations,
)
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.table import download, show_table

run = current_run()
st.title("Triple classification")
st.caption(
    "Is a triple true? It is predicted to be if its **score** reaches a **threshold**, the one "
    "with the highest accuracy on validation."
)
choice = choose_classification(run)
key = (run.identity, "classification", *choice.key)
found = computed(
    "Classifying triples",
    key,
    Call(classify, run, choice.setting, choice.given),
)
tables = computed("Curves and calibration", (*key, "tables"), Call(found.tables))
confusion = found.about()["confusion"]
name = f"{run.name}-classification-{found.setting.negatives}-{found.setting.thresholds}"

show_metric_cards(found.metrics)
st.caption(describe(found))
for note in (*found.notes, majority_note(found)):
    if note:
        st.info(plain(note), icon=":material/info:")

left, right = st.columns(2, gap="large")
with left:
    st.header("ROC curve")
    show_chart(drawn(roc_figure, tables["roc"], confusion), "roc", f"{name}-roc")
with right:
    st.header("Precision and recall")
    show_chart(drawn(pr_figure, tables["pr"], confusion), "pr", f"{name}-pr")

left, right = st.columns(2, gap="large")
with left:
    st.header("Scores")
    one = found.fitted.overall if found.setting.thresholds == "global" else None
    show_chart(drawn(labelled_histogram, tables["histogram"], one), "scores", f"{name}-scores")
    st.markdown(
        f"Of the true triples {confusion['true_positive']:,} are predicted true and "
        f"{confusion['false_negative']:,} false; of the false ones "
        f"{confusion['false_positive']:,} true and {confusion['true_negative']:,} false."
    )
    download(tables["scores"], f"{name}-triples")
with right:
    st.header("Calibration")
    show_chart(
        drawn(calibration_figure, tables["calibration"]), "calibration", f"{name}-calibration"
    )
    st.caption(
        "Scores as probabilities, at the share of true triples that there is here: "
        + "; ".join(f"**{CALIBRATION_NAMES[way]}**: {text}" for way, text in CALIBRATIONS.items())
        + ". On the dashed line, predictions come true."
    )
    show_table(
        tables["calibration_errors"].replace({"calibration": CALIBRATION_NAMES}),
        "errors",
        f"{name}-calibration-errors",
        tables["calibration"],
        expected_calibration_error="calibration error ↓",
        brier_score="Brier score ↓",
    )
    st.caption(f"{NOISE[:1].upper()}{NOISE[1:]}.")

st.header("Per relation")
st.caption(
    "Select a row to see the relation's scores. Majority: the accuracy of calling all triples of a "
    "relation what most of them are."
)
show_relations(found, tables["relations"], name)

st.header("Does ReliK predict where?")
st.caption(
    "True test triples in quantiles of their ReliK. Where ReliK predicts performance, the model "
    "classifies those of high ReliK right more often."
)
show_accuracy_by_relik(found, key, name)

st.header("In a part of the graph")
show_local(found, key, name)
