"""Where in the whole graph is the model reliable, and where is it not?"""

import streamlit as st

from kgdash.statistics.estimate import number
from kgdash.studies.reliability.reliability_map import reliability_steps
from kgdash.ui.runtime.refined import refined, show_refinement
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.subgraphs.reliability import show_communities, show_groups, show_regions
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.choices import choose_view

run = current_run()
st.title("Reliability map")
st.caption(
    "ReliK of every known triple, averaged over entities, relations and communities; and the "
    "connected regions where it is lower or higher than chance would have it."
)
map_ = refined(
    "Mapping the ReliK of all triples",
    (run.digest, "reliability map"),
    lambda report, ranked: reliability_steps(run, report, ranked),
)
relik = map_.relik["relik"]
show_refinement(
    f"Sampled so far: mean ReliK between {number(map_.relik['relik_low'].mean())} and "
    f"{number(map_.relik['relik_high'].mean())} (95 %)."
    if map_.method == "sampled"
    else ""
)
key = (run.digest, "reliability", map_.method)
with st.container(horizontal=True):
    show_card(
        "Mean ReliK ↑",
        number(float(relik.mean())),
        f"n = {len(relik):,} triples, {map_.method}",
    )
    show_card(
        "Triples that beat all negatives ↑",
        f"{100 * float((relik == 1).mean()):.3g} %",
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
