"""Predictions of rules, or facts that are likely wrong: judge them, one at a time."""

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.runs.call import Call
from kgdash.studies.labelling.facts import estimate_error_rate, fact_queue
from kgdash.studies.labelling.journal import read_journal
from kgdash.studies.labelling.queue import label_queue
from kgdash.ui.instances.labelling import (
    judge_next,
    show_error_rate,
    show_labels,
    show_refusal,
)
from kgdash.ui.instances.labelling_form import ABOUT, choose_predictions, choose_source
from kgdash.ui.runtime.computed import computed, refuse
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.widgets.notes import show_notes

run = current_run()
st.title("Label predictions")
source = choose_source()
st.caption(ABOUT[source])
choice = choose_predictions(run, source)
if choice.audit is not None:
    queue, notes = fact_queue(run.graph, choice.audit, choice.order, choice.seed), ()
else:
    predictions = computed("Mining rules", (run.identity, "predictions", *choice.key), choice.make)
    queue = computed(
        "ReliK of the predictions",
        (run.identity, "label queue", *choice.key, choice.order),
        Call(label_queue, run, predictions, choice.order, choice.seed),
    )
    notes = predictions.notes
show_refusal()
try:
    state = read_journal(run.graph)
except KgdashError as error:
    refuse(error)
judge_next(queue, state, choice.by)
show_notes(notes)
if choice.audit is not None:
    show_error_rate(estimate_error_rate(run.graph, choice.audit, state, choice.seed))
show_labels(run, state)
