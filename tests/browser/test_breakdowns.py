"""The page Breakdowns in a browser."""

from urllib.parse import parse_qs, urlparse

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.grouping import group_ranks
from kgdash.breakdowns.rank_facts import add_rank_facts
from tests.browser.driver import open_page, press, settle, table_texts, widget
from tests.browser.test_inspect import names_in, select_row

_BARS = """key => {
    const chart = document.querySelector(`.st-key-${key} .js-plotly-plot`);
    const box = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
    const trace = chart._fullData[0];
    return [...trace.y].map((y, i) => ({
        group: trace.customdata[i],
        value: trace.x[i],
        x: box.left + xaxis._offset + xaxis.c2p(trace.x[i] / 2),
        y: box.top + yaxis._offset + yaxis.c2p(y),
    }));
}"""


def test_a_click_on_a_bar_shows_its_triples(address, tab, run):
    rows = add_rank_facts(run.ranks(), run.graph)
    found = breakdown(rows, "cardinality").query("side == 'tail'")
    open_page(tab, f"{address}/breakdowns?by=cardinality&side=tail")
    chart = widget(tab, "bars_cardinality").locator(".js-plotly-plot")
    chart.locator(".main-svg").first.wait_for()
    chart.scroll_into_view_if_needed()
    bars = tab.evaluate(_BARS, "bars_cardinality")
    assert {bar["group"]: bar["value"] for bar in bars} == dict(
        zip(found["group"], found["value"], strict=True)
    )
    heat = widget(tab, "sides").locator(".js-plotly-plot")
    heat.locator(".main-svg").first.wait_for()

    bar = bars[-1]
    tab.mouse.move(bar["x"] - 3, bar["y"])
    tab.mouse.move(bar["x"], bar["y"], steps=3)
    tab.wait_for_selector(".hoverlayer .hovertext")
    tab.mouse.click(bar["x"], bar["y"])
    tab.get_by_role("heading", name=bar["group"], exact=True).wait_for()
    settle(tab)
    triples = run.graph.with_names(group_ranks(rows, "cardinality", bar["group"], "tail"))
    names = ["head", "relation", "tail"]
    assert table_texts(tab, 0)[0][:3] == triples[names].iloc[-1].tolist()
    assert parse_qs(urlparse(tab.url).query)["group"] == [bar["group"]]
    press(tab, f"triples_order_{bar['group']}", "best first")
    tab.wait_for_function(
        "wanted => [...document.querySelectorAll('[data-testid=stDataFrame]')][0]"
        ".querySelector('tbody td').textContent === wanted",
        arg=triples["head"].iloc[0],
    )


def test_a_group_in_the_address_is_shown_and_back_leads_to_it(address, tab, run):
    rows = add_rank_facts(run.ranks(), run.graph)
    group = "causes"
    open_page(tab, f"{address}/breakdowns?run=umls-transe&group={group}")
    heading = tab.get_by_role("heading", name=group, exact=True)
    heading.wait_for()
    worst = run.graph.with_names(group_ranks(rows, "relation", group, "both")).iloc[-1]
    select_row(tab, f"triples_of_group_{group}", 0)
    tab.wait_for_url("**/inspect**")
    tab.get_by_role("heading", name="Inspect a prediction").wait_for()
    settle(tab)
    assert names_in(tab.url) == worst[["head", "relation", "tail"]].tolist()
    tab.go_back()
    heading.wait_for()
    tab.wait_for_url(f"**/breakdowns?**group={group}**")
