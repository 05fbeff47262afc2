"""The page Compare runs in a browser: choosing runs, a view, a pair; the address keeps it all."""

from urllib.parse import parse_qs, urlparse

from kgdash.runs.loading import load
from kgdash.statistics.paired_tests import paired_tests
from kgdash.studies.comparison.comparison import compared_ranks, pair_of, reciprocal_ranks
from kgdash.studies.comparison.run_pairs import rank_pairs
from tests.browser.driver import expect_cards, open_page, press, select, settle, table_texts, widget

_DRAWN = """name => document.querySelector(".st-key-dots .js-plotly-plot")
    ?._fullLayout?.yaxis.ticktext.includes(name)"""

_FOREST = """() => document.querySelector(".st-key-forest .js-plotly-plot")._fullData
    .flatMap(trace => [...trace.x])"""


def test_choosing_runs_and_a_pair(address, tab, run):
    others = [load(name) for name in ("umls-complex", "umls-conve", "umls-rotate")]
    open_page(tab, f"{address}/compare")
    widget(tab, "dots").locator(".js-plotly-plot .main-svg").first.wait_for()
    box = widget(tab, "with").get_by_role("combobox")
    box.click()
    box.fill("umls-rotate")
    tab.get_by_role("option", name="umls-rotate", exact=True).click()
    box.press("Escape")
    tab.wait_for_function(_DRAWN, arg="umls-rotate")
    press(tab, "view", "Pairs")
    widget(tab, "forest").locator(".js-plotly-plot .main-svg").first.wait_for()
    settle(tab)

    ranks = compared_ranks([run, *others])
    tests = paired_tests(reciprocal_ranks(ranks), list(ranks))
    assert sorted(tab.evaluate(_FOREST)) == sorted(tests["difference"])
    assert [row[:2] for row in table_texts(tab, 0)] == tests[["a", "b"]].to_numpy().tolist()

    widget(tab, "b").scroll_into_view_if_needed()
    select(tab, "b", "umls-rotate")
    pairs = rank_pairs(pair_of(ranks, "umls-transe", "umls-rotate"))
    parts = [
        ("umls-transe better", pairs["rank_a"] < pairs["rank_b"]),
        ("equal", pairs["rank_a"] == pairs["rank_b"]),
        ("umls-rotate better", pairs["rank_a"] > pairs["rank_b"]),
    ]
    counts = [(name, int(pairs.loc[hit, "count"].sum())) for name, hit in parts]
    expect_cards(tab, [(f"{name}: {count / 1322:.1%}", f"{count:,}") for name, count in counts])
    kept = parse_qs(urlparse(tab.url).query)
    assert kept == {
        "view": ["Pairs"],
        "b": ["umls-rotate"],
        "with": ["umls-complex", "umls-conve", "umls-rotate"],
    }
