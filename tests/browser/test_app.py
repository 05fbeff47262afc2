"""All pages, and what they share."""

import socket

import pytest

import kgdash
from kgdash.statistics.estimate import number
from tests.browser.driver import expect_cards, go_to, open_page, select, settle

PAGES = {
    "overview": "Overview",
    "local?size=12": "Local reliability",
    "study?subgraphs=10&study_size=15": "Correlation study",
}

_LUMINANCE = """() => {
    const [r, g, b] = getComputedStyle(document.querySelector("[data-testid=stApp]"))
        .backgroundColor.match(/[0-9]+/g).map(Number);
    return (r + g + b) / 3;
}"""

_WIDTHS = """() => {
    const parts = [document.scrollingElement, document.querySelector("[data-testid=stMain]")];
    return parts.map(part => [part.scrollWidth, part.clientWidth]);
}"""


@pytest.mark.parametrize("page", PAGES)
def test_page_in_the_dark_on_a_phone(address, tab, page):
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.emulate_media(color_scheme="dark")
    open_page(tab, f"{address}/{page}")
    tab.locator(".js-plotly-plot .main-svg").first.wait_for()
    settle(tab)
    assert tab.title()
    assert "/overview" not in tab.url  # the first page is at / alone; elsewhere it is not found
    assert tab.get_by_text("Page not found").count() == 0
    assert tab.evaluate(_LUMINANCE) < 60
    assert tab.evaluate("innerWidth") == 390
    for content, container in tab.evaluate(_WIDTHS):
        assert content <= container <= 390
    assert tab.locator("[data-testid=stException], [data-testid=stAlertContentError]").count() == 0


def overview(loaded) -> list[tuple[str, str]]:
    values = kgdash.metrics(loaded.ranks()).values()
    relik = loaded.relik(triples=loaded.graph.all_triples)["relik"].mean()
    return [
        ("Test MRR", number(values["inverse_harmonic_mean_rank"])),
        ("Hits@1", number(values["hits_at_1"])),
        ("Hits@10", number(values["hits_at_10"])),
        ("Mean ReliK", number(relik)),
    ]


def test_choice_of_the_run_holds_on_every_page_and_in_the_address(address, tab, run):
    tab.emulate_media(color_scheme="light")
    open_page(tab, address)
    expect_cards(tab, overview(run))
    assert tab.evaluate(_LUMINANCE) > 200
    other = kgdash.load("umls-rotate")
    select(tab, "run_choice", "umls-rotate · MRR 0.846 · RotatE on umls")
    expect_cards(tab, overview(other))
    go_to(tab, "Metrics", "All metrics")
    tab.get_by_role("heading", name="All metrics", exact=True).wait_for()
    values = kgdash.metrics(other.ranks()).values()
    hits = tab.get_by_test_id("stMetric").filter(has_text="Hits@10")
    hits.filter(has_text=number(values["hits_at_10"])).wait_for()
    assert "run=umls-rotate" in tab.url
    tab.reload()
    hits.filter(has_text=number(values["hits_at_10"])).wait_for()


def test_server_listens_on_this_machine_only(address):
    port = int(address.rsplit(":", 1)[1])
    answers = {}
    # A server open to the network would answer at any of this machine's addresses.
    for host in ("localhost", "127.0.0.2"):
        with socket.socket() as attempt:
            answers[host] = attempt.connect_ex((host, port)) == 0
    assert answers == {"localhost": True, "127.0.0.2": False}
