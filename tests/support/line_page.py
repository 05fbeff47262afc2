"""A page for a browser: a computation that keeps its turn, named by the address."""

import streamlit as st

from kgdash.runs.call import Call
from kgdash.ui.runtime.computed import computed
from tests.support.worker_calls import go_silent

name = st.query_params["name"]
computed(f"Counting {name}", (name,), Call(go_silent, 60.0))
