"""What a stranger's page can do to the server: nothing, on its real socket."""

import socket
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.error import HTTPError
from urllib.parse import urlencode, urlparse
from urllib.request import Request, urlopen

import pytest

from kgdash.runs.bundled import FOLDER_CHOICE
from kgdash.ui.server.protection import HEADERS

LINK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "cross-site"}


def handshake(address: str, **headers: str) -> str:
    """Ask for a websocket as a browser does, and return the status line of the answer."""
    place = urlparse(address)
    given = {"Host": place.netloc, "Origin": address} | headers
    lines = ["GET /_stcore/stream HTTP/1.1", *(f"{name}: {text}" for name, text in given.items())]
    lines += ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
    lines += ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", ""]
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        connection.sendall("\r\n".join(lines).encode())
        return connection.recv(200).split(b"\r\n")[0].decode()


def ask(address: str, **headers: str) -> tuple[str, dict[str, str]]:
    """Return the text and the headers of an answer."""
    with urlopen(Request(address, headers=headers), timeout=60) as answer:
        return answer.read().decode(), dict(answer.headers)


def test_only_the_names_of_this_machine_are_answered(address):
    port = urlparse(address).port
    for name in ("localhost", "127.0.0.1", "[::1]"):
        assert " 101 " in handshake(address, Host=f"{name}:{port}", Origin=f"http://{name}:{port}")
    foreign = f"evil.example:{port}"
    assert " 403 " in handshake(address, Host=foreign, Origin=f"http://{foreign}")
    for path in ("/", "/metrics", "/_stcore/host-config", "/media/x"):
        with pytest.raises(HTTPError, match="421"):
            ask(address + path, Host=foreign)
    assert ask(f"{address}/_stcore/health", Host="10.0.0.7")[0] == "ok"


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/metrics/"])
def test_streamlits_own_counters_are_closed(address, path):
    """They ask for no token: whoever may log in could watch the others."""
    with pytest.raises(HTTPError, match="404"):
        ask(address + path)


def test_what_strangers_say_commands_no_terminal(address, server_folder):
    assert " 403 " in handshake(address, Host="evil\x9b2J")
    said = "error=%1b%5d0%3bx%07said&error_description=a%0d%0ab&state=a"
    ask(f"{address}/oauth2callback?{said}")
    log = (server_folder / "log.txt").read_bytes().decode()
    assert not set(log) & {"\x1b", "\x07", "\x9b"}


def test_scripts_of_other_asked_get_no_connection(address, server_folder):
    for origin in ("http://evil.example", "https://localhost.evil.example", "null"):
        assert " 403 " in handshake(address, Origin=origin)
    # Streamlit says so when it asked an outside service who this machine is.
    assert "external IP" not in (server_folder / "log.txt").read_text()


@pytest.mark.parametrize("path", ["/", "/metrics", "/_stcore/health", "/static/none.js"])
def test_headers(address, path):
    try:
        headers = ask(address + path)[1]
    except HTTPError as error:
        headers = dict(error.headers)
    found = {name.title(): text for name, text in headers.items()}
    assert HEADERS.items() <= found.items()
    assert "frame-ancestors 'none'" in found["Content-Security-Policy"]


def test_a_link_from_another_site_wants_a_click(address):
    text, headers = ask(f'{address}/study?subgraphs=10&x="<b>', **LINK)
    assert 'href="/study?subgraphs=10&amp;x=&quot;&lt;b&gt;"' in text.replace("%22", "&quot;")
    assert (
        HEADERS["Content-Security-Policy"]
        == {k.title(): v for k, v in headers.items()}["Content-Security-Policy"]
    )
    assert 'href="/evil.example/?a"' in ask(f"{address}//evil.example/?a", **LINK)[0]


@pytest.mark.parametrize(
    "headers",
    [LINK | {"Sec-Fetch-Site": "none"}, LINK | {"Sec-Fetch-Site": "same-origin"}, {}],
)
def test_other_visits_want_none(address, headers):
    assert "Open kgdash?" not in ask(f"{address}/study?subgraphs=10", **headers)[0]
    assert "Open kgdash?" not in ask(address, **LINK)[0]


@pytest.fixture
def stranger(address, tmp_path) -> Iterator[str]:
    """Serve a page that frames the dashboard and links to two of its pages."""
    link = f"{address}/metric_guide?side=head"
    page = f'<a href="{link}">free music</a><iframe src="{address}"></iframe>'
    page += f'<a href="{address}">a friend</a>'
    (tmp_path / "index.html").write_text(page)
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("localhost", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


def test_addresses_in_names_are_no_links(address, browser):
    tab = browser.new_page()
    named = "http://evil.example www.evil.example a@evil.example :material/skull:"
    tab.goto(f"{address}/?{urlencode({'run': FOLDER_CHOICE, 'folder': named})}")
    told = tab.get_by_test_id("stAlert").get_by_test_id("stMarkdownContainer")
    told.wait_for()
    assert "evil.example" in told.inner_text()
    assert told.locator("a, img, [role=img]").count() == 0
    tab.close()


def test_a_page_of_a_stranger(address, stranger, browser):
    tab = browser.new_page()
    refused = []
    tab.on("console", lambda message: refused.append(message.text))
    answers = {}
    tab.on("response", lambda answer: answers.update({answer.url: answer.status}))
    tab.goto(stranger, wait_until="networkidle")
    assert answers == {f"{stranger}/": 200, f"{address}/": 403}
    tab.get_by_role("link", name="free music").click()
    tab.get_by_role("heading", name="Open kgdash?").wait_for()
    assert any("frame-ancestors 'none'" in text for text in refused), refused
    tab.get_by_role("link").click()
    tab.get_by_role("heading", name="Metric guide").wait_for()
    assert tab.url == f"{address}/metric_guide?side=head"
    tab.close()


def test_to_the_start_page_a_browser_goes_on_by_itself_once(address, stranger, browser):
    tab = browser.new_page()
    tab.goto(stranger, wait_until="networkidle")
    asked = []
    tab.on(
        "response",
        lambda answer: asked.append(answer.url) if answer.request.is_navigation_request() else None,
    )
    tab.get_by_role("link", name="a friend").click()
    tab.get_by_test_id("stApp").wait_for()
    assert asked == [f"{address}/"] * 2
    tab.close()


def test_nothing_is_loaded_from_outside(address, browser):
    tab = browser.new_page()
    tab.goto(f"{address}/_stcore/health")
    loaded = tab.evaluate(
        """() => new Promise(done => {
            const image = new Image();
            image.onload = () => done(true);
            addEventListener("securitypolicyviolation", event => done(event.blockedURI));
            image.src = "http://evil.example/x.png";
        })"""
    )
    assert loaded == "http://evil.example/x.png"
    tab.close()
