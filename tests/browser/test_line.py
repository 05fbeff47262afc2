"""Three people start long work at a server that does one at a time: each sees the place in line."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE, serving

PAGE = "tests/support/line_page.py"


def expect_text(tab: Page, text: str) -> None:
    expect(tab.get_by_test_id("stProgress")).to_have_text(text, timeout=PATIENCE)


@contextmanager
def one_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Serve the page with one worker process, and give the port."""
    monkeypatch.setenv("KGDASH_WORKERS", "1")
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    options = ["--server.port", str(port), "--server.headless", "true"]
    with serving(["streamlit", "run", PAGE, *options], port, tmp_path):
        yield port


def test_where_memory_is_short_a_page_waits_aside(open_tab, tmp_path, monkeypatch):
    tab = open_tab()
    with one_worker(tmp_path, monkeypatch) as port:
        tab.goto(f"http://localhost:{port}/?name=one&short=")
        expect(tab.get_by_test_id("stProgress")).to_contain_text("Counting one", timeout=PATIENCE)
        expect(tab.get_by_role("heading", name="Before")).to_be_visible()
        expect(tab.get_by_text("Counted")).to_be_hidden()
        tab.get_by_text("Counted").wait_for(timeout=PATIENCE)
        expect(tab.get_by_test_id("stProgress")).to_have_count(0)
        tab.get_by_label("Kept").fill("mine")
        tab.get_by_label("Kept").press("Enter")
        tab.goto(f"http://localhost:{port}/?name=two&short=")
        tab.get_by_role("button", name="Stop").click(timeout=PATIENCE)
        tab.get_by_text("Counting two was stopped").wait_for(timeout=PATIENCE)
        tab.goto("about:blank")


def test_who_waits_sees_the_place_and_moves_up(open_tab, tmp_path, monkeypatch):
    one, two, three = (open_tab() for _ in range(3))
    with one_worker(tmp_path, monkeypatch) as port:
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
