"""The page Runs in a browser: a click on a run opens it."""

from tests.browser.driver import open_page, settle


def test_a_click_opens_the_run(address, tab):
    open_page(tab, f"{address}/runs")
    grid = tab.get_by_test_id("stDataFrame")
    grid.locator("td").first.wait_for(state="attached")
    names = grid.locator("tbody tr td:first-child").all_text_contents()
    box = grid.locator("canvas").first.bounding_box()
    tab.mouse.click(box["x"] + 40, box["y"] + 35 * (names.index("umls-pairre") + 1) + 17)
    tab.get_by_role("heading", name="PairRE on umls").wait_for()
    settle(tab)
    assert "run=umls-pairre" in tab.url
    assert "/runs" not in tab.url
