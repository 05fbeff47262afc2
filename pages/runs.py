"""All runs: bundled ones, one's own, and those in folders that were opened lately."""

import streamlit as st

from kgdash.files.visitor import visitor
from kgdash.runs.library import runs_folder
from kgdash.ui.library.adding import show_adding
from kgdash.ui.library.changing import show_changing
from kgdash.ui.library.listing import show_runs
from kgdash.ui.library.message import show_said
from kgdash.ui.library.training import show_training
from kgdash.ui.runtime.navigation import ensure_navigation

ensure_navigation()
st.title("Runs")
show_said()
show_training()
st.caption(
    "A run is a trained model with its graph. Click one to open it. MRR and Hits@10: realistic, "
    "both sides, filtered by all known triples, on test, as recorded when it was trained; where "
    "PyKEEN evaluated, as its results.json has it, which may be of validation."
)
show_runs()
left, right = st.columns([3, 2], gap="large")
with left:
    st.header("Add a run")
    show_adding()
with right:
    st.header("Rename or remove")
    show_changing()
if visitor().folder == "":
    st.caption(f"Yours are in `{runs_folder()}`; `KGDASH_RUNS` moves it.")
