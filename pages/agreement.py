"""Do runs that rank about equally well give the same answers, and does a vote help?"""

import streamlit as st

from kgdash.runs.call import Call
from kgdash.studies.agreement.agreement import agreement, as_plain
from kgdash.studies.agreement.agreement_report import agreement_summary
from kgdash.studies.agreement.agreement_verdict import agreement_verdict
from kgdash.ui.comparison.agreement import (
    choose_setting,
    show_conflicts,
    show_figures,
    show_runs,
    show_where,
    suggested_runs,
)
from kgdash.ui.comparison.runs_form import choose_runs, show_notes_of
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_picker import current_run

run = current_run()
st.title("Agreement")
runs = choose_runs(run, suggested_runs(run))
show_notes_of(runs)
setting = choose_setting(run)
key = (*(each.identity for each in runs.values()), "agreement", *as_plain(setting).values())
found = computed(f"Asking {len(runs)} runs", key, Call(agreement, list(runs.values()), setting))
summary = computed("Intervals", (*key, "summary"), Call(agreement_summary, found))
st.markdown(agreement_verdict(found, summary))
show_figures(found, summary)
left, right = st.columns([3, 2], gap="large")
with left:
    show_where(found, summary, key)
with right:
    show_runs(found)
show_conflicts(found)
