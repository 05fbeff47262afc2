"""Does ReliK predict local performance? Random subgraphs, and how their values correlate."""

import streamlit as st

from kgdash.runs.call import Call
from kgdash.studies.correlation.correlation import correlation_studies, correlation_study
from kgdash.ui.comparison.runs_form import choose_runs, show_notes_of
from kgdash.ui.correlation.study import show_run, show_runs, show_sizes
from kgdash.ui.correlation.study_form import choose_correlation_study
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_picker import current_run

run = current_run()
st.title("Correlation study")
st.caption(
    "Random subgraphs: their mean ReliK, which needs no test triples, against how well their test "
    "triples rank."
)
choice = choose_correlation_study(run)
key = ("study", *choice.study)
if choice.view == "Several runs":
    runs = choose_runs(run, first=5)
    show_notes_of({name: each for name, each in runs.items() if each is not run})
    _, coefficients = computed(
        "Studying the runs",
        (tuple((name, each.identity) for name, each in runs.items()), *key),
        Call(correlation_studies, runs, *choice.study),
    )
    show_runs(choice, coefficients)
else:
    scores, coefficients = computed(
        "Drawing subgraphs, ranking, and counting negatives",
        (run.identity, *key),
        Call(correlation_study, run, *choice.study),
    )
    if choice.view == "Sizes":
        show_sizes(run, choice, coefficients)
    else:
        show_run(run, choice, scores, coefficients)
