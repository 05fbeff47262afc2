"""One triple, looked at from all sides: how it ranks, what beats it, what is known around it."""

import streamlit as st

from kgdash.runs.call import Call
from kgdash.studies.inspection.inspection import inspect_triple
from kgdash.ui.inspection.card import show_trust
from kgdash.ui.inspection.deeper import OPEN_VIEWS, VIEWS
from kgdash.ui.inspection.first_screen import show_candidates, show_figures, show_verdict
from kgdash.ui.inspection.form import choose_triple, show_way_through
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.widgets.choices import choose_one

run = current_run()
st.title("Inspect a prediction")
triple = choose_triple(run)
show_way_through(run, triple)
found = computed(
    "Scoring candidates and counting negatives",
    (run.identity, "inspection", triple),
    Call(inspect_triple, run, triple),
)
show_trust(found)
show_verdict(found)
show_candidates(found)
st.caption("Select a row of any table to inspect that triple.")
show_figures(found)
views = list(VIEWS if triple.open_side is None else OPEN_VIEWS)
VIEWS[choose_one("Look at", views, "look_at", label_visibility="collapsed")](found)
