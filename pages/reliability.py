"""Where in the whole graph is the model reliable, and where is it not?"""

import streamlit as st

from kgdash.runs.call import Call
from kgdash.statistics.estimate import number
from kgdash.studies.reliability.reliability_map import reliability_steps
from kgdash.ui.runtime.refined import refined, show_refinement
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.subgraphs.reliability import (
    ask_first,
    mapped_so_far,
    show_communities,
    show_groups,
    show_regions,
)
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.choices import choose_view

run = current_run()
st.title("Reliability map")
st.caption(
    "ReliK of every known triple, averaged over entities, relations and communities; and the "
    "connected regions where it is lower or higher than chance would have it."
)
ask_first(run)
map_ = refined(
    "Mapping the ReliK of all triples",
    (run.identity, "reliability map"),
    Call(reliability_steps, run),
)
relik = map_.relik["relik"]
show_refinement(mapped_so_far)
if map_.method == "growing":
    st.info(
        "The map is drawn when the ReliK of all triples is counted. What is counted stays: the "
        "next time it goes on from there.",
        icon=":material/hourglass_top:",
    )
    st.stop()
key = (run.identity, "reliability", map_.method)
with st.container(horizontal=True):
    show_card(
        "Mean ReliK ↑",
        number(float(relik.mean())),
        f"n = {len(relik):,} triples, {map_.method}",
    )
    show_card(
        "Triples that beat all negatives ↑",
        f"{100 * float((relik == 1).mean()):.3g}%",
        "ReliK = 1",
    )
    show_card(
        "Median ReliK ↑",
        number(float(relik.median())),
        "half of the triples are below",
    )
view = choose_view(["Regions", "Communities", "Entities", "Relations"])
if view == "Regions":
    show_regions(map_, key)
elif view == "Communities":
    show_communities(map_, key)
else:
    show_groups(map_, "entity" if view == "Entities" else "relation", key)
