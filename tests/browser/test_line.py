"""Three people start long work at a server that does one at a time: each sees the place in line."""

import socket

from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE, serving

PAGE = "tests/support/line_page.py"


def expect_text(tab: Page, text: str) -> None:
    expect(tab.get_by_test_id("stProgress")).to_have_text(text, timeout=PATIENCE)


def test_who_waits_sees_the_place_and_moves_up(open_tab, tmp_path, monkeypatch):
    monkeypatch.setenv("KGDASH_WORKERS", "1")
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    options = ["--server.port", str(port), "--server.headless", "true"]
    one, two, three = (open_tab() for _ in range(3))
    with serving(["streamlit", "run", PAGE, *options], port, tmp_path):
        one.goto(f"http://localhost:{port}/?name=one")
        one.get_by_test_id("stProgress").wait_for()
        two.goto(f"http://localhost:{port}/?name=two")
        expect_text(two, "Counting two: 1st in line")
        three.goto(f"http://localhost:{port}/?name=three")
        expect_text(three, "Counting three: 2nd in line")
        three.set_viewport_size({"width": 390, "height": 844})
        expect(three.get_by_role("button", name="Stop")).to_be_in_viewport()
        two.get_by_role("button", name="Stop").click()
        expect_text(three, "Counting three: 1st in line")
        two.get_by_text("Counting two was stopped").wait_for()
        for tab in (one, two, three):  # before the server goes, which they would complain of
            tab.goto("about:blank")
