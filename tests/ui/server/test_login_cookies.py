"""Pieces of several log-ins make none; one comes back to where one wanted, and nowhere else."""

import json
import random
import re
import string
import time
from html import unescape

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.auth_util import set_cookie_with_chunks
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from kgdash.serving.settings import SETTING
from kgdash.ui.server import login, login_cookies
from kgdash.ui.server.login import LogInDoor
from kgdash.ui.server.login_cookies import SEAL, WANTED
from tests.support.servers import SECRETS, write_settings

SECRET = SECRETS["cookie_secret"]
NAME = "_streamlit_user"
NOW = int(time.time())
DRAWN = random.Random(1)


def noise(length: int) -> str:
    """Draw letters that no cookie can be made shorter by."""
    return "".join(DRAWN.choices(string.ascii_letters + string.digits, k=length))


GROUPS = [noise(20) for _ in range(60)]


def said(given: str = "", family: str = "", email: str = "eve@example.org") -> dict:
    """Return claims of a provider that lets people choose their names."""
    about = {"iss": "https://id.example.org", "iat": NOW, "sub": "2"}
    names = {"given_name": given, "family_name": family, "email": email}
    kept = {"origin": "https://kg.example.org", "is_logged_in": True, "provider": "default"}
    return about | names | {"email_verified": True, "groups": GROUPS} | kept


def pieces(claims: dict) -> dict[str, str]:
    """Return the cookies that Streamlit makes of claims, before they are signed."""
    made: dict[str, str] = {}
    set_cookie_with_chunks(made.__setitem__, sign, NAME, claims, cookie_attr_size=60)
    return made


def sign(name: str, value: str) -> bytes:
    return create_signed_value(SECRET, name, value)


@pytest.fixture
def client(tmp_path, monkeypatch):
    """Return a browser before a server whose provider lets in whom `client.claims` names."""
    monkeypatch.setenv(SETTING, str(write_settings(tmp_path)))
    monkeypatch.setattr(login_cookies, "get_cookie_secret", lambda: SECRET)
    monkeypatch.setattr(login, "generate_login_redirect_url", lambda name: "https://id.example.org")

    async def yes(request):
        return PlainTextResponse("inside")

    async def back(request):
        answer = RedirectResponse("/", 302)
        for name, value in pieces(client.claims).items():
            answer.set_cookie(name, sign(name, value).decode(), httponly=True, samesite="lax")
        return answer

    routes = [Route("/oauth2callback", back), Route("/{path:path}", yes)]
    app = LogInDoor(Starlette(routes=routes))
    client = TestClient(app, "https://kg.example.org", follow_redirects=False)
    return client


def mixed() -> dict[str, str]:
    """Make Ada's log-in of three of Eve's, who is not let in, under names of her choice."""
    size = len(pieces(said(noise(9_000)))[f"{NAME}_1"])
    text = json.dumps(said())
    before = size - text.index("eve@")
    ends_with_key = pieces(said(noise(before)))
    start = noise(size - text.index('", "family_name"'))
    begins_with_ada = pieces(said(start + "ada@example.org", noise(2 * size)))
    ends_as_it_should = pieces(said(noise(before + size)))
    return {
        NAME: "chunks-3",
        f"{NAME}_1": ends_with_key[f"{NAME}_1"],
        f"{NAME}_2": begins_with_ada[f"{NAME}_2"],
        f"{NAME}_3": ends_as_it_should[f"{NAME}_3"],
    }


def header(made: dict[str, str]) -> str:
    return "; ".join(f"{name}={sign(name, value).decode()}" for name, value in made.items())


def test_pieces_of_several_log_ins_are_none(client):
    made = mixed()
    forged = json.loads("".join(made[f"{NAME}_{i}"] for i in (1, 2, 3)))
    assert (forged["email"], forged["email_verified"]) == ("ada@example.org", True)
    assert client.get("/", headers={"cookie": header(made)}).status_code == 401


def test_a_long_log_in_is_one_with_its_seal_alone(client):
    client.claims = said(noise(9_000), email="ada@example.org")
    client.get("/oauth2callback")
    assert len([name for name in client.cookies if name.startswith(NAME)]) > 3
    assert client.get("/metrics").text == "inside"
    seal = client.cookies[SEAL]
    client.cookies.delete(SEAL)
    assert client.get("/metrics").status_code == 401
    client.claims = said(noise(9_000), email="ada@example.org")
    client.get("/oauth2callback")
    client.cookies.set(SEAL, seal)
    assert client.get("/metrics").status_code == 401


def test_a_second_header_of_cookies_is_read_as_streamlit_does(client):
    own = header(pieces(said(email="ada@example.org")))
    assert client.get("/", headers={"cookie": own}).text == "inside"
    two = [("cookie", own), ("cookie", header(mixed()))]
    assert client.get("/", headers=two).status_code == 401


@pytest.mark.parametrize("wanted", ["/metrics", "/local?entity=%3Cb%3E&size=12", "/a?q='\"%2f.."])
def test_one_comes_back_to_where_one_wanted_once(client, wanted):
    client.claims = said(email="ada@example.org")
    link = re.search(r'href="([^"]+)"', client.get(wanted).text)
    assert link is not None
    assert client.get(unescape(link[1])).headers["location"] == "https://id.example.org"
    client.get("/oauth2callback")
    back = client.get("/").headers["location"]
    assert client.get(back).text == "inside"
    assert client.get(back).request.url == client.get(wanted).request.url
    assert client.get("/").text == "inside"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "/a\r\nx",
        "/" + "a" * 3_000,
        "",
        "/auth/logout",
        "/%61uth/logout",
        "/log-in?to=/a",
    ],
)
def test_one_comes_back_to_nowhere_else(client, elsewhere):
    client.claims = said(email="ada@example.org")
    client.get("/log-in", params={"to": elsewhere})
    assert WANTED not in client.cookies
    client.get("/oauth2callback")
    assert client.get("/").text == "inside"


def test_only_this_server_says_where_to(client):
    client.claims = said(email="ada@example.org")
    client.get("/oauth2callback")
    client.cookies.set(WANTED, "/metrics")
    assert client.get("/").text == "inside"


def test_it_counts_after_that_log_in_alone(client):
    """A page of a neighbour got one for itself, and had who was logged in led to its address."""
    client.get("/log-in", params={"to": "/metrics"})
    neighbours = client.cookies[WANTED]
    client.cookies.clear()
    client.claims = said(email="ada@example.org")
    client.get("/oauth2callback")
    client.cookies.set(WANTED, neighbours, domain="kg.example.org")
    assert client.get("/").text == "inside"
    client.get("/oauth2callback")
    kept = client.cookies[WANTED]
    client.claims = said(email="ada@example.org") | {"iat": NOW - 1}
    client.cookies.clear()
    client.get("/oauth2callback")
    client.cookies.set(WANTED, kept, domain="kg.example.org")
    assert client.get("/").text == "inside"
