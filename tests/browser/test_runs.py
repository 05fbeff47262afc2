"""The page Runs in a browser: a click opens a run; one is trained, opened and removed."""

from tests.browser.conftest import PATIENCE
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


def test_a_run_is_trained_opened_and_removed_by_two_tabs_at_once(address, tab, open_tab):
    open_page(tab, f"{address}/runs")
    tab.get_by_role("button", name="Train a run").click()
    form = tab.get_by_role("dialog")
    form.get_by_text("Settings").click()
    form.get_by_label("Epochs").fill("3")
    form.get_by_label("Epochs").press("Enter")
    form.get_by_text("--epochs 3 ").wait_for()
    form.get_by_role("button", name="Train").click()
    training = tab.locator(".st-key-training")
    training.get_by_text("Training TransE on nations").first.wait_for()
    tab.reload()
    # Its process imports what takes seconds, and gives way to all others.
    training.get_by_role("button", name="Open").click(timeout=2 * PATIENCE)
    tab.get_by_role("heading", name="TransE on nations").wait_for()
    settle(tab)
    assert "run=nations-transe" in tab.url
    tabs = [tab, open_tab()]
    for each in tabs:
        open_page(each, f"{address}/runs")
        each.get_by_role("button", name="Remove").click()
        each.get_by_role("button", name="Delete").wait_for()
    for each, text in zip(
        tabs, ("Removed nations-transe.", "unknown run 'nations-transe'"), strict=True
    ):
        each.get_by_role("button", name="Delete").click()
        each.get_by_test_id("stAlert").get_by_text(text).wait_for()
        settle(each)
        assert each.get_by_test_id("stAlert").count() == 1
