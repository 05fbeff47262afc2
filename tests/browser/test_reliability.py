"""The page Reliability map in a browser: a click draws a community, or opens an entity."""

import numpy as np

from kgdash.graph.communities import find_communities
from kgdash.statistics.estimate import number
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.region_scan import scan_regions
from kgdash.studies.reliability.reliability_map import reliability_map
from tests.browser.driver import (
    click_point,
    drawn_points,
    expect_cards,
    freest,
    open_page,
    press,
    settle,
    widget,
)
from tests.browser.graph import Graph
from tests.browser.test_inspect import select_row
from tests.browser.test_local import cards


def test_a_click_draws_a_community_and_another_opens_an_entity(address, tab, run):
    open_page(tab, f"{address}/reliability?view=Communities")
    map_ = reliability_map(run)
    table = map_.by("communities")
    bubbles = drawn_points(tab, "community_map", "communities")
    assert sorted(bubble["data"] for bubble in bubbles) == list(range(len(table)))
    chosen = freest(bubbles, bubbles)
    click_point(tab, chosen)
    row = table.iloc[chosen["data"]]
    mean = number(row["relik"])
    tab.get_by_text(f"{row['triples']:,} triples of mean ReliK {mean}").wait_for()

    graph = Graph(tab, "region")
    members = np.flatnonzero(find_communities(run.graph) == row["id"])
    assert sorted(node["id"] for node in graph.nodes()) == members.tolist()
    graph.press("Graph")
    node = freest(graph.nodes(), graph.nodes())
    graph.click(node)
    tab.get_by_role("button", name="Start here").click()
    tab.get_by_role("heading", name="Local reliability").wait_for()
    part = run.subgraph(node["id"], "neighbourhood", 60)
    expect_cards(tab, cards(compare(run, part)))

    tab.go_back()
    tab.get_by_role("heading", name="Reliability map").wait_for()
    tab.wait_for_url("**/reliability?**view=Communities**")
    settle(tab)
    assert "method=" not in tab.url

    press(tab, "view", "Regions")
    widget(tab, "open_region").get_by_role("button").click()
    tab.get_by_role("heading", name="Local reliability").wait_for()
    found = scan_regions(map_).table
    low = found[(found["p"] <= 0.05) & (found["kind"] == "low")]
    part = run.subgraph(run.graph.entity_id(low["central"].iloc[0]), "neighbourhood", 60)
    expect_cards(tab, cards(compare(run, part)))


def test_a_region_and_a_community_stand_in_the_address(address, tab, run):
    map_ = reliability_map(run)
    regions = scan_regions(map_).table
    shown = regions.sort_values("kind", ascending=False, kind="stable")["region"].tolist()
    open_page(tab, f"{address}/reliability?run=umls-transe&chance=true")
    graph = Graph(tab, "region")
    first = graph.nodes()
    select_row(tab, "table_regions", 1)
    tab.wait_for_url(f"**region_id={shown[1]}**")
    settle(tab)
    entities = int(regions["entities"].iloc[shown[1]])
    graph.wait_for_nodes(entities)
    tab.reload()
    graph.wait_for_nodes(entities)
    assert {one["id"] for one in graph.nodes()} != {one["id"] for one in first}

    table = map_.by("communities")
    number = int(table["id"].iloc[-1])
    open_page(tab, f"{address}/reliability?run=umls-transe&view=Communities&community={number}")
    members = np.flatnonzero(find_communities(run.graph) == number)
    graph.wait_for_nodes(len(members))
    assert sorted(node["id"] for node in graph.nodes()) == members.tolist()
