"""A page for a browser: a computation that keeps its turn, named by the address.

With ``short`` there, it takes some seconds, and the server has too much memory.
"""

import streamlit as st

from kgdash.runs.call import Call
from kgdash.ui.runtime import waiting_aside
from kgdash.ui.runtime.computed import computed
from tests.support.worker_calls import go_silent, take_a_while

name, is_short = st.query_params["name"], "short" in st.query_params
if is_short:
    waiting_aside.is_short = lambda owner: True
st.title("Before")
computed(
    f"Counting {name}", (name,), Call(take_a_while, 5.0) if is_short else Call(go_silent, 60.0)
)
st.text_input("Kept", "as it was", key="kept")
st.caption("Counted")
