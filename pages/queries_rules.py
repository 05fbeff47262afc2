"""Does ReliK tell true answers and predictions from false ones?"""

import streamlit as st

from kgdash.studies.instances.instances import score_instances
from kgdash.studies.instances.separation import compare_measures
from kgdash.studies.rules.rule import readings
from kgdash.ui.instances.form import choose_instances
from kgdash.ui.instances.likely_errors import show_likely_errors
from kgdash.ui.instances.separation import (
    Separated,
    show_all,
    show_cards,
    show_distributions,
    show_groups,
)
from kgdash.ui.instances.separation_form import VIEWS, choose_separation
from kgdash.ui.instances.threshold import show_threshold
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_picker import current_run, show_notes
from kgdash.ui.widgets.choices import choose_view

run = current_run()
st.title("Queries and rules")
st.caption(
    "Each instance is a set of triples that leads to an answer, labelled true or false. If ReliK "
    "tells where a model is right, true instances get the higher values."
)
show_notes(run)
source = choose_instances(run)
choice = choose_separation()
key = (run.digest, *source.key)

instances = computed("Finding instances", key, source.make)
scored = computed(
    "Scoring instances",
    (*key, "scored"),
    lambda report: score_instances(run, instances, report),
)
found = computed(
    "Resampling",
    (*key, "compared", choice.compared, choice.aggregate),
    lambda report: compare_measures(
        scored.table, choice.compared, choice.aggregate, order="separation", progress=report
    ),
)
names = readings(scored.table["group"].unique(), run.graph)
shown = Separated(run, scored, choice, found, names, key)

show_cards(shown)
for note in instances.notes:
    st.caption(note[:1].upper() + note[1:])
view = choose_view(VIEWS)
if view == "Groups":
    show_groups(shown)
elif view == "Distributions":
    show_distributions(shown)
elif view == "Threshold":
    show_threshold(shown)
elif view == "Likely errors":
    show_likely_errors(shown)
else:
    show_all(shown)
