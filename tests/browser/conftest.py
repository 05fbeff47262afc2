"""The app served as users start it, and a Chromium to drive it with."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, sync_playwright

from tests.browser.driver import CARDS, open_page
from tests.support.paths import ROOT

#: all tabs share a process, which compiles the scripts of the page once
FLAGS = [
    "--process-per-site",
    "--renderer-process-limit=1",
    "--in-process-gpu",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

#: milliseconds; the first chart of a cold browser on a busy machine takes tens of seconds
PATIENCE = 90_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory) -> Path:
    """Return where the server keeps its cache, in "cache", and its data."""
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="session")
def fresh_address(server_folder) -> Iterator[str]:
    """Start the server that all tests share: all run in one worker."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    options = ["--server.port", str(port), "--server.headless", "true"]
    with (server_folder / "log.txt").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", *options],
            cwd=ROOT,
            env={
                **os.environ,
                "KGDASH_CACHE": str(server_folder / "cache"),
                "KGDASH_DATA": str(server_folder / "data"),
                "KGDASH_PREPARE": "off",
                # Beside busy tests, a process of low priority may wait longer than they do.
                "KGDASH_WORKERS": "0",
            },
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    _wait_for_health(port, server, server_folder / "log.txt")
    yield f"http://localhost:{port}"
    server.terminate()
    server.wait(timeout=60)


def _wait_for_health(port: int, server: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"the app did not start:\n{log.read_text()}", pytrace=False)


@pytest.fixture(scope="session")
def first_visit(fresh_address, browser) -> tuple[list[list[str]], int]:
    """Visit the server before anybody else, by the address of a page; the tab stays open.

    :return: the cards that the page shows in the end, and how many choices of the run
    """
    tab = browser.new_page()
    open_page(tab, f"{fresh_address}/local?entity=virus&size=12")
    tab.locator(".st-key-drawing .stage").first.wait_for()
    tab.locator(".st-key-refining").wait_for(state="detached")
    return tab.evaluate(CARDS), tab.locator(".st-key-run").count()


@pytest.fixture(scope="session")
def address(fresh_address, first_visit) -> str:
    """Return the address of the server."""
    return fresh_address


@pytest.fixture(scope="session")
def browser() -> Iterator[BrowserContext]:
    """Start Chromium; its tabs share a cache, so that only the first one is cold."""
    executable = os.environ.get("KGDASH_CHROMIUM") or shutil.which("chromium")
    if executable is None:
        pytest.fail(
            "no browser: install Debian's package chromium, or set KGDASH_CHROMIUM to the path of "
            "a Chromium",
            pytrace=False,
        )
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        context = chromium.new_context()
        context.set_default_timeout(PATIENCE)
        yield context
        chromium.close()


@pytest.fixture
def open_tab(browser) -> Iterator[Callable[[], Page]]:
    """Open tabs for one test; whatever it does, nothing may go wrong in them behind its back."""
    tabs: list[Page] = []
    faults: list[str] = []

    def open_one() -> Page:
        tab = browser.new_page()
        tabs.append(tab)
        tab.set_viewport_size({"width": 1280, "height": 900})
        tab.on("request", lambda request: faults.extend(_leaving(request.url)))
        tab.on("websocket", lambda socket: faults.extend(_leaving(socket.url)))
        tab.on("pageerror", lambda error: faults.append(f"uncaught: {error}"))
        tab.on("console", lambda message: faults.extend(_complaint(message)))
        return tab

    yield open_one
    for tab in tabs:
        if tab.locator("[data-testid=stException]").count():
            faults.append(tab.locator("[data-testid=stException]").first.inner_text())
        tab.close()
    assert not faults


@pytest.fixture
def tab(open_tab) -> Page:
    """Open a tab of a desktop's size."""
    return open_tab()


def _leaving(url: str) -> list[str]:
    parts = urlparse(url)
    inside = parts.scheme in ("data", "blob", "about") or parts.hostname == "localhost"
    return [] if inside else [f"request to {url}"]


def _complaint(message: ConsoleMessage) -> list[str]:
    # Opened at a page's address, Streamlit first looks for its server below that address.
    path = urlparse(message.location.get("url", "")).path
    probing = path.count("/") > 2 and path.endswith(("/_stcore/health", "/_stcore/host-config"))
    return [f"console: {message.text}"] if message.type == "error" and not probing else []


@pytest.fixture(scope="session")
def run(bundled):
    """Return the run that the app opens on."""
    return bundled("umls-transe")
