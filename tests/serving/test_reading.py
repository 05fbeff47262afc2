"""What is read of strangers costs little, and in turn; others are answered meanwhile."""

import asyncio
import itertools
from collections import OrderedDict
from contextlib import suppress
from functools import partial

import pytest

from kgdash.serving import connections, let_in, reading
from kgdash.serving.pace import Goes
from tests.support.own_loop import run_apart
from tests.support.served import answer_to, at_once, ok, read_unhurriedly, served

pytestmark = pytest.mark.usefixtures("unhurried")


def noted(put, wait, *given):
    put.append(1)
    wait(*given)


def test_requests_begin_few_at_one_go_and_networks_go_round():
    """Of 8,000 open connections that asked at once all were read before anybody else: 24 s."""
    begun, goes = [], [0]

    async def noted(scope, receive, send) -> None:
        begun.append(scope["path"])
        await ok(scope, receive, send)

    async def come() -> None:
        async with served(noted) as port:
            many = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
            own = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.2", 0))
            for number, (_, writer) in enumerate([*many, own]):
                writer.write(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % number)
            while len(begun) < 101:
                await asyncio.sleep(0)
                goes.append(len(begun))
            for reader, writer in [*many, own]:
                assert b"204" in await reader.readline()
                writer.close()

    run_apart(come())
    assert max(after - before for before, after in itertools.pairwise(goes)) <= 8
    assert begun.index("/100") < 30


def test_strangers_keep_nobody_waiting_who_is_logged_in(monkeypatch):
    """WebSockets without log-in, of 250 networks, kept a page of sixty files waiting for 21 s."""
    read_unhurriedly(monkeypatch, longest=1000, asks_log_in=True)
    monkeypatch.setattr(let_in, "_owners", OrderedDict())
    let_in.note_log_in(b"_streamlit_user=mine", "ada")
    strangers = Goes(2, 60.0)
    lines = reading.UnhurriedHTTP.strangers._replace(beginning=strangers)
    monkeypatch.setattr(reading.UnhurriedHTTP, "strangers", lines)

    async def come() -> None:
        async with served(ok) as port:
            many = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
            for _, writer in many:
                writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nCookie: _streamlit_user=his\r\n\r\n")
            while strangers._waiting.count < 18:
                await asyncio.sleep(0)
            mine = b"GET / HTTP/1.1\r\nHost: a\r\nCookie: a=b; _streamlit_user=mine\r\n\r\n"
            async with asyncio.timeout(30):
                for _ in range(20):
                    assert b"204" in await answer_to(port, mine)
            assert strangers._waiting.count == 18
            for _, writer in many:
                writer.close()

    run_apart(come())


def test_so_do_those_behind_a_body_that_nobody_waits_for(monkeypatch):
    """4,000 such requests of 1,900 lines each kept an open page waiting for 34 s."""
    put, heard = [], []
    for goes in reading.UnhurriedHTTP.strangers:
        monkeypatch.setattr(goes, "put", partial(noted, put, goes.put))

    async def refuses(scope, receive, send) -> None:
        heard.append(scope["path"])
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def come() -> None:
        async with served(refuses) as port:
            for lines, status in ((9, b"204"), (1900, b"400")):
                reader, writer = await asyncio.open_connection("localhost", port)
                writer.write(b"POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n")
                assert b"204" in await reader.readuntil(b"\r\n\r\n")
                begun = len(put)
                writer.write(b"abc")
                while len(put) == begun:
                    await asyncio.sleep(0)
                begun = len(put)
                writer.write(b"dGET /next HTTP/1.1\r\nHost: a\r\n" + b"a:\r\n" * lines + b"\r\n")
                async with asyncio.timeout(30):
                    assert status in await reader.readline()
                assert len(put) > begun
                writer.close()

    run_apart(come())
    assert heard == ["/first", "/next", "/first"]


@pytest.mark.parametrize(("answered", "turns"), [(True, 3), (False, 1)])
def test_parts_of_a_body_come_at_once_where_they_are_worth_it(monkeypatch, answered, turns):
    """8,000 connections that sent a byte after the answer kept an open page waiting for 18 s."""
    put, sizes = [], (1, 4000, 1)
    for goes in reading.UnhurriedHTTP.strangers:
        monkeypatch.setattr(goes, "put", partial(noted, put, goes.put))

    async def come() -> None:
        async with served(at_once if answered else ok) as port:
            reader, writer = await asyncio.open_connection("localhost", port)
            start = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
            writer.write(start % sum(sizes))
            await asyncio.sleep(0.05)
            begun = len(put)
            for size in sizes:
                writer.write(b"a" * size)
                await asyncio.sleep(0.05)
            assert len(put) - begun == turns
            writer.write(start % 0)
            async with asyncio.timeout(30):
                for _ in range(2):
                    assert b"204" in await reader.readuntil(b"\r\n\r\n")
            writer.close()

    run_apart(come())


@pytest.mark.parametrize("leaves", [True, False])
def test_what_has_ended_waits_no_more(monkeypatch, leaves):
    """Heads of 16 KB of 1,800 connections a second, each ended at once, took 3.3 GB in 95 s.

    Of those who asked and left nobody learned before their turn: 13 of 14 newcomers got 502.
    """
    goes = reading.UnhurriedHTTP.strangers.beginning
    monkeypatch.setattr(goes, "_go", lambda: None)

    async def come() -> list[int]:
        async with served(ok) as port:
            writers = []
            for number in range(3):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                writers.append(writer)
                while goes._waiting.count == number:
                    await asyncio.sleep(0)
            counts = [goes._waiting.count]
            for end in (2, 1):
                if leaves:
                    for writer in [writers.pop() for _ in range(end)]:
                        writer.transport.abort()
                else:
                    connections.end_some(end)
                async with asyncio.timeout(30):
                    while goes._waiting.count == counts[-1]:
                        await asyncio.sleep(0.01)
                    await asyncio.sleep(0.05)
                counts.append(goes._waiting.count)
            for writer in writers:
                writer.close()
            return counts

    assert run_apart(come()) == [3, 1, 0]
    assert not connections.waiting


@pytest.mark.parametrize(("size", "ends"), [(10_000, False), (60_000, True)])
def test_a_stranger_who_waits_is_read_on(monkeypatch, size, ends):
    """Of who sent a piece of a body behind nobody learned that they had left: 502 for 11 of 14."""
    read_unhurriedly(monkeypatch, longest=1000, asks_log_in=True)
    goes = reading.UnhurriedHTTP.strangers.beginning
    monkeypatch.setattr(goes, "_go", lambda: None)

    async def come() -> None:
        async with served(ok) as port:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n")
            while not goes._waiting.count:
                await asyncio.sleep(0)
            writer.write(b"a" * size)
            await asyncio.sleep(0.1)
            assert goes._waiting.count == (not ends)
            if not ends:
                writer.transport.abort()
                async with asyncio.timeout(30):
                    while goes._waiting.count:
                        await asyncio.sleep(0.01)
            writer.close()

    run_apart(come())
    assert not connections.waiting


def test_what_comes_while_a_request_waits_is_read_after_it(monkeypatch):
    heard, goes = [], reading.UnhurriedHTTP.strangers.beginning
    go = goes._go
    monkeypatch.setattr(goes, "_go", lambda: None)

    async def app(scope, receive, send) -> None:
        message = {"more_body": True}
        while message.get("more_body"):
            message = await receive()
            heard.append(message["body"])
        await at_once(scope, receive, send)

    async def come() -> None:
        async with served(app) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n")
            while not goes._waiting.count:
                await asyncio.sleep(0)
            writer.write(b"abc" * 100_000)
            await asyncio.sleep(0.05)
            (one,) = connections.waiting
            assert 0 < len(one._behind) <= 2**13
            assert reading.UnhurriedHTTP.strangers is reading.UnhurriedHTTP.visitors
            go()
            async with asyncio.timeout(30):
                assert b"204" in await reader.readuntil(b"\r\n\r\n")
            writer.close()

    run_apart(come())
    assert b"".join(heard) == b"abc" * 100_000


def test_parts_of_bodies_keep_no_request_waiting(monkeypatch):
    """Of 500 connections that send a byte at a time a page of sixty files took 12 s."""
    begun = []
    lines = reading.UnhurriedHTTP.strangers
    monkeypatch.setattr(reading.UnhurriedHTTP, "strangers", lines._replace(dripping=Goes(1, 60.0)))

    async def app(scope, receive, send) -> None:
        begun.append(scope["path"])
        await ok(scope, receive, send)

    async def come() -> None:
        async with served(app) as port:
            writers = []
            for _ in range(3):
                _, writer = await asyncio.open_connection("localhost", port)
                writer.write(b"POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
                writers.append(writer)
            while len(begun) < 3:
                await asyncio.sleep(0.01)
            for writer in writers:
                writer.write(b"a")
            async with asyncio.timeout(30):
                assert b"204" in await answer_to(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            for writer in writers:
                writer.close()

    run_apart(come())


@pytest.mark.parametrize(("size", "ends"), [(2**16, False), (2**20, True)])
def test_much_of_a_body_after_the_answer_ends_the_connection(monkeypatch, size, ends):
    """Of 5,000 bodies of 60 MB the rest was read for minutes, in the line of all who ask."""
    monkeypatch.setattr(reading, "_SOON", 0.2)

    async def come() -> None:
        async with served(at_once) as port:
            reader, writer = await asyncio.open_connection("localhost", port)
            start = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
            writer.write(start % size)
            async with asyncio.timeout(30):
                assert b"204" in await reader.readuntil(b"\r\n\r\n")
                writer.write(b"a" * size)
                if ends:
                    with suppress(ConnectionError):
                        assert not await reader.read(), "no more than the answer"
                else:
                    writer.write(start % 0)
                    assert b"204" in await reader.readuntil(b"\r\n\r\n")
            writer.close()

    run_apart(come())


def test_a_request_that_fails_ends_its_connection_alone(monkeypatch):
    class Odd(reading.UnhurriedHTTP):
        def _hear(self, data: bytes) -> None:
            if b"/odd" in data:
                raise ValueError("odd")
            super()._hear(data)

    monkeypatch.setattr(reading, "UnhurriedHTTP", Odd)

    async def come() -> None:
        async with served(ok) as port:
            for _ in range(2):
                odd = await answer_to(port, b"GET /odd HTTP/1.1\r\nHost: a\r\n\r\n")
                assert odd == b""
                assert b"204" in await answer_to(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")

    run_apart(come())


def test_who_asks_before_the_answer_gets_no_second_one():
    """Its headers were taken apart unmeasured: 2,000 lines each, on connections that never rest."""
    request = b"GET / HTTP/1.1\r\nHost: a\r\n"
    more = request + b"a:\r\n" * 2000 + b"\r\n"

    async def come() -> None:
        async with served(ok) as port:
            for body in (b"", b"Content-Length: 3\r\n\r\nabc"):
                reader, writer = await asyncio.open_connection("localhost", port)
                writer.write(request + (body or b"\r\n") + more)
                async with asyncio.timeout(30):
                    assert (await reader.read()).count(b"HTTP/1.1 204") == 1
                writer.close()

    run_apart(come())
