"""Confounders of ReliK: degree, frequency, kind of relation; and what it says beyond them."""

import streamlit as st

from kgdash.runs.call import Call
from kgdash.studies.correlation.confounders import triple_factors
from kgdash.ui.correlation.confounders import (
    ConfounderView,
    choose_factor,
    show_factors,
    show_partials,
    show_verdict,
)
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.runtime.sidebar import settings
from kgdash.ui.widgets.choices import (
    choose_rank_type,
    choose_relik_method,
    choose_side,
    choose_split,
    choose_view,
)

_VIEWS = {
    "Each factor": show_factors,
    "What remains": show_partials,
}

run = current_run()
st.title("Confounders of ReliK")
verdict = st.empty()
view = choose_view(list(_VIEWS))
with settings():
    split = choose_split(run.graph)
    side, rank_type, factor = "both", "realistic", ""
    relik_method = choose_relik_method()
    if view == "Each factor":
        factor = choose_factor()
    if view == "What remains":
        side, rank_type = choose_side(), choose_rank_type()
choices = (split, side, rank_type, relik_method)
key = (run.identity, "confounders", *choices)
factors = computed(
    f"Counting negatives of {split}, and ranking",
    key,
    Call(triple_factors, run, *choices),
)
found = ConfounderView(run, split, factor, relik_method, key, factors)
show_verdict(found, verdict)
_VIEWS[view](found)
