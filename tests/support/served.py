"""Apps served as `kgdash serve` would, in the loop of a test."""

import asyncio
from contextlib import asynccontextmanager

import uvicorn
from uvicorn.config import HTTP_PROTOCOLS, WS_PROTOCOLS
from websockets import http11

from kgdash.serving import reading


@asynccontextmanager
async def served(app):
    """Serve an app and yield the port."""
    config = uvicorn.Config(
        app, port=0, lifespan="off", log_level="critical", ws="websockets-sansio"
    )
    server = uvicorn.Server(config)
    task = asyncio.ensure_future(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = server.force_exit = True
    await task


def read_unhurriedly(monkeypatch, longest: int, asks_log_in: bool = False) -> None:
    """Have servers read as `kgdash serve` does, until the test ends."""
    for protocols in (HTTP_PROTOCOLS, WS_PROTOCOLS):
        for name, value in protocols.items():
            monkeypatch.setitem(protocols, name, value)
    for name in ("Config", "Server"):
        monkeypatch.setattr(uvicorn, name, getattr(uvicorn, name))
    monkeypatch.setattr(http11, "MAX_LINE_LENGTH", http11.MAX_LINE_LENGTH)
    reading.read_unhurriedly(longest, asks_log_in)


async def ok(scope, receive, send):
    message = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def at_once(scope, receive, send) -> None:
    """Answer before a body is read."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def answer_to(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("localhost", port)
    writer.write(request)
    line = await reader.readline()
    writer.close()
    return line
