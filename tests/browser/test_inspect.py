"""From a row of a table to the page Inspect, and through the list that it stood in."""

from urllib.parse import parse_qs, urlparse

from kgdash.breakdowns.grouping import group_ranks
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.graph import triple_text
from kgdash.runs.loading import load
from kgdash.statistics.estimate import number
from kgdash.studies.explanations.explanation import explain
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from kgdash.studies.inspection.inspection import inspect_triple
from kgdash.studies.overview.overview import overview
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.reliability_map import reliability_map
from kgdash.studies.trust.card import trust_card
from kgdash.studies.trust.competing import competing_names
from kgdash.ui.widgets.table import TALL_ROW
from tests.browser.driver import CARDS, expect_cards, open_page, press, settle, table_texts

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


def select_row(tab, key: str, row: int, height: int = ROW) -> None:
    """Click the box of a row, so many pixels high; the table's canvas has the boxes on the left."""
    select_row_of(tab, tab.locator(f".st-key-{key} [data-testid=stDataFrame]"), row, height)


def select_row_of(tab, grid, row: int, height: int = ROW) -> None:
    """Click the box of a row as `select_row` does, of a table that is given."""
    grid.scroll_into_view_if_needed()
    grid.locator("td").first.wait_for(state="attached")
    box = grid.bounding_box()
    tab.mouse.click(box["x"] + 16, box["y"] + HEADER + height * (row + 0.5))


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


def test_from_a_finding_to_a_prediction_to_a_fact_that_carries_it_and_back(address, tab, bundled):
    run = bundled("umls-complex")
    found = overview(reliability_map(run))
    (lead,) = (each for each in found.leads if each.kind == "relation")
    ranked = group_ranks(add_rank_facts(run.ranks(), run.graph), "relation", lead.name, "both")
    triples = ranked[["head", "relation", "tail"]].to_numpy().tolist()
    reasons = (explain(run, InspectedTriple(*triple)) for triple in triples)
    row, each = next(
        (row, each) for row, why in enumerate(reasons) for each in why.carried if each.carries
    )
    triple, fact = InspectedTriple(*triples[row]), InspectedTriple(*map(int, each.facts[0]))

    open_page(tab, f"{address}/?run=umls-complex")
    tab.get_by_role("link", name="Metrics by relation").click()
    tab.get_by_role("heading", name=lead.name, exact=True).wait_for()
    press(tab, f"triples_order_{lead.name}", "best first")
    tab.wait_for_function(
        "wanted => document.querySelector('[data-testid=stDataFrame] tbody td')?.textContent"
        " === wanted",
        arg=run.graph.entity_labels[triples[0][0]],
    )
    select_row(tab, f"triples_of_group_{lead.name}", row)
    tab.wait_for_url("**/inspect**")
    tab.get_by_role("heading", name="Inspect a prediction").wait_for()
    settle(tab)
    assert names_in(tab.url) == triple.names(run.graph)
    tab.get_by_text("Strongest reason", exact=True).wait_for()
    press(tab, "look_at", "Why")
    facts = f"carrying_{each.side}_{'_'.join(map(str, triple.parts))}"
    select_row(tab, facts, 0)
    shown = tab.get_by_text(" — ".join(fact.names(run.graph)[:2]))
    shown.first.wait_for()
    tab.wait_for_url(lambda url: names_in(url) == fact.names(run.graph))
    assert parse_qs(urlparse(tab.url).query)["run"] == ["umls-complex"]
    settle(tab)

    tab.go_back()
    tab.wait_for_url(lambda url: names_in(url) == triple.names(run.graph))
    tab.locator(f".st-key-{facts}").wait_for()
    settle(tab)
    tab.go_back()
    tab.wait_for_url("**/breakdowns**")
    tab.get_by_role("heading", name=lead.name, exact=True).wait_for()


def test_a_new_fact_by_score(address, tab, bundled):
    run = bundled("umls-complex")
    found = run.discover(100, "score", types="seen", loops=False)
    expected = run.graph.with_names(found)[["head", "relation", "tail"]].iloc[1].tolist()
    open_page(tab, f"{address}/discover?run=umls-complex")
    press(tab, "new_by", "score")
    tab.get_by_text("with a score of").wait_for()
    settle(tab)
    assert table_texts(tab)[1][0] == triple_text(*expected)
    select_row(tab, "new_facts", 1, TALL_ROW)
    tab.wait_for_url("**/inspect**")
    tab.get_by_role("heading", name="Inspect a prediction").wait_for()
    settle(tab)
    assert names_in(tab.url) == expected
