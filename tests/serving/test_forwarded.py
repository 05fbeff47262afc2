"""Who comes through a proxy stands in the line of their own network, not in the proxy's."""

import pytest

from kgdash.serving import forwarded, let_in
from kgdash.serving.forwarded import who_asks
from kgdash.serving.pace import Pace
from kgdash.serving.waiting import Waiting

HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"


def asks(head: bytes, peer: str = "127.0.0.1") -> str:
    return who_asks((peer, 5000), head)[-1]


def test_through_a_proxy_here_it_is_who_the_proxy_says(monkeypatch):
    """Twenty HTTP/2 connections of one stranger kept a visitor's page waiting for 8 s."""
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    told = b"X-Forwarded-For: 10.1.2.3\r\n"
    assert asks(HEAD + told + b"\r\n") == "10.1.2.3"
    assert asks(HEAD + told.lower() + b"Cookie: b\r\n\r\nbody") == "10.1.2.3"
    assert asks(HEAD + told + b"\r\n", "10.9.9.9") == "10.9.9.9"
    assert asks(HEAD + b"\r\n") == "127.0.0.1"
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "10.9.0.0/16,::ffff:127.0.0.1")
    assert asks(HEAD + told + b"\r\n", "10.9.9.9") == "10.1.2.3"
    assert asks(HEAD + told + b"\r\n") == "127.0.0.1"
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "172.16.0.0/12,192.168.0.0/16")  # as in deploy
    assert asks(HEAD + told.replace(b"10.1.", b"192.168.") + b"\r\n", "172.18.0.3") == "192.168.2.3"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (b"X-Forwarded-For: 10.6.6.6, 10.1.2.3\r\n\r\n", "10.1.2.3"),
        (b"X-Forwarded-For: 10.6.6.6\r\nX-Forwarded-For: 10.1.2.3\r\n\r\n", "10.1.2.3"),
        (
            b"X-Forwarded-For: 10.1.2.3, 127.0.0.1\r\n\r\n\r\nX-Forwarded-For: 10.6.6.6\r\n",
            "10.1.2.3",
        ),
        (b"A: b X-Forwarded-For: 10.6.6.6\r\n\r\n", "127.0.0.1"),
        (b"X-Forwarded-For: \xff\r\n\r\n", ""),
        (b"X-Forwarded-For: " + b"127.0.0.2," * 60 + b"10.1.2.3\r\n\r\n", "127.0.0.1"),
        (b"X-Forwarded-For: unknown\r\n\r\n", ""),
        (b"X-Forwarded-For: 10.1.2.3:4567\r\n\r\n", "10.1.2.3"),
        (b"X-Forwarded-For: [2001:db8::1]:443\r\n\r\n", "2001:0db8:0000:0000"),
    ],
)
def test_nobody_says_it_in_the_proxy_s_place(more, expected, monkeypatch):
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    assert asks(HEAD + more) == expected


def test_a_proxy_that_nobody_has_named_is_told_of_once(monkeypatch, caplog):
    """All who came through one elsewhere were one: a stranger's flood kept the others out."""
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    monkeypatch.setattr(forwarded, "_told", Pace(1, 1 / 86_400))
    told = HEAD + b"X-Forwarded-For: 10.1.2.3\r\n\r\n"
    for head, peer in ((told, "127.0.0.1"), (HEAD + b"\r\n" + told, "10.9.9.9")):
        asks(head, peer)
    assert not caplog.messages
    for peer in ("10.9.9.9", "10.9.9.9", "10.8.8.8"):
        assert asks(told, peer) == peer
    (message,) = caplog.messages
    assert message.startswith("10.9.9.9 ")
    assert "FORWARDED_ALLOW_IPS" in message


def test_a_connection_may_have_no_address(monkeypatch):
    monkeypatch.setattr(let_in, "_networks", {})
    assert who_asks(None, HEAD) == ("", "")


@pytest.mark.parametrize("more", [b"", b"X-Forwarded-For: 10.1.2.3\r\n"])
def test_what_another_s_page_takes_waits_behind_all_else_of_its_address(more, monkeypatch):
    """Thousands of requests of one that was open somewhere came before a log-in from there."""
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    peer, waiting = ("127.0.0.1", 5000), Waiting[int]()
    lines = [
        b"SEC-FETCH-SITE:cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: empty",
        b"sec-fetch-dest: iframe\r\nsec-fetch-mode: navigate\r\nsec-fetch-site: same-site",
        b"sec-fetch-dest: document\r\nsec-fetch-mode: navigate\r\nsec-fetch-site: cross-site",
        b"Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty",
        b"Sec-Fetch-Site: none\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: empty",
        b"Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: empty",
        b"Accept: */*\r\n\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors",
    ]
    for number, line in enumerate(lines):
        waiting.put(who_asks(peer, HEAD + more + line + b"\r\n\r\n"), number)
    assert [waiting.first() for _ in lines] == [2, 3, 5, 6, 0, 1, 4]
