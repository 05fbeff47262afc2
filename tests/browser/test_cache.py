"""The page Cache in a browser: what was computed is listed, and cleared after a question."""

import pytest

from kgdash.files import table_cache
from tests.browser.driver import go_to, open_page, settle


@pytest.fixture
def cache_of_server(server_folder, monkeypatch):
    """Work on the server's tables from here; it remembers what it showed, and misses none."""
    monkeypatch.setenv("KGDASH_CACHE", str(server_folder / "cache"))
    monkeypatch.setattr(table_cache, "_WORTH_KEEPING", -1)
    table_cache.clear_cache()


def test_list_then_clear_selected_then_all(address, tab, run, cache_of_server):
    open_page(tab, f"{address}/cache")
    assert tab.locator(".st-key-run").count() == 1
    tab.get_by_text("Nothing is kept yet").wait_for()

    run.ranks(split="valid")
    run.relik(split="valid")
    go_to(tab, "Overview")
    tab.get_by_role("heading", name="TransE on umls").wait_for()
    settle(tab)
    tab.get_by_role("link", name="Cache on disk").click()
    tab.get_by_role("heading", name="Cache", exact=True).wait_for()
    settle(tab)
    grid = tab.get_by_test_id("stDataFrame")
    grid.wait_for()
    # A busy server keeps what took it long, too.
    kept = len(table_cache.list_cache())
    assert count(tab) == kept >= 2
    assert tab.get_by_role("button", name="Clear selected").is_disabled()

    box = grid.locator("canvas").first.bounding_box()
    tab.mouse.click(box["x"] + 16, box["y"] + 52)  # the box of the first row
    tab.get_by_role("button", name="Clear 1 selected").click()
    tab.get_by_role("dialog").get_by_text("Delete this table").wait_for()
    tab.get_by_role("dialog").get_by_role("button", name="Delete").click()
    tab.get_by_text("Deleted 1 table,").wait_for()
    settle(tab)
    assert count(tab) == kept - 1
    tab.get_by_role("button", name="Clear all").click()
    tab.get_by_role("dialog").get_by_role("button", name="Delete").click()
    tab.get_by_text("Nothing is kept yet").wait_for()
    assert count(tab) == 0


def count(tab) -> int:
    card = tab.get_by_test_id("stMetric").filter(has_text="Tables")
    return int(card.get_by_test_id("stMetricValue").inner_text())
