"""2 to 8 runs on one graph, side by side: overall, by group, in pairs, and over seeds."""

import streamlit as st

from kgdash.ui.comparison.form import choose_comparison, offer_comparison_report
from kgdash.ui.comparison.overview import show_groups, show_overall, show_seeds
from kgdash.ui.comparison.pairs import (
    show_communities,
    show_relations,
    show_tests,
    show_verdict,
)
from kgdash.ui.comparison.runs_form import show_notes_of
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.widgets.choices import choose_view

_VIEWS = {
    "Overall": show_overall,
    "By group": show_groups,
    "Pairs": show_tests,
    "Relations": show_relations,
    "Where": show_communities,
    "Seeds": show_seeds,
}

run = current_run()
st.title("Compare runs")
compared = choose_comparison(run)
show_notes_of(compared.runs)
show_verdict(compared)
_VIEWS[choose_view(list(_VIEWS))](compared)
offer_comparison_report(compared)
