"""Of who waits for a turn it is known when they leave."""

import asyncio
import gc
from contextlib import suppress

import pytest
from uvicorn.protocols.http.h11_impl import RequestResponseCycle

from kgdash.serving import reading
from kgdash.serving.connections import waiting
from kgdash.serving.pace import Gone, Turns
from kgdash.serving.waiting import left_of
from tests.support.own_loop import run_apart
from tests.support.served import read_unhurriedly, served

pytestmark = pytest.mark.usefixtures("unhurried")


def in_turn(turns: Turns, gone: list):
    """Return an app that waits for a turn, and notes who has left before it."""

    async def app(scope, receive, send) -> None:
        try:
            async with turns.turn(["a"], left_of(scope)):
                pass
        except Gone:
            gone.append(scope["path"])

    return app


@pytest.mark.parametrize("together", [True, False])
def test_nobody_waits_for_a_turn_who_sends_the_next_request(monkeypatch, together):
    """uvicorn reads nothing behind that: of who left then nobody learned while they waited."""
    read_unhurriedly(monkeypatch, longest=1000, asks_log_in=True)
    turns, gone = Turns(0, 0, 60, 9), []

    async def come() -> None:
        async with served(in_turn(turns, gone)) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            first, following = (b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % n for n in (1, 2))
            writer.write(first + following * together)
            while not turns._waiting.count and not together:
                await asyncio.sleep(0)
            writer.write(following)
            async with asyncio.timeout(30):
                with suppress(ConnectionResetError):
                    assert await reader.read() == b""
                while turns._waiting.count:
                    await asyncio.sleep(0.01)
            writer.close()

    run_apart(come())
    assert set(gone) <= {"/1"}


@pytest.mark.parametrize(("size", "ends"), [(10_000, False), (150_000, True)])
def test_a_body_is_read_on_while_its_request_waits_for_a_turn(size, ends):
    """uvicorn read no more of 150 KB: who had left filled the turns, 12 of 14 were sent away."""
    turns, gone = Turns(0, 0, 60, 9), []

    async def come() -> None:
        async with served(in_turn(turns, gone)) as port:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
            while not turns._waiting.count:
                await asyncio.sleep(0)
            writer.write(b"a" * size)
            async with asyncio.timeout(30):
                while ends and not gone:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.1)
                assert bool(gone) == ends
                writer.transport.abort()
                while not gone:
                    await asyncio.sleep(0.01)

    run_apart(come())
    assert not turns._waiting.count


def test_a_server_that_ends_waits_for_nobody_s_turn(monkeypatch):
    """A thousand strangers who waited for theirs kept a server that restarted for 29 s."""
    turns, gone = Turns(0, 0, 60, 9), []
    made = reading.UnhurriedHTTP.connection_made
    protocols = []
    monkeypatch.setattr(
        reading.UnhurriedHTTP, "connection_made", lambda *a: protocols.append(a[0]) or made(*a)
    )

    async def come() -> None:
        async with served(in_turn(turns, gone)) as port:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            while not turns._waiting.count:
                await asyncio.sleep(0)
            protocols[0].shutdown()
            async with asyncio.timeout(30):
                while not gone:
                    await asyncio.sleep(0.01)
            writer.close()

    run_apart(come())


@pytest.mark.parametrize("begins", [True, False])
def test_nothing_is_left_in_circles_of_who_left_while_they_waited(monkeypatch, begins):
    """Python looked through all connections every 2 s for what had ended, 0.4 s of all's time."""
    read_unhurriedly(monkeypatch, longest=1000, asks_log_in=True)
    turns, gone = Turns(0, 0, 60, 9), []
    if not begins:
        monkeypatch.setattr(reading.UnhurriedHTTP.strangers.beginning, "_go", lambda: None)

    async def come() -> None:
        async with served(in_turn(turns, gone)) as port, asyncio.timeout(30):
            gc.collect()
            for _ in range(3):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                while not (turns._waiting.count if begins else waiting):
                    await asyncio.sleep(0)
                writer.close()
                while turns._waiting.count or waiting:
                    await asyncio.sleep(0)
            await asyncio.sleep(0.05)
            kinds = (reading.UnhurriedHTTP, RequestResponseCycle)
            assert not [each for each in gc.get_objects() if issubclass(type(each), kinds)]

    gc.disable()
    try:
        run_apart(come())
    finally:
        gc.enable()
    assert len(gone) == 3 * begins
