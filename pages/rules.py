"""Does ReliK tell true predictions of rules from false ones?"""

import streamlit as st

from kgdash.ui.instances.rules_form import choose_rule_instances
from kgdash.ui.instances.view import show_instances
from kgdash.ui.runtime.run_picker import current_run

run = current_run()
st.title("Rule predictions")
st.caption(
    "Each instance is a set of triples that leads a rule to a prediction, true or false. If ReliK "
    "tells where a model is right, true predictions get the higher values."
)
show_instances(run, choose_rule_instances(run))
