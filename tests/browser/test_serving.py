"""Two people at one server, each in a browser of their own, logged in by a provider of OpenID."""

import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from oidc_provider_mock import User, run_server_in_thread
from playwright.sync_api import BrowserContext, Page
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from kgdash.runs.bundled import DEMO
from tests.browser.conftest import PATIENCE, serving
from tests.browser.driver import open_page, settle, widget
from tests.support.paths import EXAMPLE
from tests.support.servers import write_settings

PEOPLE = ("ada", "bob", "eve")


def said_of(name: str) -> User:
    email = {"email": f"{name}@example.org", "email_verified": True}
    return User(sub=name, claims=email | {"groups": ["lab"] if name == "bob" else []})


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with run_server_in_thread(user_claims=[*map(said_of, PEOPLE)]) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture(scope="module")
def served(provider, tmp_path_factory) -> Iterator[tuple[str, Path]]:
    """Serve Ada, who may clear, and the group lab, of which is Bob; return address and folder."""
    folder = tmp_path_factory.mktemp("serving")
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://localhost:{port}"
    settings = write_settings(
        folder,
        f"port = {port}",
        who='change = ["ada@example.org"]',
        redirect_uri=f"{address}/oauth2callback",
        server_metadata_url=f"{provider}/.well-known/openid-configuration",
    )
    with serving(["kgdash", "serve", str(settings)], port, folder):
        yield address, folder


@pytest.fixture(scope="module")
def enter(browser, served) -> Iterator[Callable[[str], Page]]:
    """Let somebody come with a browser of their own, and log in."""
    contexts: dict[str, BrowserContext] = {}

    def come(name: str) -> Page:
        assert browser.browser is not None
        contexts[name] = browser.browser.new_context()
        contexts[name].set_default_timeout(PATIENCE)
        tab = contexts[name].new_page()
        tab.goto(f"{served[0]}/cache")
        tab.get_by_role("link", name="Log in").click()
        tab.get_by_role("button", name=name, exact=True).click()
        back = "" if name == "eve" else "cache"  # who is let in comes to where they wanted
        tab.wait_for_url(f"{served[0]}/{back}", wait_until="commit")
        return tab

    yield come
    for context in contexts.values():
        context.close()


@pytest.fixture(scope="module")
def ada(enter) -> Page:
    return enter("ada")


@pytest.fixture(scope="module")
def bob(enter) -> Page:
    return enter("bob")


def open_labels(tab: Page, address: str, labelled: int) -> None:
    open_page(tab, f"{address}/label?label_source=My+own+table")
    widget(tab, "label_table").locator("input[type=file]").set_input_files(EXAMPLE)
    wait_for_labelled(tab, labelled)


def wait_for_labelled(tab: Page, count: int) -> None:
    tab.get_by_text(re.compile(rf"^{count} of \d+ labelled$")).wait_for()
    settle(tab)


def test_each_sees_their_own_labels_only(ada, bob, served):
    address, folder = served
    open_labels(ada, address, 0)
    widget(ada, "prediction").get_by_role("button", name="True").click()
    wait_for_labelled(ada, 1)
    open_labels(bob, address, 0)
    assert not bob.get_by_text("ada@example.org").count()
    kept = [path.read_text() for path in (folder / "data" / "visitors").glob("*/labels/*.jsonl")]
    assert len(kept) == 1
    assert '"by":"ada@example.org"' in kept[0]
    assert not (folder / "data" / "labels").exists()


def test_buttons_are_those_of_ones_rights(ada, bob, served):
    shutil.copytree(DEMO / "umls-rotate", served[1] / "data" / "runs" / "shared")
    for tab, may in ((ada, True), (bob, False)):
        open_page(tab, f"{served[0]}/runs")
        tab.get_by_text("Logged in as").wait_for()
        refused = tab.get_by_text("You may not rename or remove runs here.")
        remove = tab.get_by_role("button", name="Remove …")
        (remove if may else refused).wait_for()
        assert (remove.count(), refused.count()) == (may, not may)
        assert tab.get_by_text("You may not train runs here.").count() == 1
        # Streamlit's own way to a CSV lets spreadsheets calculate what it holds.
        tab.get_by_test_id("stDataFrame").first.hover()
        tab.get_by_role("button", name="Search").first.wait_for()
        assert not tab.get_by_role("button", name="Download as CSV").count()


def test_who_is_not_named_stays_outside(enter, served):
    tab = enter("eve")
    tab.get_by_role("heading", name="No access").wait_for()
    assert tab.get_by_text("eve@example.org").count() == 1
    tab.goto(f"{served[0]}/metrics")
    tab.get_by_role("heading", name="No access").wait_for()
    with pytest.raises(InvalidStatus), talk(tab, served[0]):
        pass


@contextmanager
def talk(tab: Page | None, address: str, token: str = "") -> Iterator[Callable[[str], list[str]]]:
    """Speak to the server without a browser, with its cookies; ask for a page, get its texts."""
    cookies = tab.context.cookies(address) if tab else []
    with connect(
        f"ws{address.removeprefix('http')}/_stcore/stream",
        origin=address,
        additional_headers={"Cookie": "; ".join(f"{c['name']}={c['value']}" for c in cookies)},
        subprotocols=["streamlit", token] if token else ["streamlit"],
        max_size=None,
    ) as line:

        def ask(page: str) -> list[str]:
            wanted = BackMsg()
            wanted.rerun_script.page_name = page
            line.send(wanted.SerializeToString())
            texts: list[str] = []
            while True:
                told = ForwardMsg.FromString(line.recv(timeout=60))
                if told.WhichOneof("type") == "script_finished":
                    return texts
                element = told.delta.new_element
                texts += [element.heading.body, element.markdown.body, element.button.label]

        yield ask


def test_strangers_get_no_connection(served):
    with pytest.raises(InvalidStatus) as refused, talk(None, served[0]):
        pass
    assert refused.value.response.status_code == 403


def test_a_cookie_alone_opens_no_page(ada, served):
    """Another site's script could send the cookie along, but not the token beside it."""
    with talk(ada, served[0]) as ask:
        for page in ("", "cache", "runs", "label"):
            assert {*ask(page)} - {""} == {"Log in"}
    cookies = {c["name"]: c["value"] for c in ada.context.cookies(served[0])}
    with talk(ada, served[0], cookies["_streamlit_xsrf"]) as ask:
        assert "Remove …" in ask("runs")


def test_logged_out_is_outside_again(ada, served):
    open_page(ada, f"{served[0]}/cache")
    widget(ada, "log_out").get_by_role("button").click()
    ada.get_by_role("button", name="End session").click()
    ada.wait_for_load_state()
    ada.goto(served[0])
    ada.get_by_role("link", name="Log in").wait_for()


def test_who_logs_out_at_the_provider_comes_to_the_start_page(enter, served):
    tab = enter("eve")
    tab.get_by_role("link", name="log out").click()
    tab.get_by_role("button", name="End session").click()
    tab.wait_for_url(f"{served[0]}/")
    tab.get_by_role("link", name="Log in").wait_for()
