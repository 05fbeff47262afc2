"""What strangers say at the provider's address is short, and commands no terminal, when logged."""

import json
from base64 import b64encode
from html import escape
from itertools import product
from urllib.parse import parse_qs, urlencode

import pytest
import streamlit as st
from itsdangerous import TimestampSigner
from starlette.websockets import WebSocket, WebSocketState
from streamlit.config import get_option

from kgdash.serving.settings import SETTING
from kgdash.ui.server import login_cookies, protection
from kgdash.ui.server.protection import Protection, _printable
from tests.support.own_loop import run_apart
from tests.support.servers import SECRETS, write_settings


@pytest.fixture(autouse=True)
def _signs(monkeypatch):
    """Have the server sign its cookies."""
    monkeypatch.setattr(login_cookies, "get_cookie_secret", lambda: SECRETS["cookie_secret"])


@pytest.mark.parametrize("name", ["error", "error_description"])
def test_reasons_of_errors_are_cut(name):
    query = urlencode({name: "a\x1b[31m" + "x" * 60_000, "state": "s", "code": "c" * 1_000})
    said = parse_qs(_printable({"query_string": query.encode()})["query_string"].decode())
    assert said == {name: ["a [31m" + "x" * 194], "state": ["s"], "code": ["c" * 1_000]}


def test_a_log_in_is_passed_on_as_it_is():
    scope = {"query_string": b"state=abc&code=d%2Fe"}
    assert _printable(scope) is scope


def answered(scope, headers=()) -> list[dict]:
    """Return what the outermost layer sends for a request, before an app that says 204."""
    sent = []

    async def inside(scope, receive, send):
        await send({"type": "http.response.start", "status": 204, "headers": [*headers]})

    async def keep(message):
        sent.append(message)

    rest = {"method": "GET", "headers": [(b"host", b"localhost")], "query_string": b""}
    run_apart(Protection(inside)({**rest, **scope}, None, keep))
    return sent


def session(*noted: str, said: bytes = b"", secret: str = SECRETS["cookie_secret"]) -> str:
    """Return Starlette's cookie of a browser in which log-ins of these keys have begun.

    :param said: what it says, whatever has begun
    """
    known = json.dumps({key: {"data": {"nonce": "n"}, "exp": 1.0} for key in noted}).encode()
    return f"_streamlit_session={TimestampSigner(secret).sign(b64encode(said or known)).decode()}"


KEYS = ("_state_default_aB3", "_state_default_c_d")
BEGUN = session(*KEYS)
ODD = ("", "a=b", "_streamlit_session=", "_streamlit_session=null", "_streamlit_session=a.b")
ODD += (session(*KEYS, secret="another's"), session(*KEYS, secret=""), f"x{BEGUN}")
ODD += (BEGUN.rsplit(".", 2)[0], BEGUN.rsplit(".", 1)[0], f"{BEGUN[:-6]}AAAAAA", f"{BEGUN}.x")
ODD += tuple(
    session(said=said)
    for said in (b"[" * 9_000, b"9" * 9_000, b"[1]", b'"_state_default_aB3"', b'{"a": NaN', b"\xff")
)


@pytest.mark.parametrize("path", ["/oauth2callback", "/auth/login", "/auth/logout", "/log-in"])
def test_nobody_logs_in_by_thousands_of_words(path):
    for count, status in ((20, 204), (21, 400), (7_500, 400)):
        scope = {"type": "http", "path": path, "query_string": b"state=aB3" + b"&a" * count}
        scope["headers"] = [(b"host", b"localhost"), (b"cookie", BEGUN.encode())]
        assert answered(scope)[0]["status"] == status
    scope = {"type": "http", "path": path, "query_string": b"to=" + b"%" * 9000}
    assert answered(scope)[0]["status"] == 400


@pytest.mark.parametrize("path", ["/oauth2callback", "/auth/login", "/auth/logout", "/log-in"])
def test_log_in_is_asked_for_by_links_alone(path):
    """Authlib reads a form of HEAD: a field of 1 MB as punycode stopped the server for minutes."""
    for method, status in (("GET", 204), ("HEAD", 405), ("POST", 405), ("get", 405)):
        scope = {"type": "http", "path": path, "method": method, "query_string": b"state=aB3"}
        scope["headers"] = [(b"host", b"localhost"), (b"cookie", BEGUN.encode())]
        assert answered(scope)[0]["status"] == status


@pytest.mark.parametrize("site", ["same-origin", "none", ""])
def test_from_a_log_in_that_one_did_not_begin_one_comes_to_the_start_page(site):
    """A page that led its own tab there again and again kept its address from logging in.

    And who had logged out at the provider was told that nothing had begun. A program that made up
    the cookie had all of the provider's turns.
    """

    def answer(cookies: str, query: str) -> dict:
        headers = [*asked_by(site, "navigate", "document"), (b"cookie", b"a=b")]
        headers.append((b"cookie", cookies.encode()))
        asked = {"path": "/oauth2callback", "query_string": query.encode(), "headers": headers}
        return answered({"type": "http", **asked})[0]

    for query in ("code=1&state=aB3", "error=denied&state=aB3", "state=c_d", "state=x&state=aB3"):
        for cookies in (BEGUN, f"a=b; {BEGUN}; c=d", f"{session()};{BEGUN};x{session()}"):
            assert answer(cookies, query)["status"] == 204
    queries = "", "code=1", "state", "state=", "state=b", "state=default", "state=nonce", "error=a"
    own = product((BEGUN, session("_state", "_state_", "data")), queries)
    for cookies, query in [*own, *product(ODD, (*queries, "code=1&state=aB3"))]:
        start = answer(cookies, query)
        assert (start["status"], dict(start["headers"])[b"location"]) == (303, b"/"), cookies


@pytest.mark.parametrize("header", [b"sec-purpose", b"purpose", b"x-moz"])
@pytest.mark.parametrize("path", ["/", "/inspect", "/auth/logout", "/static/js/index.js"])
def test_nothing_is_fetched_ahead(path, header):
    """What a foreign page has fetched ahead does not say so: it opened without a question.

    A log-in was ended by it.
    """
    headers = [(b"host", b"localhost"), (header, b"prefetch;prerender")]
    scope = {"type": "http", "path": path, "query_string": b"run=umls-rotate", "headers": headers}
    assert answered(scope)[0]["status"] == 503


@pytest.mark.parametrize("path", ["/", "/sw.js", "/oauth2callback", "/static/js/index.js"])
def test_service_workers_of_what_was_here_before_end_themselves(path):
    """One of another account's, which had the port for a while, was code in every page."""
    headers = [(b"host", b"localhost"), (b"service-worker", b"script")]
    start, body = answered({"type": "http", "path": path, "headers": headers})
    assert dict(start["headers"])[b"content-type"].startswith(b"text/javascript")
    assert b"registration.unregister()" in body["body"]


@pytest.mark.parametrize("said", ["", "no-cache", "public, immutable"])
def test_what_a_log_in_shows_is_kept_nowhere(said, tmp_path, monkeypatch):
    """*Back* after *Log out* showed the page of who had logged out, whole."""
    scope = {"type": "http", "path": "/"}
    given = [(b"cache-control", said.encode())] if said else []
    assert dict(answered(scope, given)[0]["headers"]).get(b"cache-control", b"") == said.encode()
    monkeypatch.setenv(SETTING, str(write_settings(tmp_path)))
    scope["headers"] = [(b"host", b"localhost")]
    kept = dict(answered(scope, given)[0]["headers"])[b"cache-control"]
    assert kept == (said.encode() if said.startswith("public") else b"no-store")


def test_links_from_elsewhere_are_no_longer_than_pages_addresses():
    """The question held one twelve times, unread in memory: 2.2 GB of 8,000 connections.

    Then still six times, of apostrophes.
    """
    headers = [(b"host", b"localhost"), (b"sec-fetch-mode", b"navigate")]
    headers.append((b"sec-fetch-site", b"cross-site"))
    for query, status in ((b"a" * 2_000, 200), (b"'" * 2_000, 414), (b"a" * 9_000, 414)):
        scope = {"type": "http", "path": "/", "headers": headers, "query_string": query}
        start, body = answered(scope)[:2]
        assert start["status"] == status
        assert (b"Open kgdash?" in body["body"]) == (status == 200)
        assert len(body["body"]) < 8_000


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/oauth2callback", "/auth/logout", "/"])
@pytest.mark.parametrize("end", ["\n", "\r", "\x1b", "\x00"])
def test_no_path_holds_control_characters(path, end):
    """Behind a line's end a path is the route's, and none of those that are looked for."""
    scope = {"type": "http", "path": path + end, "query_string": b"code=1"}
    start = answered(scope | {"headers": [(b"host", b"localhost")]})[0]
    assert start["status"] == 404


def test_files_are_given_whole():
    """Sixty-four parts of a file of 4.8 MB that nobody read took 295 MB, and whole ones none."""
    asked = []

    async def inside(scope, receive, send):
        asked.append(scope["headers"])

    headers = [(b"host", b"localhost"), (b"range", b"bytes=1-"), (b"accept", b"*/*")]
    scope = {"type": "http", "method": "GET", "path": "/media/a", "query_string": b""}
    run_apart(Protection(inside)({**scope, "headers": headers}, None, None))
    assert asked == [[headers[0], headers[2]]]


@pytest.mark.parametrize("origin", ["http://[", "http://]", "[", "://", "null", "", "http://[::1"])
def test_odd_origins_are_refused_as_others(origin):
    """Python's parser raised, and the server wrote a traceback for each."""
    headers = [(b"host", b"localhost"), (b"origin", origin.encode())]
    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": headers}
    assert answered(scope) == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("encrypted", [True, False])
def test_who_is_asked_by_tls_is_asked_by_no_page_without(monkeypatch, encrypted):
    """Whoever is on the wire may answer as this host without TLS."""
    monkeypatch.setattr(protection, "_is_encrypted", lambda: encrypted)
    for origin, ends in (("https", False), ("http", encrypted), ("ftp", True), ("", True)):
        headers = [(b"host", b"localhost"), (b"origin", f"{origin}://localhost".encode())]
        scope = {"type": "websocket", "path": "/_stcore/stream", "headers": headers}
        assert (answered(scope) == [{"type": "websocket.close", "code": 1008}]) == ends


def asked_by(site: str, mode: str = "", dest: str = "", origin: str = ""):
    """Return headers: what a browser says of whose page asks, and how."""
    said = {"host": "localhost", "origin": origin, "sec-fetch-site": site}
    said |= {"sec-fetch-mode": mode, "sec-fetch-dest": dest}
    return [(name.encode(), text.encode()) for name, text in said.items() if text]


@pytest.mark.parametrize(
    ("site", "mode", "status"),
    [
        ("same-site", "navigate", 200),
        ("same-site", "no-cors", 403),
        ("none", "navigate", 200),  # typed: a page that redirects, or a page's Back to one
        ("none", "no-cors", 403),
        ("same-origin", "navigate", 204),
        ("same-origin", "no-cors", 204),
    ],
)
def test_other_sites_log_nobody_out(site, mode, status):
    scope = {"type": "http", "path": "/auth/logout", "headers": asked_by(site, mode)}
    assert answered(scope)[0]["status"] == status


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_s_links_are_gone_on_with_by_who_stays(site):
    """A page that led its own tab there had its address' turns, whatever there was at each."""
    for path, query, is_unasked in (
        ("/", "", True),
        ("/oauth2callback", "code=1&state=aB3", True),
        ("/oauth2callback", "code=" + "1" * 4_000, True),
        ("/oauth2callback", "", True),
        ("/", "run=umls-rotate", False),
        ("/oauth2callback/", "", False),
        ("/log-in", "", False),
        ("/healthz", "", False),
    ):
        scope = {"type": "http", "path": path, "query_string": query.encode()}
        headers = [*asked_by(site, "navigate", "document"), (b"cookie", BEGUN.encode())]
        start, body = answered(scope | {"headers": headers})
        assert start["status"] == 200
        address = escape(f"{path}?{query}" if query else path)
        goes_on = f'<meta http-equiv="refresh" content="0;url={address}">' in body["body"].decode()
        assert goes_on == is_unasked, path


@pytest.mark.parametrize("path", ["/log-in", "/auth/login", "/metrics"])
def test_a_link_that_says_no_mode_is_one(path):
    """By it a program began more log-ins than the proxy lets begin, which counts no links."""
    for site, status in (("cross-site", 200), ("same-site", 200), ("same-origin", 204)):
        scope = {"type": "http", "path": path, "headers": asked_by(site)}
        assert answered(scope)[0]["status"] == status


ANOTHERS, OWN = ("cross-site", "same-site", "none"), ("same-origin", "")
TAKES = [("no-cors", "empty"), ("no-cors", "image"), ("cors", "script"), ("no-cors", "")]
TAKES += [("navigate", "iframe"), ("navigate", "object"), ("navigate", "empty"), ("", "frame")]
VISITS = [("navigate", "document"), ("navigate", ""), ("", "")]


@pytest.mark.parametrize(
    "path", ["/", "/auth/login", "/oauth2callback", "/healthz", "/static/a.js"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_pages_may_link_here_and_nothing_else(path, method):
    """One, open in one browser, kept everybody at that network address from logging in.

    The way back from a log-in's provider is a link, too. A browser that looks for whose passkeys
    another page asks for comes from no site, and follows redirects of a third; one that goes on
    with a download, or opens what was typed, navigates.
    """
    for site, (mode, dest) in product(ANOTHERS + OWN, TAKES + VISITS):
        headers = asked_by(site, mode, dest)
        scope = {"type": "http", "path": path, "method": method, "headers": headers}
        is_refused = answered(scope)[0]["status"] == 403
        takes = mode in ("cors", "no-cors") if site == "none" else (mode, dest) in TAKES
        assert is_refused == (site in ANOTHERS and takes), (site, mode, dest)


def test_scripts_of_sites_that_were_named_may_ask(monkeypatch):
    named = {"server.corsAllowedOrigins": ["https://a.org"]}
    monkeypatch.setattr(st, "get_option", lambda name: named.get(name) or get_option(name))
    for origin, status in (("https://a.org", 204), ("https://b.org", 403), ("", 403)):
        headers = asked_by("cross-site", "cors", "empty", origin)
        scope = {"type": "http", "path": "/_stcore/host-config", "headers": headers}
        assert answered(scope)[0]["status"] == status


def test_a_tab_that_is_closed_while_its_page_is_sent_is_no_error():
    """Each left two tracebacks in the log: 1 MB in six minutes of one visitor."""

    async def inside(scope, receive, send):
        tab = WebSocket(scope, receive, send)
        tab.client_state = tab.application_state = WebSocketState.DISCONNECTED
        await tab.close()

    headers = [(b"host", b"localhost")]
    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": headers}
    run_apart(Protection(inside)(scope, None, None))
