"""A request is the same, and waits in the same line, however it is cut."""

import asyncio
import itertools
import random
import socket

import pytest

from kgdash.serving import let_in, reading
from tests.support.own_loop import run_apart
from tests.support.served import at_once, ok, read_unhurriedly, served

pytestmark = pytest.mark.usefixtures("unhurried")


async def unpacked(port):
    """Connect, and send each piece as it is written."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    plain = writer.transport.get_extra_info("socket")
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return reader, writer


@pytest.mark.parametrize("size", [1, 100, 4096])
def test_a_head_waits_in_the_line_of_who_asks_however_it_is_cut(monkeypatch, size):
    """Caddy sends 4,096 bytes of headers by their names: long cookies come before who asks."""
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    put, goes = [], reading.UnhurriedHTTP.strangers.beginning
    monkeypatch.setattr(
        goes, "put", lambda asker, go, put_=goes.put: put.append(asker) or put_(asker, go)
    )
    told = b"Cookie: " + b"a" * 6000 + b"\r\nX-Forwarded-For: 10.1.2.3\r\nZ: b\r\n\r\n"
    head = b"GET / HTTP/1.1\r\nHost: a\r\n" + told

    async def come() -> None:
        async with served(ok) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(2):
                for start in range(0, len(head), size):
                    writer.write(head[start : start + size])
                    await asyncio.sleep(0)
                assert b"204" in await reader.readuntil(b"\r\n\r\n")
                assert put.pop()[-1] == "10.1.2.3"
                assert bool(put) == (size < 4096)
                assert {asker[-1] for asker in put} <= {"127.0.0.1"}
                put.clear()
            writer.close()

    run_apart(come())


@pytest.mark.parametrize("early", [True, False])
def test_an_upload_whose_head_comes_in_pieces_is_a_visitor_s(monkeypatch, early):
    """It waited with strangers where the seventh piece ended no head, and ended with its body."""
    read_unhurriedly(monkeypatch, longest=1000, asks_log_in=True)
    let_in.note_log_in(b"_streamlit_user=ann", "ann")
    goes, heard = reading.UnhurriedHTTP.strangers.beginning, []
    go = goes._go
    monkeypatch.setattr(goes, "_go", lambda: None)
    cookie, other = b"Cookie: _streamlit_user=ann\r\n", b"A: b\r\n"
    lines = [other] * 9
    lines[1 if early else 8] = cookie

    async def app(scope, receive, send) -> None:
        while (message := await receive()).get("more_body"):
            heard.append(len(message["body"]))
        heard.append(len(message["body"]))
        await at_once(scope, receive, send)

    async def come() -> None:
        async with served(app) as port:
            reader, writer = await unpacked(port)
            first = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n"
            for piece in [first, *lines]:
                writer.write(piece)
                await asyncio.sleep(0.01)
            writer.write(b"\r\n" + b"a" * 90_000)
            await asyncio.sleep(0.1)
            assert goes._waiting.count == (not early)
            go()
            async with asyncio.timeout(30):
                assert b"204" in await reader.readuntil(b"\r\n\r\n")
            writer.close()

    run_apart(come())
    assert sum(heard) == 90_000


@pytest.mark.parametrize("asks_log_in", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_a_request_is_one_however_it_is_cut(monkeypatch, seed, asks_log_in):
    """The eighth part of a head whose seventh waited was a request that the proxy had not sent."""
    read_unhurriedly(monkeypatch, longest=1000, asks_log_in=asks_log_in)
    asked, goes, chance = [], reading.UnhurriedHTTP.strangers.beginning, random.Random(seed)
    go = goes._go
    monkeypatch.setattr(goes, "_go", lambda: None)
    inner = b"GET /two HTTP/1.1"
    sent = b"POST /one HTTP/1.1\r\nA: " + inner + b"\r\nHost: a\r\nContent-Length: 21\r\n\r\n"
    sent += inner + b"\r\n\r\n"
    cuts = sorted(chance.sample(range(1, len(sent)), 9))
    cuts[7] = max(cuts[6] + 1, sent.index(inner)) if seed % 2 else cuts[7]
    edges = [0, *sorted(set(cuts)), len(sent)]

    async def app(scope, receive, send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        asked.append((scope["path"], dict(scope["headers"]).get(b"a"), body))
        await at_once(scope, receive, send)

    async def come() -> None:
        async with served(app) as port:
            reader, writer = await unpacked(port)
            for start, end in itertools.pairwise(edges):
                writer.write(sent[start:end])
                await asyncio.sleep(0.01)
                if chance.random() < 0.1:
                    go()
            async with asyncio.timeout(30):
                while not asked:
                    go()
                    await asyncio.sleep(0.01)
                assert b"204" in await reader.readuntil(b"\r\n\r\n")
            go()
            await asyncio.sleep(0.01)
            writer.close()

    run_apart(come())
    assert asked == [("/one", inner, inner + b"\r\n\r\n")]
