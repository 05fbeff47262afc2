"""New facts: the best of all triples that nobody recorded."""

import streamlit as st

from kgdash.runs.call import Call
from kgdash.studies.discovery.discovery import discover
from kgdash.studies.discovery.discovery_verdict import discovery_verdict
from kgdash.ui.inspection.discovery_form import choose_discovery
from kgdash.ui.inspection.new_facts import show_new_facts
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.run_picker import current_run

run = current_run()
st.title("New facts")
setting = choose_discovery(run)
key = (run.identity, "discovery", repr(setting))
found = computed("Searching all triples", key, Call(discover, run, setting))
st.markdown(discovery_verdict(run, setting, found, plain))
st.caption(
    "All triples under these settings were compared. Probabilities are learnt from what is "
    "recorded: true facts that nobody wrote down count as wrong there. Select a row to inspect it."
)
show_new_facts(run, found, f"{run.name}-new-facts")
