"""What evaluations that rank among a few negatives would have said of 1 to 8 runs."""

import streamlit as st

from kgdash.runs.call import Call
from kgdash.studies.protocols.orders import protocol_orders
from kgdash.studies.protocols.protocol_verdict import protocol_verdict
from kgdash.ui.comparison.protocols import (
    choose_protocols,
    show_orders,
    show_protocols,
    show_values,
)
from kgdash.ui.comparison.runs_form import choose_runs, show_notes_of
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.run_picker import current_run

run = current_run()
st.title("What a sampled protocol would have said")
runs = choose_runs(run, fewest=1)
setting, metric = choose_protocols(run.graph)
key = (*(each.identity for each in runs.values()), "protocols", repr(setting))
found = computed("Counting rivals", key, Call(protocol_orders, list(runs.values()), setting))
triples = len(run.graph.splits[setting.split])
st.markdown(protocol_verdict(found, metric, triples, plain))
name = f"{run.name}-protocols"
show_protocols(found, metric, name)
if len(runs) > 1:
    show_orders(found, metric, name)
show_values(found, metric, name)
show_notes_of(runs)
