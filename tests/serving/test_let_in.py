"""Whose log-in it was is remembered by its cookie alone, of so many at most."""

from collections import OrderedDict

import pytest
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from kgdash.serving import let_in
from kgdash.serving.let_in import note_log_in, whose_log_in
from kgdash.serving.pace import Pace


@pytest.fixture(autouse=True)
def _nobody(monkeypatch):
    monkeypatch.setattr(let_in, "_owners", OrderedDict())
    monkeypatch.setattr(let_in, "_ask", [])


def head(*lines: bytes) -> bytes:
    return b"\r\n".join([b"GET / HTTP/1.1", b"Host: a", *lines, b"", b""])


def test_it_is_known_by_its_cookie_whatever_else_a_browser_sends():
    note_log_in(b"a=b; _streamlit_user=first; c", "ada")
    for lines in (
        [b"Cookie: _streamlit_user=first"],
        [b"cookie:  x=y; _streamlit_user=first; z=1"],
        [b"Cookie: a=b", b"Cookie: _streamlit_user=first"],
    ):
        assert whose_log_in(head(*lines)) == "ada"
    for lines in (
        [],
        [b"Cookie: a=_streamlit_user=first"],
        [b"Cookie: x_streamlit_user=first"],
        [b"Cookie: _streamlit_user=second"],
        [b"X-Cookie: _streamlit_user=first"],
        [b"Cookie: _streamlit_user=first; _streamlit_user=second"],
    ):
        assert not whose_log_in(head(*lines))
    assert not whose_log_in(head() + b"\nCookie: _streamlit_user=first\r\n\r\n")


def test_one_visitor_pushes_nobody_out(monkeypatch):
    monkeypatch.setattr(let_in, "_MOST", 40)
    note_log_in(b"_streamlit_user=his", "bob")
    for number in range(200):
        note_log_in(b"_streamlit_user=%d" % number, "ada")
    assert whose_log_in(head(b"Cookie: _streamlit_user=his")) == "bob"
    known = [whose_log_in(head(b"Cookie: _streamlit_user=%d" % number)) for number in range(200)]
    assert known == [""] * 168 + ["ada"] * 32


def test_more_pieces_than_anybody_s_are_nobody_s():
    """A cookie of 16 KB took 0.3 ms before anybody's turn: 1,400 a second kept a page for 10 s."""
    for count, who in ((16, "ada"), (17, "")):
        cookies = b"a=b; " + b"; ".join([b"_streamlit_user=a"] * count)
        note_log_in(cookies, "ada")
        assert whose_log_in(head(b"Cookie: " + cookies)) == who


def test_one_in_pieces():
    pieces = b"_streamlit_user=1; _streamlit_user_1=a; _streamlit_user_2=b"
    note_log_in(pieces, "ada")
    assert whose_log_in(head(b"Cookie: " + pieces)) == "ada"
    assert not whose_log_in(head(b"Cookie: " + pieces[:-1]))


@pytest.mark.parametrize("behind", [rb"\a", rb"a b\c", b"\\"])
def test_pieces_that_are_not_read_are_none(behind):
    """A cookie with a backslash is left out: a log-in that had one beside it was not forgotten."""
    cookie = b"_streamlit_user=first"
    beside = cookie + b"; x=1; _streamlit_user_9=" + behind
    note_log_in(beside, "ada")
    assert whose_log_in(head(b"Cookie: " + cookie)) == "ada"
    note_log_in(cookie, "")
    assert not whose_log_in(head(b"Cookie: " + beside))
    assert not whose_log_in(head(b"Cookie: \\ " + cookie))


def test_who_is_not_let_in_any_more_is_forgotten():
    cookie = b"_streamlit_user=first"
    note_log_in(cookie, "ada")
    note_log_in(cookie, "")
    assert not whose_log_in(head(b"Cookie: " + cookie))


def test_the_latest_are_remembered(monkeypatch):
    monkeypatch.setattr(let_in, "_MOST", 2)
    for number in (0, 1, 0, 2):
        note_log_in(b"_streamlit_user=%d" % number, f"v{number}")
    known = [whose_log_in(head(b"Cookie: _streamlit_user=%d" % number)) for number in range(3)]
    assert known == ["v0", "", "v2"]


def test_where_nobody_is_known_it_is_asked_so_often(monkeypatch):
    """After a restart visitors came back behind all strangers: 18 of 30 not within a minute."""
    monkeypatch.setattr(let_in, "_asked", Pace(3, 0.001))
    asked = []

    def whose(cookies: bytes) -> str:
        asked.append(cookies)
        return "ada" if cookies.endswith(b"good") else ""

    let_in.ask_of(whose)
    for said, who in ((b"good", "ada"), (b"good", "ada"), (b"bad", ""), (b"bad", "")):
        assert whose_log_in(head(b"Cookie: _streamlit_user=" + said)) == who
    assert [cookies.rpartition(b"=")[2] for cookies in asked] == [b"good", b"bad", b"bad"]
    assert not whose_log_in(head(b"Cookie: _streamlit_user=as good"))
    assert not whose_log_in(head(b"Cookie: a=b"))
    assert len(asked) == 3


def test_nobody_without_a_log_in_is_remembered():
    note_log_in(b"a=b", "ada")
    assert not whose_log_in(head(b"Cookie: a=b"))
    assert not whose_log_in(head())


def test_the_cookie_is_streamlit_s():
    note_log_in(f"{USER_COOKIE_NAME}=a".encode(), "ada")
    assert whose_log_in(head(f"Cookie: {USER_COOKIE_NAME}=a".encode())) == "ada"
