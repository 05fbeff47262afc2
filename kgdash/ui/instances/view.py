"""Labelled instances of queries or rules: does ReliK tell the true from the false ones?"""

from __future__ import annotations

import streamlit as st

from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.studies.instances.instances import score_instances
from kgdash.studies.instances.separation import compare_measures
from kgdash.studies.instances.separation_verdict import separation_verdict
from kgdash.studies.queries.query_types import in_words
from kgdash.studies.rules.parsing import readings
from kgdash.ui.instances.likely_errors import show_likely_errors
from kgdash.ui.instances.separation import (
    Separated,
    show_all,
    show_cards,
    show_distributions,
    show_groups,
)
from kgdash.ui.instances.separation_form import InstancesChoice, choose_separation
from kgdash.ui.instances.threshold import show_threshold
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.widgets.choices import choose_view
from kgdash.ui.widgets.notes import show_notes

_VIEWS = {
    "Groups": show_groups,
    "Distributions": show_distributions,
    "Threshold": show_threshold,
    "Likely errors": show_likely_errors,
    "All instances": show_all,
}


def show_instances(run: Run, source: InstancesChoice) -> None:
    """Score instances, compare the measures and show one of the views."""
    choice = choose_separation()
    key = (run.identity, *source.key)
    instances = computed("Finding instances", key, source.make)
    scored = computed(
        "Scoring instances",
        (*key, "scored"),
        Call(score_instances, run, instances),
    )
    found = computed(
        "Resampling",
        (*key, "compared", choice.compared, choice.aggregate),
        Call(compare_measures, scored.table, choice.compared, choice.aggregate, order="separation"),
    )
    names = readings(scored.table["group"].unique(), run.graph)
    names |= in_words(names)
    shown = Separated(run, scored, choice, found, names, key)
    for sentence in separation_verdict(found):
        st.markdown(plain(sentence))
    show_cards(shown)
    _VIEWS[choose_view(list(_VIEWS))](shown)
    show_notes(instances.notes)
