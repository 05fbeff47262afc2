"""What the server reads of WebSockets: few bytes before they are taken, messages in few pieces."""

import asyncio
from contextlib import suppress

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from tests.support.own_loop import run_apart
from tests.support.served import served

pytestmark = pytest.mark.usefixtures("unhurried")


@pytest.mark.parametrize("more", [b"Content-Length: 1", b"X-Y: 1"])
def test_what_asks_for_a_websocket_and_is_none_is_ended(more):
    """8,200 such connections of a stranger, which nobody answered, locked out everybody new."""

    async def app(scope, receive, send):
        await send({"type": "websocket.accept"})

    async def come() -> bytes:
        async with served(app) as port:
            reader, writer = await asyncio.open_connection("localhost", port)
            asked = [b"GET / HTTP/1.1", b"Host: a", b"Connection: Upgrade", b"Upgrade: websocket"]
            asked += [b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
            writer.write(b"\r\n".join([*asked, more, b"", b""]))
            async with asyncio.timeout(30):
                with suppress(ConnectionError):
                    return await reader.readline()
            return b""

    said = run_apart(come())
    assert (b"101" in said) if more.startswith(b"X") else said == b""


@pytest.mark.parametrize("frame", [bytes([0x82, 0x80, 1, 2, 3, 4]), b"\xff\xff", b"a" * 10_000])
def test_what_comes_before_a_websocket_is_accepted_ends_it(frame, caplog):
    """2,000 of a stranger waited with 1 MB each: pages 10 s, log-ins 33 s, 2 GB that stayed."""
    seen: list[dict] = []

    async def app(scope, receive, send):
        seen.append(await receive())
        seen.append(await receive())

    async def come() -> None:
        async with served(app) as port:
            reader, writer = await asyncio.open_connection("localhost", port)
            asked = [b"GET / HTTP/1.1", b"Host: a", b"Connection: Upgrade", b"Upgrade: websocket"]
            asked += [b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
            writer.write(b"\r\n".join([*asked, b"", b""]))
            async with asyncio.timeout(30):
                while not seen:
                    await asyncio.sleep(0.01)
                writer.write(frame)
                with suppress(ConnectionError):
                    assert await reader.read() == b""
                while len(seen) < 2:
                    await asyncio.sleep(0.01)

    run_apart(come())
    assert [each["type"] for each in seen] == ["websocket.connect", "websocket.disconnect"]
    assert "Traceback" not in caplog.text


def test_messages_have_a_length_and_so_many_pieces():
    async def app(scope, receive, send):
        await send({"type": "websocket.accept"})
        await receive()
        while (message := await receive())["type"] != "websocket.disconnect":
            await send({"type": "websocket.send", "text": str(len(message["bytes"]))})

    async def told(port: int, message, cookie: str = "a") -> str:
        named = {"additional_headers": {"cookie": cookie}, "compression": None}
        async with connect(f"ws://localhost:{port}", **named) as socket:
            await socket.send(message)
            return str(await socket.recv())

    async def come() -> None:
        async with served(app) as port:
            assert await told(port, bytes(1000)) == "1000"
            assert await told(port, [b"a"] * 1000) == "1000"
            # Of a log-in with many groups; it got no answer, and the page said "connecting".
            assert await told(port, bytes(10), cookie="a" * 12_000) == "10"
            for more in (bytes(1001), [b""] * 10_000):
                with pytest.raises(ConnectionClosedError):
                    await told(port, more)

    run_apart(come())
