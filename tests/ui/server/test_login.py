"""Nothing behind the door answers to strangers; who is let in gets what was asked for."""

import asyncio
import http.cookies
import json
import time
from collections import OrderedDict
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from kgdash.serving import access, let_in
from kgdash.serving.pace import Pace
from kgdash.serving.settings import SETTING
from kgdash.serving.waiting import networks_of
from kgdash.ui.runtime.visitors import OWNER
from kgdash.ui.server import answers, login, login_cookies, plain_page
from kgdash.ui.server.login import OPEN, LogInDoor
from tests.support.own_loop import run_apart
from tests.support.servers import SECRETS, write_settings

SECRET = SECRETS["cookie_secret"]
ADA = {
    "origin": "https://kg.example.org",
    "is_logged_in": True,
    "iss": "https://id.example.org",
    "sub": "1",
    "email": "ada@example.org",
    "email_verified": True,
}
EVE = ADA | {"sub": "2", "email": "eve@example.org"}
PATHS = (
    "/",
    "/metrics",
    "/media/abc.csv",
    "/_stcore/upload_file/1/2",
    "/_stcore/metrics",
    "/_stcore/agent/interact",
    "/_stcore/host-config",
    "/static/js/index.js",
    "/auth/login/",
    "//auth/login",
    "/AUTH/LOGIN",
    "/auth/login/../../media/abc.csv",
    "/oauth2callback/x",
    "/_stcore/health/../metrics",
    "/%61uth/logout/x",
)


def leave_out_rests(monkeypatch):
    """Have turns come at once: a test's loop ends before a rest does."""
    for module, name in ((login, "_REST"), (login, "_SHORT_REST"), (plain_page, "_REST")):
        monkeypatch.setattr(module, name, 0)


@pytest.fixture
def client(tmp_path, monkeypatch):
    """Return a browser before a server that says yes to everything behind the door."""
    monkeypatch.setenv(SETTING, str(write_settings(tmp_path)))
    monkeypatch.setattr(login_cookies, "get_cookie_secret", lambda: SECRET)
    leave_out_rests(monkeypatch)

    async def yes(request):
        return PlainTextResponse("inside")

    async def socket(websocket):
        await websocket.accept()
        await websocket.send_text("inside")
        await websocket.close()

    methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]
    routes = [WebSocketRoute("/{path:path}", socket), Route("/{path:path}", yes, methods=methods)]
    app = LogInDoor(Starlette(routes=routes))
    return TestClient(app, "https://kg.example.org", follow_redirects=False)


def come_as(client, claims: dict | str, secret: str = SECRET, name: str = "_streamlit_user"):
    text = claims if isinstance(claims, str) else json.dumps({"iat": time.time()} | claims)
    client.cookies.set(name, create_signed_value(secret, name, text).decode())


def is_inside(client, path: str = "/") -> bool:
    return client.get(path).text == "inside"


def opens_socket(client) -> bool:
    try:
        with client.websocket_connect("/_stcore/stream") as socket:
            return socket.receive_text() == "inside"
    except WebSocketDisconnect:
        return False


@pytest.mark.parametrize("path", PATHS)
def test_strangers_see_the_way_in_only(client, path):
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        answer = client.request(method, path)
        assert answer.status_code == 401, (method, path)
        assert "inside" not in answer.text
    assert 'href="/log-in' in client.get(path).text
    assert client.get(path).headers["cache-control"] == "no-store"


def test_who_is_let_in_waits_in_no_stranger_s_line_from_then_on(client, monkeypatch):
    monkeypatch.setattr(let_in, "_owners", OrderedDict())
    monkeypatch.setattr(let_in, "_asked", Pace(9, 1))

    def known() -> str:
        sent = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        return let_in.whose_log_in(f"GET / HTTP/1.1\r\nCookie: {sent}\r\n\r\n".encode())

    for claims, secret in ((ADA, "another's"), (EVE, SECRET)):
        come_as(client, claims, secret)
        assert not is_inside(client)
        assert not known()
    come_as(client, ADA)
    assert len(known()) == 32  # after a restart, too
    monkeypatch.setattr(let_in, "_ask", [])
    monkeypatch.setattr(let_in, "_owners", OrderedDict())
    assert not known()
    assert is_inside(client)
    assert len(known()) == 32
    client.get("/auth/logout")
    assert not is_inside(client)
    assert not known()


@given(st.binary(max_size=60), st.sampled_from(["", "=", "__1=", "__x=", "_=1;"]))
def test_odd_cookies_are_nobody_s(value, name):
    with pytest.MonkeyPatch.context() as patch:
        asks = SimpleNamespace(secrets=SimpleNamespace(origin="https://kg.example.org"))
        patch.setattr(login, "server_settings", lambda: SimpleNamespace(login=asks))
        patch.setattr(login_cookies, "get_cookie_secret", lambda: SECRET)
        assert login._whose(b"a=b; _streamlit_user" + name.encode() + value) == ""


def test_strangers_get_no_connection(client):
    assert not opens_socket(client)


@pytest.mark.parametrize("path", OPEN)
def test_log_in_and_monitors_are_let_through(client, path):
    assert is_inside(client, path)


@pytest.mark.parametrize("path", OPEN)
def test_nobody_s_connections_wait_where_strangers_ask(client, path, monkeypatch):
    async def never(*_):
        raise AssertionError

    monkeypatch.setattr(client.app, "_let_through", never)
    with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect(path):
        pass
    assert refused.value.code == 1008


@pytest.mark.parametrize("path", ["/_stcore/health", "/healthz", "/metricsz"])
def test_who_is_let_in_waits_for_no_stranger_where_they_ask_for_health(client, path, monkeypatch):
    """A page asks before it connects: beside one address that does all the time, 10 to 22 s."""

    async def never(*_):
        raise AssertionError

    monkeypatch.setattr(client.app, "_let_through", never)
    come_as(client, ADA)
    assert is_inside(client, path)
    client.cookies.clear()
    with pytest.raises(AssertionError):
        client.get(path)


def test_the_way_in_begins_anew_each_time(client, monkeypatch):
    monkeypatch.setattr(login, "generate_login_redirect_url", lambda name: f"/auth/login?p={name}")
    answer = client.get("/log-in")
    assert (answer.status_code, answer.headers["location"]) == (302, "/auth/login?p=default")


def test_who_may_open_is_inside(client):
    come_as(client, ADA)
    assert all(is_inside(client, path) for path in PATHS)
    assert opens_socket(client)


def test_what_is_behind_the_door_learns_whose_it_is(client):
    seen = []

    async def note(scope, receive, send):
        seen.append(scope[OWNER])
        await PlainTextResponse("inside")(scope, receive, send)

    client.app._app = note
    for claims in (ADA, ADA | {"name": "another"}, ADA | {"sub": "2"}):
        come_as(client, claims)
        assert is_inside(client)
    assert len(set(seen)) == 2
    assert seen[0] == seen[1]


def test_log_out_ends_the_log_in_wherever_its_cookie_is(client):
    come_as(client, ADA)
    assert is_inside(client)
    client.get("/auth/logout")  # the cookie is left to Streamlit
    assert not is_inside(client)
    assert not opens_socket(client)
    come_as(client, ADA)
    assert is_inside(client)


def test_nobody_else_ends_it(client):
    come_as(client, ADA)
    kept = dict(client.cookies)
    client.cookies.clear()
    client.get("/auth/logout")
    come_as(client, ADA, secret="of somebody else, thirty-two long")
    client.get("/auth/logout")
    client.cookies.update(kept)
    assert is_inside(client)


def test_a_network_is_known_once_somebody_is_let_in_from_there(client, monkeypatch):
    monkeypatch.setattr(let_in, "_networks", OrderedDict())
    here = networks_of({"client": ("testclient", 1)})
    for claims, known in ((EVE, ""), (ADA, "let in")):
        come_as(client, claims)
        client.get("/")
        assert let_in.stranger(here) == (known, *here)
    monkeypatch.setattr(let_in, "_MOST", 2)
    for number in range(3):
        let_in.note_network({"client": (f"10.0.0.{number}", 1)})
    assert len(let_in._networks) == 2
    assert let_in.stranger(here) == ("", *here)


def test_who_may_not_is_told_so(client):
    come_as(client, EVE | {"email": "<b>eve@example.org"})
    answer = client.get("/")
    assert answer.status_code == 403
    assert "&lt;b&gt;eve@example.org" in answer.text
    assert 'href="/auth/logout"' in answer.text
    assert not opens_socket(client)


@pytest.mark.parametrize(
    "claims",
    [
        ADA | {"origin": "https://other.example"},
        ADA | {"origin": "http://kg.example.org"},
        ADA | {"is_logged_in": False},
        ADA | {"is_logged_in": 1},
        {key: value for key, value in ADA.items() if key != "origin"},
        ADA | {"iat": 0},
        "",
        "{",
        "[]",
        "3",
        "chunks-3",
        "chunks-99999999999999999999",
    ],
)
def test_cookies_of_elsewhere_or_of_long_ago(client, claims):
    come_as(client, claims)
    assert not is_inside(client)
    assert not opens_socket(client)


def test_forged_cookies(client):
    come_as(client, ADA, secret="guessed")
    assert not is_inside(client)
    come_as(client, ADA, name="_streamlit_session")
    assert not is_inside(client)
    client.cookies.set("_streamlit_user", json.dumps(ADA))
    assert not is_inside(client)


def test_without_a_secret_no_cookie_counts(client, monkeypatch):
    monkeypatch.setattr(login_cookies, "get_cookie_secret", lambda: "")
    come_as(client, ADA, secret="")
    assert not is_inside(client)


def test_without_settings_everybody_is_this_machines(client, monkeypatch):
    monkeypatch.delenv(SETTING)
    assert is_inside(client)
    assert opens_socket(client)


def scopes(paths, address="10.0.0.1"):
    rest = {"type": "http", "method": "GET", "query_string": b"", "headers": []}
    return [{**rest, "path": path, "client": (address, 1)} for path in paths]


async def heard():
    return {"type": "http.request"}


async def cut_short(door, asked, send, seconds: float = 0.01) -> None:
    """Have requests come at once, and leave after a while."""
    waits = [asyncio.ensure_future(door(scope, heard, send)) for scope in asked]
    await asyncio.sleep(seconds)
    for wait in waits:
        wait.cancel()


async def sent(message):
    """Take an answer."""


@pytest.fixture
def restless(tmp_path, monkeypatch):
    """Ask for log-in, and let nobody wait."""
    monkeypatch.setenv(SETTING, str(write_settings(tmp_path)))
    leave_out_rests(monkeypatch)


def test_nobody_keeps_others_from_logging_in(restless):
    working: list[str] = []
    at_once: list[int] = []
    answered: list[str] = []

    async def provider(scope, receive, send):
        assert (await receive())["type"] == "http.request"
        working.append(scope["path"])
        at_once.append(len(working) - len(answered))
        for _ in range(3):
            await asyncio.sleep(0)
        answered.append(scope["client"][0])

    async def many():
        door = LogInDoor(provider)
        flood = scopes(["/auth/login", "/oauth2callback", "/auth/logout", "/auth/login"] * 25)
        ada = scopes(["/auth/login"], "2001:db8:0:1::5")
        await asyncio.gather(*(door(scope, heard, sent) for scope in flood + ada))

    run_apart(many())
    assert len(answered) == 101
    assert max(at_once) == 8
    assert answered.index("2001:db8:0:1::5") < 20  # though ninety came before


@pytest.mark.parametrize("path", ["/", "/auth/login", "/_stcore/health"])
def test_who_does_not_read_keeps_no_turn(restless, path):
    """Eight who read nothing had others wait half a minute for the page to log in on."""
    sent_to: list[str] = []

    async def never(message):
        await asyncio.sleep(300)

    async def note_answer(message):
        sent_to.append(message["type"])

    async def many():
        door = LogInDoor(PlainTextResponse("inside"))
        unread = [asyncio.ensure_future(door(each, heard, never)) for each in scopes([path] * 20)]
        await asyncio.sleep(0)
        async with asyncio.timeout(30):
            await door(*scopes([path], "10.0.0.2"), heard, note_answer)
        for wait in unread:
            wait.cancel()

    run_apart(many())
    assert sent_to == ["http.response.start", "http.response.body"]


@pytest.mark.parametrize(
    ("address", "networks"),
    [
        ("10.1.2.3", ("10.1", "10.1.2", "10.1.2.3")),
        ("::ffff:10.1.2.3", ("10.1", "10.1.2", "10.1.2.3")),
        ("2001:db8:0:7::5", ("2001:0db8", "2001:0db8:0000", "2001:0db8:0000:0007")),
        ("2001:db8::5:1:1:1", ("2001:0db8", "2001:0db8:0000", "2001:0db8:0000:0000")),
        ("fe80::1%eth0", ("fe80:0000", "fe80:0000:0000", "fe80:0000:0000:0000")),
        ("", ("",)),
    ],
)
def test_where_strangers_come_from(address, networks):
    assert networks_of({"client": (address, 1)}) == networks


def test_who_has_gone_takes_no_turn(restless):
    async def never(scope, receive, send):
        raise AssertionError

    async def gone():
        return {"type": "http.disconnect"}

    async def many():
        door = LogInDoor(never)
        await asyncio.gather(*(door(scope, gone, sent) for scope in scopes(["/auth/login"] * 9)))

    run_apart(many())


def test_nobody_waits_for_a_stranger_s_body(restless):
    """Forms that never came kept all turns for 30 s each, and others filled the disk."""
    said = [{"type": "http.request", "body": b"x" * n, "more_body": True} for n in (9, 0, 9)]
    said.append({"type": "http.disconnect"})

    async def receive():
        await asyncio.sleep(0)
        return said.pop(0)

    async def reader(scope, receive, send):
        nothing = {"type": "http.request", "body": b"", "more_body": False}
        assert await receive() == nothing
        assert await receive() == {"type": "http.disconnect"}
        assert not said

    run_apart(LogInDoor(reader)(*scopes(["/oauth2callback"]), receive, sent))
    assert not said


def test_strangers_leave_the_loop_to_others(tmp_path, monkeypatch):
    monkeypatch.setenv(SETTING, str(write_settings(tmp_path)))
    answered = []

    async def app(scope, receive, send):
        answered.append(scope["path"])

    async def note_answer(message):
        if message["type"] == "http.response.start":
            answered.append("/")

    async def many():
        door = LogInDoor(app)
        paths = ["/"] * 20 + ["/auth/login"] * 20 + ["/_stcore/health"] * 20
        await cut_short(door, scopes(paths), note_answer)

    run_apart(many())
    counts = [answered.count(path) for path in ("/", "/auth/login", "/_stcore/health")]
    assert counts == [8, 8, 8]


def test_so_many_strangers_wait_and_others_are_told_at_once(client, monkeypatch):
    """What waits is kept in memory: thousands with long headers took gigabytes."""
    for module in (login, plain_page):
        monkeypatch.setattr(module, "_MOST_WAIT", 5)
        monkeypatch.setattr(module, "_REST", 300)
    told: list[int] = []

    async def note_status(message):
        told.append(message.get("status", 0))

    async def many():
        door = LogInDoor(PlainTextResponse("inside"))
        paths = ["/"] * 20 + ["/auth/login"] * 20
        await cut_short(door, scopes(paths), note_status, 0.1)

    run_apart(many())
    assert (told.count(503), told.count(401)) == (14, 8)


def test_who_is_in_logs_out_beside_strangers_of_the_same_address(client, monkeypatch):
    """Beside one that asks to log in all the time a colleague's *Log out* was 503 at once."""
    come_as(client, ADA)
    assert is_inside(client)
    cookie = (b"cookie", f"_streamlit_user={client.cookies['_streamlit_user']}".encode())
    monkeypatch.setattr(login, "_MOST_WAIT", 5)
    monkeypatch.setattr(login, "_REST", 0.01)
    told: dict[str, list[int]] = {"/auth/login": [], "/auth/logout": []}
    (mine,) = scopes(["/auth/logout"])
    asked = [*scopes(["/auth/login"] * 20), {**mine, "headers": [cookie]}]

    async def ask(door, scope):
        async def note_status(message):
            told[scope["path"]] += [message["status"]] if "status" in message else []

        await door(scope, heard, note_status)

    async def all_ask():
        door = LogInDoor(PlainTextResponse("inside"))
        await asyncio.gather(*(ask(door, scope) for scope in asked))

    run_apart(all_ask())
    assert told["/auth/logout"] == [200]
    assert told["/auth/login"].count(503) == 8  # 8 had a turn, 4 waited beside the colleague
    assert let_in._key(cookie[1]) not in let_in._owners


def test_more_cookies_than_browsers_send_are_not_read(client, monkeypatch):
    come_as(client, ADA)
    mine = f"_streamlit_user={client.cookies['_streamlit_user']}"
    for more, inside in ((199, True), (200, False)):
        client.cookies.clear()
        answer = client.get("/", headers={"cookie": "; ".join([mine, *["a=b"] * more])})
        assert (answer.text == "inside") is inside
        assert answer.status_code == (200 if inside else 431)
        for path in ("/auth/logout", "/healthz"):
            answer = client.get(path, headers={"cookie": "; ".join([mine, *["a=b"] * more])})
            assert (answer.status_code == 431) is not inside
        access._ended.clear()


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/auth/login"])
def test_cookies_that_take_long_to_read_are_none(client, path, monkeypatch):
    """Python's reading of escapes is quadratic in some versions: 15 KB took a third of a second."""
    unquoted = []
    plain = http.cookies._unquote
    monkeypatch.setattr(http.cookies, "_unquote", lambda text: unquoted.append(text) or plain(text))
    come_as(client, ADA)
    mine = f"_streamlit_user={client.cookies['_streamlit_user']}"
    client.cookies.clear()
    slow = 'a="' + '\\"' * 7000 + '"'
    assert client.get(path, headers={"cookie": f"{slow}; {mine}"}).status_code == 200
    assert slow[2:] not in unquoted
    assert not any("\\" in text for text in unquoted)


def test_a_visitor_gets_so_many_answers_at_once(client):
    """Who reads none of a file of megabytes would have it kept for each connection."""
    inside = []

    async def unread(scope, receive, send):
        inside.append(scope[OWNER])
        await asyncio.sleep(300)

    def asking(who: dict, count: int) -> list[dict]:
        come_as(client, who)
        cookie = f"_streamlit_user={client.cookies['_streamlit_user']}".encode()
        return [scope | {"headers": [(b"cookie", cookie)]} for scope in scopes(["/x"] * count)]

    async def many():
        door = LogInDoor(unread)
        asked = asking(ADA, 40) + asking(ADA | {"sub": "2"}, 3)
        await cut_short(door, asked, sent)

    run_apart(many())
    assert sorted(map(inside.count, set(inside))) == [3, 16]


def test_a_visitor_s_requests_wait_so_many(client, monkeypatch):
    """Eight thousand, with all their headers, took 2.8 GB and others a minute."""
    monkeypatch.setattr(answers, "_WAIT", 5)
    told: list[int] = []

    async def unread(scope, receive, send):
        await asyncio.sleep(300)

    async def note_status(message):
        told.append(message.get("status", 0))

    come_as(client, ADA)
    cookie = f"_streamlit_user={client.cookies['_streamlit_user']}".encode()

    async def many():
        door = LogInDoor(unread)
        asked = [scope | {"headers": [(b"cookie", cookie)]} for scope in scopes(["/x"] * 30)]
        await cut_short(door, asked, note_status, 0.05)

    run_apart(many())
    assert told.count(503) == 30 - 16 - 5
