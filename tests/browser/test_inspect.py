"""From a row of a table to the page Inspect, and through the list that it stood in."""

from urllib.parse import parse_qs, urlparse

from kgdash.runs.loading import load
from kgdash.statistics.estimate import number
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from kgdash.studies.inspection.inspection import inspect_triple
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.trust.card import trust_card
from kgdash.studies.trust.competing import competing_names
from tests.browser.driver import CARDS, expect_cards, open_page, settle

#: pixels of a table's header, and of its rows
HEADER, ROW = 35, 28


def figures(run, triple) -> list[tuple[str, str]]:
    found = inspect_triple(run, InspectedTriple(*triple))
    ranks = [
        (f"{side.capitalize()} rank", f"{each.rank(each.answer).realistic:,g}")
        for side, each in found.sides.items()
    ]
    card = trust_card(found, {name: load(name) for name in competing_names(run)})
    titles = ("Answer set", "Probability", "ReliK", "Agreement", "Strongest reason")
    trust = [(title, each.text) for title, each in zip(titles, card.figures, strict=True)]
    return [*trust, ("Score", number(found.score)), *ranks]


def select_row(tab, key: str, row: int) -> None:
    """Click the box of a row; the table's canvas has the boxes on the left."""
    grid = tab.locator(f".st-key-{key} [data-testid=stDataFrame]")
    grid.scroll_into_view_if_needed()
    grid.locator("td").first.wait_for(state="attached")
    box = grid.bounding_box()
    tab.mouse.click(box["x"] + 16, box["y"] + HEADER + ROW * (row + 0.5))


def names_in(address: str) -> list[str]:
    query = parse_qs(urlparse(address).query)
    return [query[part][0] for part in ("head", "relation", "tail")]


def test_a_row_opens_its_triple_and_the_next_follows(address, tab, run):
    expected = compare(run, run.subgraph("virus", size=12)).triples.sort_values("relik")
    triples = expected[["head", "relation", "tail"]].to_numpy().tolist()
    open_page(tab, f"{address}/local?entity=virus&size=12")
    select_row(tab, "triples", 1)
    tab.wait_for_url("**/inspect**")
    expect_cards(tab, figures(run, triples[1]))
    assert names_in(tab.url) == InspectedTriple(*triples[1]).names(run.graph)

    tab.get_by_role("button", name="Next").click()
    expect_cards(tab, figures(run, triples[2]))
    assert names_in(tab.url) == InspectedTriple(*triples[2]).names(run.graph)
    tab.get_by_text(f"3 of {len(triples)}:").wait_for()

    tab.reload()
    expect_cards(tab, figures(run, triples[2]))


def test_back_leads_to_the_list_and_stays_there(address, tab, run):
    open_page(tab, f"{address}/local?entity=virus&size=12")
    cards = tab.evaluate(CARDS)
    select_row(tab, "triples", 1)
    tab.wait_for_url("**/inspect**")
    tab.get_by_role("heading", name="Inspect a prediction").wait_for()
    settle(tab)
    tab.go_back()
    expect_cards(tab, [tuple(card) for card in cards])
    tab.wait_for_url("**/local?entity=virus&size=12")


def test_a_candidate_is_one_click_away(address, tab, run):
    graph = run.graph
    ids = (
        graph.entity_id("virus"),
        graph.relation_id("causes"),
        graph.entity_id("neoplastic_process"),
    )
    open_page(tab, f"{address}/inspect?head=virus&relation=causes&tail=neoplastic_process")
    expect_cards(tab, figures(run, ids))
    best = int(inspect_triple(run, InspectedTriple(*ids)).sides["tail"].top(3)["id"].iloc[2])
    select_row(tab, f"candidates_tail_{'_'.join(map(str, ids))}", 2)
    expect_cards(tab, figures(run, (*ids[:2], best)))
    settle(tab)
    assert names_in(tab.url)[2] == graph.entities[best]
