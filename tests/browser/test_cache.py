"""The page Cache in a browser: what was computed is listed, and cleared after a question."""

from tests.browser.driver import open_page, settle


def test_list_then_clear_selected_then_all(serve, open_tab):
    address = serve()
    tab = open_tab()
    open_page(tab, f"{address}/cache")  # also: first visit to a fresh server
    assert tab.locator(".st-key-run").count() == 1
    tab.get_by_text("Nothing is kept yet").wait_for()

    # Exact ReliK of all triples of a large part takes long enough to be kept.
    open_page(tab, f"{address}/local?run=umls-conve&size=135&evaluated=all+triples")
    tab.get_by_test_id("stMetric").filter(has_text="Mean ReliK").wait_for()
    settle(tab)
    tab.get_by_test_id("stSidebarNav").get_by_role("link", name="Cache").click()
    grid = tab.get_by_test_id("stDataFrame")
    grid.wait_for()
    settle(tab)
    before = count(tab)
    assert before >= 1
    assert tab.get_by_role("button", name="Clear selected").is_disabled()

    box = grid.locator("canvas").first.bounding_box()
    tab.mouse.click(box["x"] + 16, box["y"] + 52)  # the box of the first row
    tab.get_by_role("button", name="Clear 1 selected").click()
    tab.get_by_role("dialog").get_by_text("Delete this table").wait_for()
    tab.get_by_role("dialog").get_by_role("button", name="Delete").click()
    tab.get_by_text("Deleted 1 table,").wait_for()
    settle(tab)
    assert count(tab) == before - 1
    if before > 1:
        tab.get_by_role("button", name="Clear all").click()
        tab.get_by_role("dialog").get_by_role("button", name="Delete").click()
    tab.get_by_text("Nothing is kept yet").wait_for()
    assert count(tab) == 0


def count(tab) -> int:
    card = tab.get_by_test_id("stMetric").filter(has_text="Tables")
    return int(card.get_by_test_id("stMetricValue").inner_text())
