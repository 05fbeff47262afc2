"""The page Local reliability in a browser."""

from urllib.parse import parse_qs, urlparse
from xml.etree import ElementTree

import numpy as np

from kgdash.statistics.estimate import number
from kgdash.studies.reliability.local_comparison import compare
from kgdash.ui.graph_view.component import FOLDER
from tests.browser.driver import (
    download,
    enter,
    expect_cards,
    freest,
    open_page,
    press,
    save,
    select,
)
from tests.browser.graph import Graph

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
    graph = Graph(tab, "drawing")
    assert sorted(node["id"] for node in graph.nodes()) == sorted(subgraph.entities.tolist())
    triples = expected.triples[["head", "relation", "tail"]].to_numpy()
    assert [edge["id"].split() for edge in graph.edges()] == triples.astype(str).tolist()

    graph.stage.focus()
    tab.mouse.wheel(0, -100)
    where = graph.camera()
    node = freest(graph.nodes(), graph.nodes())
    graph.click(node)
    mine = (triples[:, [0, 2]] == node["id"]).any(axis=1)
    expect_cards(tab, cards(expected) + part_cards(expected, mine))

    edge = graph.clickable_edge()
    graph.click(edge)
    mine = (triples.astype(str) == edge["id"].split()).all(axis=1)
    assert mine.sum() == 1
    expect_cards(tab, cards(expected) + part_cards(expected, mine))
    assert graph.camera() == where
    assert parse_qs(urlparse(tab.url).query)["drawing_picked"] == [f"edge {edge['id']}"]
    tab.reload()
    expect_cards(tab, cards(expected) + part_cards(expected, mine))
    graph.stage.press("Escape")
    expect_cards(tab, cards(expected))
    assert "picked" not in tab.url


def test_the_keyboard_walks_and_says_where_it_is(address, tab, run):
    subgraph = run.subgraph("virus", size=12)
    expected = compare(run, subgraph)
    open_page(tab, f"{address}/local?entity=virus&size=12")
    graph, labels = Graph(tab, "drawing"), run.graph.entity_labels
    graph.stage.focus()
    assert graph.said().startswith("virus (seed)")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        graph.stage.press(key)
    assert graph.said().split(". ")[0].removesuffix(" (seed)") in [
        labels[e] for e in subgraph.entities
    ]
    graph.stage.press(".")
    least = graph.said()
    assert "ReliK" in least
    graph.stage.press("Enter")
    mine = np.array([text in least for text in fact_texts(run, expected)])
    assert mine.sum() == 1
    expect_cards(tab, cards(expected) + part_cards(expected, mine))


def fact_texts(run, comparison) -> list[str]:
    named = run.graph.with_names(comparison.triples)
    return [f"{h} — {r} → {t}" for h, r, t in named[["head", "relation", "tail"]].to_numpy()]


def test_a_dense_part_is_a_matrix_whose_cells_are_its_facts(address, tab, run, tmp_path):
    expected = compare(run, run.subgraph("virus", size=60))
    open_page(tab, f"{address}/local?entity=virus&size=60")
    graph = Graph(tab, "drawing")
    assert graph.kind() == "matrix"
    pairs = expected.triples.groupby(["head", "tail"]).groups
    cells = graph.cells()
    assert sorted(cell["id"] for cell in cells) == sorted(f"{h} {t}" for h, t in pairs)
    cell = max(cells, key=lambda one: len(pairs[tuple(map(int, one["id"].split()))]))
    graph.click(cell)
    mine = expected.triples.index.isin(pairs[tuple(map(int, cell["id"].split()))])
    expect_cards(tab, cards(expected) + part_cards(expected, mine))

    graph.stage.press("ArrowDown")
    relations = run.graph.with_names(expected.triples)["relation"].value_counts()
    graph.root.locator(".relation").select_option("-2")
    graph.stage.press("ArrowRight")
    graph.stage.press("Enter")
    graph.root.get_by_role("button", name="Graph", exact=True).click()
    tab.wait_for_url("**drawing_view=graph**")
    shown = graph.root.locator(".relation option:checked").text_content()
    assert shown in [f"{name} ({count})" for name, count in relations.items()]
    graph.root.locator(".relation").select_option("-1")
    graph.stage.press("ArrowRight")
    assert "drawn" in graph.said()
    written = save(tab, graph.button("SVG"), tmp_path).read_text("utf-8")
    assert ElementTree.fromstring(written).tag.endswith("svg")
    assert written.count("<path") >= 100
    pens = (FOLDER / "pens.js").read_text("utf-8")
    drawn = "const pen = new SvgPen(); pen.text('a\\u0001<b>', [0, 0], {}); return pen.svg(9, 9);"
    (text,) = ElementTree.fromstring(tab.evaluate(f"() => {{ {pens}; {drawn} }}"))
    assert text.text == "a\ufffd<b>"
    assert save(tab, graph.button("PNG"), tmp_path).read_bytes().startswith(b"\x89PNG")
    tab.reload()
    expect_cards(tab, cards(expected))
    assert graph.kind() == "graph"


def test_an_entity_is_found_and_its_neighbours_come_in_place(address, tab, run):
    subgraph = run.subgraph("virus", size=12)
    open_page(tab, f"{address}/local?entity=virus&size=12")
    graph, whole = Graph(tab, "drawing"), run.graph
    before = {node["id"]: node["at"] for node in graph.nodes()}
    sought = int(subgraph.entities[-1])
    graph.find(whole.entity_labels[sought])
    tab.get_by_role("button", name="Add its neighbours").click()
    near = np.setdiff1d(whole.adjacency("either")[[sought]].indices, subgraph.entities)
    near = near[np.argsort(-whole.degrees[near], kind="stable")][:12]
    graph.wait_for_nodes(12 + len(near))
    after = {node["id"]: node["at"] for node in graph.nodes()}
    assert {e: after[e] for e in before} == before
    assert set(after) - set(before) == set(near.tolist())
    inside = whole.all_triples[np.isin(whole.all_triples[:, [0, 2]], list(after)).all(axis=1)]
    assert {edge["id"] for edge in graph.edges()} == {" ".join(map(str, row)) for row in inside}
    tab.get_by_role("button", name="Start here").click()
    expected = compare(run, run.subgraph(sought, size=12))
    mine = (expected.triples[["head", "tail"]] == sought).any(axis=1)
    expect_cards(tab, cards(expected) + part_cards(expected, mine))


def test_what_is_dragged_stays_where_it_was_put_and_all_else_too(address, tab, run):
    open_page(tab, f"{address}/local?entity=virus&size=12")
    graph = Graph(tab, "drawing")
    graph.press("Graph")
    node = freest(graph.nodes(), graph.nodes())
    tab.mouse.move(node["x"], node["y"])
    tab.mouse.down()
    tab.mouse.move(node["x"] + 30, node["y"] + 40, steps=4)
    tab.mouse.up()
    dragged = {one["id"]: one["at"] for one in graph.nodes()}
    where = next(one for one in graph.nodes() if one["id"] == node["id"])
    assert (round(where["x"] - node["x"]), round(where["y"] - node["y"])) == (30, 40)
    assert graph.selected() is None

    enter(tab, "size", 14)
    graph.wait_for_nodes(14)
    shared = set(run.subgraph("virus", size=14).entities.tolist()) & set(dragged)
    after = {one["id"]: one["at"] for one in graph.nodes()}
    assert len(shared) == 12
    assert {e: after[e] for e in shared} == {e: dragged[e] for e in shared}
