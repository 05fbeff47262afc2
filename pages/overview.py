"""Where can this model be trusted? The answer, and where to look first."""

import streamlit as st

from kgdash.runs.call import Call
from kgdash.runs.preparation import is_counted_unasked
from kgdash.studies.overview.steps import overview_steps
from kgdash.ui.metrics.report_button import offer_report
from kgdash.ui.overview.answer import show_leads, show_map, show_values
from kgdash.ui.overview.training import show_training
from kgdash.ui.overview.width import choose_width
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.refined import refined, show_refinement
from kgdash.ui.runtime.run_picker import current_run, show_notes
from kgdash.ui.runtime.tour import offer_tour

run = current_run()
st.title(f"Where can {plain(run.spec.name)} on {plain(run.graph.name)} be trusted?")
width = choose_width(run)
key = (run.identity, "overview", is_counted_unasked(run), width)
found = refined(
    "Ranking held-out triples and counting ReliK",
    key,
    Call(overview_steps, run, width),
)
show_refinement(lambda _: "ReliK is being counted.")
for sentence in found.verdict:
    st.markdown(plain(sentence))
show_values(found)
right = st.container()
if len(found.communities):
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_map(found, (*key, found.map.method))
with right:
    show_leads(found)
with st.container(horizontal=True):
    offer_tour()
    offer_report(run)
show_notes(run)
# Unfolded it is shown, not before: the browser would draw its chart and table out of sight.
fold = st.expander(
    "Training and configuration",
    key="about_training",
    icon=":material/model_training:",
    on_change="rerun",
    bind="query-params",
)
if fold.open:
    with fold:
        show_training(run)
st.page_link("pages/runs.py", label="All runs, and adding one", icon=":material/folder:")
