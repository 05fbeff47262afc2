"""Does ReliK tell true answers of queries from false ones?"""

import streamlit as st

from kgdash.ui.instances.queries_form import choose_queries
from kgdash.ui.instances.view import show_instances
from kgdash.ui.runtime.run_picker import current_run

run = current_run()
st.title("Query answers")
st.caption(
    "Each instance is a set of triples that leads to an answer, true or false. If ReliK tells "
    "where a model is right, true answers get the higher values."
)
show_instances(run, choose_queries(run))
