"""What the page Reliability map shows: entities and relations, communities, regions."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.charts.graph_drawing import GraphDrawing
from kgdash.charts.graph_layout import layout_of
from kgdash.charts.reliability_map import baseline_figure, community_map, reliability_dots
from kgdash.graph import KnowledgeGraph
from kgdash.graph.communities import find_communities
from kgdash.graph.relation_names import end_first
from kgdash.progress import duration_text
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.runs.preparation import is_counted_unasked, least_hours
from kgdash.statistics.estimate import number
from kgdash.studies.reliability.region_scan import NULL_MODELS, RegionScan, scan_regions
from kgdash.studies.reliability.reliability_map import ReliabilityMap, between, central_members
from kgdash.ui.graph_view.component import Selection, show_graph
from kgdash.ui.runtime.asked import is_asked
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.run_scale import map_scale
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.subgraphs.link import open_local
from kgdash.ui.subgraphs.local import so_far
from kgdash.ui.subgraphs.map_table import map_table
from kgdash.ui.subgraphs.selected_part import show_part
from kgdash.ui.widgets.address import chosen_in_address, is_first_look, keep_in_address
from kgdash.ui.widgets.chart import clicked_point
from kgdash.ui.widgets.choices import choice, choose_number, choose_resolution
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.selection import selected_point, selected_row

#: columns of each view's table
_GROUPS = ["relik", "low", "high", "typical", "triples", "mrr", "evaluated"]
_COMMUNITIES = ["label", *_GROUPS, "entities", "small", "relations"]
_REGIONS = [
    *("label", "kind", "typical", "expected", "p", "z", "entities", "relations"),
    *("triples", "relik", "mrr", "evaluated"),
]

#: regions that chance explains are listed only on demand
_SIGNIFICANT = 0.05

#: of the chart of communities; and which region was drawn when the page was opened
_BUBBLES, _FIRST = "community_map", "region_at_first"

#: entities drawn of a community or region
_DRAWN = 150


def ask_first(run: Run) -> None:
    """End the page's run with a question where counting all takes hours that nobody asked for."""
    if not is_counted_unasked(run) and not is_asked(
        run.identity,
        f"The map takes the ReliK of all {len(run.graph.known()):,} triples: "
        f"{duration_text(3600 * least_hours(run))} of a core or more. Overview estimates its mean "
        "from a sample; Local reliability shows it around an entity.",
        "Count all",
    ):
        st.stop()


def mapped_so_far(map_: ReliabilityMap) -> str:
    """Say what the mean ReliK is about while it is counted."""
    step = map_.step
    return "" if step is None else so_far(step.mean, step.low, step.high)


def show_groups(map_: ReliabilityMap, what: str, key: tuple[Any, ...]) -> None:
    """Show all entities or relations by mean ReliK; an entity that is picked opens on its page.

    :param what: "entity" or "relation"
    :param key: what the map depends on
    """
    name = f"{map_.run.name}-reliability-by-{what}"
    table = computed("Averaging", (*key, what), Call(map_.by, what))
    several = "entities" if what == "entity" else "relations"
    small = st.toggle(
        "Those of fewer than 30 triples too", value=True, key="small", bind="query-params"
    )
    shown = table if small else table[~table["small"]].reset_index(drop=True)
    st.caption(
        f"{len(shown):,} {several}. Bars: bootstrap 95% intervals of the mean, from ten triples "
        "on; open: fewer than 30 triples."
        + (
            " Click an entity to open its neighbourhood on Local reliability."
            if what == "entity"
            else ""
        )
    )
    picked = clicked_point(
        drawn(reliability_dots, shown, map_scale(map_)), "reliability_dots", name
    )
    words = st.text_input("Search", key="search", placeholder=f"part of a label of {several}")
    hit = shown["label"].str.contains(words.strip(), case=False, regex=False)
    hit |= shown["name"].str.contains(words.strip(), case=False, regex=False)
    listed = shown[hit].reset_index(drop=True)
    named = ["label", "name"] if (listed["name"] != listed["label"]).any() else ["label"]
    row = map_table(listed[[*named, *_GROUPS, "small"]], table, what, name)
    if what == "entity":
        chosen = listed.iloc[row] if row is not None else None
        if chosen is None and picked is not None:
            chosen = shown.iloc[int(picked)]
        if chosen is not None:
            open_local("neighbourhood", entity=chosen["name"], size=60, hops=1)


def show_communities(map_: ReliabilityMap, key: tuple[Any, ...]) -> None:
    """Show communities as bubbles; one that is picked is drawn."""
    graph, name = map_.run.graph, f"{map_.run.name}-reliability-of-communities"
    with settings():
        resolution = choose_resolution()
    groups = computed(
        "Finding communities",
        (*key, "groups", resolution),
        Call(find_communities, graph, resolution),
    )
    table = computed(
        "Averaging",
        (*key, "communities", resolution),
        Call(map_.by, "communities", resolution=resolution),
    )
    lines = computed("Averaging", (*key, "lines", resolution), Call(between, map_, groups))
    st.caption(
        "The area of bubbles grows with the triples inside, the width of lines with those between. "
        "Click a bubble, or select a row, to draw the community."
    )
    named = chosen_in_address("community")
    note = partial(_note_community, table["id"].tolist())
    picked = clicked_point(
        drawn(community_map, table, lines, map_scale(map_)), _BUBBLES, name, note
    )
    row = map_table(table[_COMMUNITIES], table, "communities", name, on_select=note)
    row = picked if row is None else row
    if row is None and named in (ids := table["id"].astype(str).tolist()):
        row = ids.index(named)
    if row is not None and int(row) < len(table):
        community = int(table["id"].iloc[int(row)])
        members = np.flatnonzero(groups == community)
        _draw(map_, members, str(table["label"].iloc[int(row)]), (*key, resolution, community))


def _note_community(ids: list[int]) -> None:
    row = selected_row(st.session_state["table_communities"])
    row = selected_point(st.session_state[_BUBBLES]) if row is None else row
    keep_in_address("community", "" if row is None else str(ids[int(row)]))


def show_regions(map_: ReliabilityMap, key: tuple[Any, ...]) -> None:
    """Show connected regions where ReliK stands out; the one that is picked is drawn."""
    graph, name = map_.run.graph, f"{map_.run.name}-reliable-regions"
    scan = _choose_scan(graph.num_entities)
    found = computed(
        "Looking for regions",
        (*key, "regions", scan),
        Call(scan_regions, map_, scan),
    )
    with more_settings():
        everything = st.toggle(
            "List regions not beyond chance too", key="chance", bind="query-params"
        )
    sure = found.table[found.table["p"] <= _SIGNIFICANT]
    table = (found.table if everything else sure).sort_values(
        "kind", ascending=False, kind="stable"
    )
    low, high = (int((sure["kind"] == kind).sum()) for kind in ("low", "high"))
    st.markdown(
        f"**{low}** connected {'region is' if low == 1 else 'regions are'} less reliable than "
        f"chance explains, **{high}** {'is' if high == 1 else 'are'} more reliable (5% error over "
        "the whole graph)."
    )
    if len(table):
        ids = table["region"].astype(str).tolist()
        if is_first_look("region_id"):
            st.session_state[_FIRST] = None
        named = chosen_in_address("region_id")
        if st.session_state[_FIRST] is None:
            st.session_state[_FIRST] = ids.index(named) if named in ids else 0
        first = min(st.session_state[_FIRST], len(table) - 1)
        note = partial(_note_region, ids, first)
        row = map_table(table[_REGIONS], table, "regions", name, first, note)
        row = first if row is None else row
        region = int(table["region"].iloc[min(row, len(table) - 1)])
        title = _region_title(graph, found.table.iloc[region])
        _draw(map_, found.members[region], title, (*key, scan, region))
        central = found.table["central"].iloc[region]
        if st.button("Open on Local reliability", icon=":material/my_location:", key="open_region"):
            open_local("neighbourhood", entity=central, size=60, hops=1)
    else:
        st.info(
            "No region stands out further than chance may have it (p above 5%).",
            icon=":material/info:",
        )
    with st.expander("How sure is that?", icon=":material/casino:"):
        st.caption(
            "p: the share of permutations in which any region, anywhere, stood out as far. Bars: "
            "how far the greatest of each permutation did; marked: the regions found, which "
            "open on Local reliability."
        )
        figure = drawn(baseline_figure, table, found.baseline)
        marked = clicked_point(figure, "baseline", f"{name}-baseline")
        if marked is not None:
            open_local("neighbourhood", entity=table["central"].loc[marked], size=60, hops=1)


def _note_region(ids: list[str], first: int) -> None:
    row = selected_row(st.session_state["table_regions"])
    keep_in_address("region_id", ids[first if row is None else row])


def _region_title(graph: KnowledgeGraph, region: pd.Series) -> str:
    """Name a region by its most central entity and its most frequent relation."""
    central = graph.entity_labels[graph.entity_id(region["central"])]
    relation = str(region["relations"]).split(", ")[0]
    return f"{region['kind']} ReliK around {central}" + f" · {end_first(relation)}" * bool(relation)


def _choose_scan(entities: int) -> RegionScan:
    with more_settings():
        null_model = choice(
            "Chance: shuffled are",
            {name: name for name in NULL_MODELS},
            "dealt",
            help="Entities: is an entity's own reliability like that of those around it, more than "
            "among entities of like degree? Triples: is ReliK here unlike that of other triples of "
            "the same relations? The former also finds what relations explain, and is too sure "
            "where entities share most of their triples; the latter what single entities explain.",
        )
        most = max(5, min(500, entities // 2))
        # As it was computed ahead, unless something else is chosen.
        first = RegionScan()
        smallest = choose_number(
            "Entities of a region, at least", (2, most), first.smallest, "smallest"
        )
        largest = choose_number(
            "Entities of a region, at most", (smallest, most), first.largest, "largest"
        )
        permutations = choose_number("Permutations", (19, 9999), first.permutations, "permutations")
    return RegionScan(null_model, int(smallest), int(largest), int(permutations))


def _draw(map_: ReliabilityMap, members: np.ndarray, title: str, key: tuple[Any, ...]) -> None:
    """Draw some entities with the triples between them; from one that is clicked a way leads on."""
    graph, every = map_.run.graph, len(members)
    members, triples = central_members(map_, members, _DRAWN)
    st.header(plain(title[0].upper() + title[1:]))
    note = f" Drawn are the {_DRAWN} most central of its entities." * (every > _DRAWN)
    st.caption(
        f"{len(members):,} entities, {len(triples):,} triples of mean ReliK "
        f"{number(float(triples['relik'].mean()))}.{note}"
    )
    drawing = GraphDrawing(
        members,
        triples[["head", "relation", "tail", "relik"]],
        graph.entity_labels,
        graph.relation_labels,
        computed("Drawing", (*key, "layout"), Call(layout_of, members, triples)),
        map_scale(map_),
        name=f"{map_.run.name}-{graph.entities[members[0]]}-region",
        caption=f"{map_.run.name}: {title}",
    )
    left, right = st.columns([5, 3], gap="large")
    with left:
        picked = show_graph(drawing, "region")
    with right:
        _show_picked(picked, drawing, map_.run)


def _show_picked(picked: Selection, drawing: GraphDrawing, run: Run) -> None:
    graph = run.graph
    show_part(picked, run, drawing.triples)
    if picked.node is not None and st.button("Start here", icon=":material/my_location:"):
        open_local("neighbourhood", entity=graph.entities[picked.node], size=60, hops=1)
