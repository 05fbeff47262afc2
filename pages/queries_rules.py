"""Does ReliK tell true answers and predictions from false ones?"""

import streamlit as st

from kgdash.studies.instances import score_instances
from kgdash.studies.rules import readings
from kgdash.studies.separation import compare_measures
from kgdash.ui.choices import choose_view
from kgdash.ui.compute import computed
from kgdash.ui.instances_form import choose_instances
from kgdash.ui.run_picker import current_run, show_notes
from kgdash.ui.separation_form import VIEWS, choose_separation
from kgdash.ui.separation_lists import show_likely_errors
from kgdash.ui.separation_threshold import show_threshold
from kgdash.ui.separation_views import (
    Separated,
    show_all,
    show_cards,
    show_distributions,
    show_groups,
)

run = current_run()
st.title("Queries and rules")
st.caption(
    "Each instance is a set of triples that leads to an answer, labelled true or false. If ReliK "
    "is worth its name, true instances get the higher values."
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
    (*key, "compared", choice.compared, choice.chains),
    lambda report: compare_measures(
        scored.table, choice.compared, choice.chains, order="separation", progress=report
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
