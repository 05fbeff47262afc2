"""2 to 8 runs on one graph, side by side: overall, by group, in pairs, and over seeds."""

import streamlit as st

from kgdash.ui.comparison.form import choose_comparison
from kgdash.ui.comparison.overview import show_groups, show_overall, show_seeds
from kgdash.ui.comparison.pairs import show_communities, show_relations, show_tests
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
st.caption(
    "Which run is better, where, and is it more than chance? All runs rank the same triples of the "
    "same graph."
)
compared = choose_comparison(run)
show_notes_of(compared.runs)
_VIEWS[choose_view(list(_VIEWS))](compared)
