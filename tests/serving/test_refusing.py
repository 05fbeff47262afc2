"""What is no request is refused, few times a second, and its connection ends."""

import asyncio
import time

from kgdash.serving import connections, reading, refusing
from kgdash.serving.pace import Goes, Pace
from tests.support.own_loop import run_apart
from tests.support.served import answer_to, ok, read_unhurriedly, served


def test_few_are_refused_a_second(monkeypatch):
    """Beside 500 a second of 250 networks a page of sixty files took 6 to 19 s."""
    read_unhurriedly(monkeypatch, longest=1000)
    monkeypatch.setattr(refusing, "_refused", Pace(2, 20.0))
    odd = b"GET /" + b"a" * 1100 + b" HTTP/1.1\r\nHost: a\r\n\r\n"

    async def come() -> None:
        async with served(ok) as port:
            start = time.monotonic()
            waiting = asyncio.gather(*(answer_to(port, odd) for _ in range(8)))
            assert b"204" in await answer_to(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert time.monotonic() - start < 0.25
            assert all(b"400" in line for line in await waiting)
            assert time.monotonic() - start > 0.25
            refusing._refused.take(60)
            _, writer = await asyncio.open_connection("localhost", port)
            writer.write(odd * 2)
            await asyncio.sleep(0.05)
            (one,) = connections.silent
            writer.close()
            await asyncio.sleep(0.05)
            assert one._refusal.cancelled()
            _, writer = await asyncio.open_connection("localhost", port)
            writer.write(odd)
            await asyncio.sleep(0.05)
            (one,) = connections.silent
            one.shutdown()  # as the server ends: h11 would raise
            assert one.transport.is_closing()
            writer.close()
            refusing._refused.take(60)  # a proxy kept 0.65 MB for each that waited a minute
            start = time.monotonic()
            assert b"400" in await answer_to(port, odd)
            assert time.monotonic() - start < 0.5

    run_apart(come())


def test_who_finds_no_place_is_told_so(monkeypatch):
    """A proxy sent each anew that ended without an answer: 2,800 a second for 400, visitors 9 s."""
    read_unhurriedly(monkeypatch, longest=1000, asks_log_in=True)
    line = Goes(1, 60.0, most=2)
    monkeypatch.setattr(line, "_go", lambda: None)
    lines = reading.UnhurriedHTTP.strangers._replace(beginning=line)
    monkeypatch.setattr(reading.UnhurriedHTTP, "strangers", lines)

    async def come() -> None:
        async with served(ok) as port, asyncio.timeout(30):
            writers = []
            for number in range(2):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                writers.append(writer)
                while line._waiting.count <= number:
                    await asyncio.sleep(0)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            told = await reader.read()
            assert told.startswith(b"HTTP/1.1 503 ")
            assert b"\r\nretry-after: " in told
            assert line._waiting.count == len(connections.waiting) == 2
            for each in (*writers, writer):
                each.close()

    run_apart(come())


def test_long_heads_take_no_place_of_short_ones(monkeypatch):
    """Beside 400 connections that ask with 15 KB 2,500 others found none, and asked on at once."""
    read_unhurriedly(monkeypatch, longest=2**14, asks_log_in=True)
    lines = reading.UnhurriedHTTP.strangers
    for line in lines[:2]:
        monkeypatch.setattr(line, "_go", lambda: None)
    monkeypatch.setattr(lines.long, "_most", 1)

    async def come() -> None:
        async with served(ok) as port, asyncio.timeout(30):
            kept = []
            for size, status in ((5000, b""), (5000, b"503"), (10, b""), (10, b"")):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                kept.append(writer)
                writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nX: %s\r\n\r\n" % (b"a" * size))
                if status:
                    assert status in await reader.readline()
                else:
                    count = sum(line._waiting.count for line in lines[:2])
                    while sum(line._waiting.count for line in lines[:2]) == count:
                        await asyncio.sleep(0)
            assert (lines.beginning._waiting.count, lines.long._waiting.count) == (2, 1)

    run_apart(come())
