"""Heads of requests have an end, bounds, and tell the length of what follows."""

import asyncio

import h11
import pytest

from kgdash.serving import reading
from tests.support.own_loop import run_apart
from tests.support.served import answer_to, ok, served

#: a byte each
CHUNKS = b"1\r\na\r\n" * 100_000


pytestmark = pytest.mark.usefixtures("unhurried")


def test_a_body_has_its_length():
    start = b"POST / HTTP/1.1\r\nHost: a\r\n"

    async def come() -> None:
        async with served(ok) as port:
            assert b"204" in await answer_to(port, start + b"Content-Length: 3\r\n\r\nabc")
            for name in (b"Transfer-Encoding", b"transfer-ENCODING"):
                chunked = start + name + b": chunked\r\n\r\n" + CHUNKS
                assert b"400" in await answer_to(port, chunked)

    run_apart(come())


def test_a_path_is_short():
    """Those of 15 KB of percent signs took the loop a hundredth of a second each."""

    async def come() -> None:
        async with served(ok) as port:
            for path, status in ((b"%" * 1023, b"204"), (b"%" * 1024, b"400")):
                for query in (b"", b"?a=" + b"%" * 5000):
                    line = b"GET /" + path + query + b" HTTP/1.1\r\nHost: a\r\n\r\n"
                    assert status in await answer_to(port, line)

    run_apart(come())


@pytest.mark.parametrize(
    ("name", "most"),
    [
        *[(b"Connection", 510), (b"Sec-WebSocket-Protocol", 510), (b"sec-websocket-x", 510)],
        *[(b"Content-Type", 1020), (b"accept", 1020), (b"If-None-Match", 1020), (b"Range", 1020)],
        (b"X-Forwarded-For", 510),
    ],
)
def test_what_is_taken_apart_word_by_word_is_short(name, most):
    """Words of 15 KB took the loop a hundredth of a second each, and three of a Content-Type."""
    start = b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n"

    async def come() -> None:
        async with served(ok) as port:
            for words, status in (
                (b"," * (most - 10), b"204"),
                (b"," * (most + 10), b"400"),
                (b"a," * 7500, b"400"),
            ):
                line = start + name + b": a" + words + b"\r\n\r\n"
                assert status in await answer_to(port, line)

    run_apart(come())


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\nHost: a\n\n", b"204"),
        (b"\x16\x03\x01", b"400"),  # TLS
        (b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nB: " + b"b" * 17_000, b"400"),
        (b"CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n", b"400"),
        (b"HEAD /" + b"a" * 1100 + b" HTTP/1.1\r\nHost: a\r\n\r\n", b"400"),
    ],
)
def test_a_head_ends_or_is_refused(sent, status, monkeypatch):
    """The answers to HEAD and CONNECT raised, a traceback for each, and ended the go of eight."""
    raised = []
    monkeypatch.setattr(reading, "make_room", lambda _, about: raised.append(about))

    async def come() -> None:
        async with served(ok) as port:
            assert status in await answer_to(port, sent)

    run_apart(come())
    assert not raised


def test_a_request_has_so_many_headers():
    start, pairs = b"GET / HTTP/1.1\r\nHost: a\r\n", [b"a%x: b\r\n" % n for n in range(127)]

    async def come() -> None:
        async with served(ok) as port:
            assert b"204" in await answer_to(port, start + b"".join(pairs) + b"\r\n")
            for more in ([b"c: d\r\n"], [b"c: d\r\n"] * 3000):
                assert b"400" in await answer_to(port, start + b"".join(pairs + more) + b"\r\n")
            reader, writer = await asyncio.open_connection("localhost", port)
            for _ in range(3):  # one after another on one connection, a body of many lines between
                writer.write(start + b"Content-Length: 999\r\n\r\n" + b"\n" * 999)
                assert b"204" in await reader.readline()
                await reader.readuntil(b"\r\n\r\n")
            writer.close()

    run_apart(come())


@pytest.mark.parametrize(
    ("lines", "cut"),
    [
        *((b"a:\r\n" * 3000, cut) for cut in (1, 8)),
        *((b"traiLer: " + b"a," * 6000 + b"\r\n", cut) for cut in (1, 8)),
        (b"Transfer-Encoding: x\r\n", 1),
    ],
)
def test_a_head_like_nobody_s_waits_in_no_line(lines, cut, monkeypatch):
    """A proxy kept 0.65 MB of each meanwhile, 2 of many trailers: 5.4 GB in a minute."""
    monkeypatch.setattr(reading.UnhurriedHTTP.strangers.beginning, "_go", lambda: None)
    head = b"GET / HTTP/1.1\r\nHost: a\r\n" + lines

    async def come() -> None:
        async with served(ok) as port:
            reader, writer = await asyncio.open_connection("localhost", port)
            size = len(head) // cut + 1
            for start in range(0, len(head), size):
                writer.write(head[start : start + size])
                await asyncio.sleep(0.01)
            writer.write(b"\r\n" if cut == 1 else b"")
            assert b"400" in await asyncio.wait_for(reader.read(), 30)
            writer.close()

    run_apart(come())


def test_chunks_of_new_connections_are_not_taken_apart(monkeypatch):
    events = []
    plain = h11.Connection.next_event

    def counted(connection):
        events.append(plain(connection))
        return events[-1]

    monkeypatch.setattr(h11.Connection, "next_event", counted)

    async def come() -> None:
        async with served(ok) as port:
            start = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            for _ in range(5):
                await answer_to(port, start + CHUNKS[:6000])

    run_apart(come())
    assert not events
