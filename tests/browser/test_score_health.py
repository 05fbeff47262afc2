"""The page Score health in a browser."""

import pytest

from kgdash.formats.run_directory import read_run, write_run
from kgdash.health.of_run import score_health
from kgdash.runs.bundled import DEMO
from kgdash.runs.loading import load
from tests.browser.driver import enter, open_page, select, settle, table_texts, widget

_BARS = """() => {
    const chart = document.querySelector(".st-key-tie_bars .js-plotly-plot");
    const box = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
    const trace = chart._fullData[0];
    return [...trace.y].map((y, i) => ({
        value: trace.x[i],
        x: box.left + xaxis._offset + xaxis.c2p(trace.x[i] / 2),
        y: box.top + yaxis._offset + yaxis.c2p(y),
    }));
}"""


@pytest.fixture(scope="module")
def coarse(tmp_path_factory):
    graph, spec, state, manifest = read_run(DEMO / "umls-transe")
    state = {key: (tensor * 3).round() / 3 for key, tensor in state.items()}
    out = tmp_path_factory.mktemp("runs") / "coarse"
    return write_run(out, graph, spec, state, manifest["training"], manifest["provenance"])


def test_a_click_on_a_tie_shows_who_ties(address, tab, coarse):
    open_page(tab, f"{address}/score_health?side=tail")
    select(tab, "run_choice", "A folder on this machine …")
    enter(tab, "folder", coarse)
    chart = widget(tab, "tie_bars").locator(".js-plotly-plot")
    chart.locator(".main-svg").first.wait_for()
    settle(tab)
    health = score_health(load(str(coarse)))
    ties = health.tie_groups("tail")
    chart.scroll_into_view_if_needed()
    bars = tab.evaluate(_BARS)
    assert [bar["value"] for bar in bars] == ties["equal_scores"].head(20).tolist()

    bar = bars[2]
    tab.mouse.move(bar["x"] - 3, bar["y"])
    tab.mouse.move(bar["x"], bar["y"], steps=3)
    tab.wait_for_selector(".hoverlayer .hovertext")
    tab.mouse.click(bar["x"], bar["y"])
    tab.get_by_text("candidates have the score of").wait_for()
    settle(tab)
    row = ties.iloc[2]
    expected = health.tied_names((row["head"], row["relation"], row["tail"]), row["side"])
    assert len(expected) == row["equal_scores"]
    # The last table is of relations.
    assert table_texts(tab, -2)[0] == expected.iloc[0].tolist()
