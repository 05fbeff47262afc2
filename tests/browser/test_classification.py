"""The page Triple classification in a browser."""

from kgdash.studies.classification.classification import classify
from tests.browser.driver import open_page, settle, widget


def heights(tab, key):
    chart = widget(tab, key).locator(".js-plotly-plot .main-svg")
    chart.first.wait_for()
    return tab.evaluate(
        f"""() => document.querySelector(".st-key-{key} .js-plotly-plot")._fullData
        .slice(0, 2).map(trace => [...trace.y].reduce((sum, y) => sum + y, 0))"""
    )


def test_a_click_on_a_relation_shows_its_scores(address, tab, run):
    open_page(tab, f"{address}/classification?size=5")
    settle(tab)
    found = classify(run)
    half = len(found.test) // 2
    assert heights(tab, "scores") == [half, half]
    relations = found.tables()["relations"]
    grid = widget(tab, "relations_corrupted_global_0")
    grid.scroll_into_view_if_needed()
    grid.locator("canvas").first.wait_for()
    box = grid.locator("[data-testid=stDataFrame]").bounding_box()
    tab.mouse.click(box["x"] + 18, box["y"] + 35 * 2.5)
    widget(tab, "relation_scores").wait_for()
    settle(tab)
    picked = relations.iloc[1]
    assert tab.get_by_text(str(picked["relation"]), exact=True).count()
    assert heights(tab, "relation_scores") == [picked["true"], picked["false"]]
