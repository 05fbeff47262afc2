"""Does ReliK foretell local performance? Random subgraphs, and how their figures correlate."""

import streamlit as st

from kgdash.studies.correlation.correlation import study, study_runs
from kgdash.ui.comparison.runs_form import choose_runs, show_notes_of
from kgdash.ui.correlation.study import show_run, show_runs, show_sizes
from kgdash.ui.correlation.study_form import choose_study
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_picker import current_run, show_notes

run = current_run()
st.title("Correlation study")
st.caption(
    "Where ReliK is high, does the model predict better? **ReliK** needs no test triples; the "
    "performance of random subgraphs does. What correlates, ReliK foretells."
)
show_notes(run)
choice = choose_study(run)
key = ("study", choice.sizes, choice.arguments)
if choice.view == "Several runs":
    runs = choose_runs(run, suggested=5)
    show_notes_of({name: each for name, each in runs.items() if each is not run})
    _, found = computed(
        "Studying the runs",
        (tuple((name, each.digest) for name, each in runs.items()), *key),
        lambda progress: study_runs(runs, progress=progress, **choice.named),
    )
    show_runs(choice, found)
else:
    figures, found = computed(
        "Drawing subgraphs, ranking, and counting negatives",
        (run.digest, *key),
        lambda progress: study(run, progress=progress, **choice.named),
    )
    if choice.view == "Sizes":
        show_sizes(run, choice, found)
    else:
        show_run(run, choice, figures, found)
