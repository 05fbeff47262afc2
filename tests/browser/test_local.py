"""The page Local reliability in a browser."""

import numpy as np

from kgdash.charts.subgraph import pairs_of
from kgdash.statistics.estimate import number
from kgdash.studies.reliability.local_comparison import compare
from tests.browser.driver import (
    click_point,
    download,
    drawn_points,
    enter,
    expect_cards,
    freest,
    open_page,
    press,
    select,
)

LABELS = {
    "relik": "Mean ReliK",
    "tail_mrr": "Tail MRR",
    "head_mrr": "Head MRR",
    "both_mrr": "Both MRR",
    "relation_mrr": "Relation MRR",
}


def cards(comparison) -> list[tuple[str, str]]:
    return [(label, number(comparison.means[name].value)) for name, label in LABELS.items()]


def test_first_visit_to_a_fresh_server_may_be_this_page(first_visit, run):
    shown, choices_of_run = first_visit
    assert [tuple(card) for card in shown] == cards(compare(run, run.subgraph("virus", size=12)))
    assert choices_of_run == 1


def test_choices_change_the_numbers_and_the_address_keeps_them(address, tab, run, tmp_path):
    open_page(tab, f"{address}/local?size=20")
    select(tab, "entity", "bacterium")
    expect_cards(tab, cards(compare(run, run.subgraph("bacterium", size=20))))
    enter(tab, "size", 14)
    part = run.subgraph("bacterium", size=14)
    expect_cards(tab, cards(compare(run, part)))
    press(tab, "evaluated", "all triples")
    expected = compare(run, part, "all")
    expect_cards(tab, cards(expected))
    saved = download(tab, tmp_path)
    triples = run.graph.with_names(expected.triples).sort_values("relik")
    assert saved["relik"].tolist() == triples["relik"].tolist()
    assert saved["tail"].tolist() == triples["tail"].tolist()
    tab.reload()
    expect_cards(tab, cards(expected))


def part_cards(expected, mine) -> list[tuple[str, str]]:
    part = expected.triples[mine]
    return [
        ("Mean ReliK", number(part["relik"].mean())),
        ("Triples", f"{len(part):,}"),
        ("Reciprocal rank", number(part["reciprocal_rank"].mean())),
    ]


def test_clicks_on_the_drawing_show_the_numbers_of_a_node_and_of_an_edge(address, tab, run):
    subgraph = run.subgraph("virus", size=12)
    expected = compare(run, subgraph, "all")
    open_page(tab, f"{address}/local?entity=virus&size=12&evaluated=all+triples")
    expect_cards(tab, cards(expected))
    ends = expected.triples[["head", "tail"]].to_numpy()

    nodes, edges = drawn_points(tab, "drawing", "entities"), drawn_points(tab, "drawing", "edges")
    assert sorted(p["data"][1] for p in nodes) == sorted(subgraph.entities.tolist())
    pairs = pairs_of(expected.triples)
    pairs = pairs[pairs["a"] != pairs["b"]]
    assert {tuple(p["data"][1:]) for p in edges} == set(zip(pairs["a"], pairs["b"], strict=True))

    node = freest(nodes, nodes + edges)
    click_point(tab, node)
    mine = (ends == node["data"][1]).any(axis=1)
    expect_cards(tab, cards(expected) + part_cards(expected, mine))

    nodes, edges = drawn_points(tab, "drawing", "entities"), drawn_points(tab, "drawing", "edges")
    edge = freest(edges, nodes + edges)
    click_point(tab, edge)
    mine = (np.sort(ends, axis=1) == np.sort(edge["data"][1:])).all(axis=1)
    expect_cards(tab, cards(expected) + part_cards(expected, mine))
