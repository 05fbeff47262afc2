"""Who has the loop read what costs much rests; others are answered meanwhile."""

import asyncio
import errno
import subprocess
import sys
from contextlib import asynccontextmanager

import h11
import pytest
import uvicorn
from uvicorn.config import HTTP_PROTOCOLS, WS_PROTOCOLS
from websockets import http11
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from kgdash.serving import reading
from kgdash.serving.pace import Pace
from kgdash.serving.reading import Resting
from tests.support.own_loop import run_apart
from tests.support.paths import ROOT

#: a byte each
CHUNKS = b"1\r\na\r\n" * 100_000


class Line:
    """A transport that only knows whether it is read."""

    reads = True

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True


@asynccontextmanager
async def served(app):
    """Serve an app as `kgdash serve` would, in this loop; yield the port."""
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


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch):
    for protocols in (HTTP_PROTOCOLS, WS_PROTOCOLS):
        for name, value in protocols.items():
            monkeypatch.setitem(protocols, name, value)
    monkeypatch.setattr(reading, "_greedy", Pace(0.0, 50.0))
    monkeypatch.setattr(uvicorn, "Config", uvicorn.Config)
    monkeypatch.setattr(http11, "MAX_LINE_LENGTH", http11.MAX_LINE_LENGTH)
    reading.read_unhurriedly(1000)


def test_who_takes_little_never_rests():
    async def read() -> None:
        line = Line()
        for _ in range(9):
            Resting(line).took(0.0029)
        assert line.reads

    run_apart(read())


def test_who_takes_long_rests_whatever_the_protocol_wants():
    async def read() -> None:
        line = Line()
        resting = Resting(line)
        resting.took(1.0)
        assert not line.reads
        resting.resume_reading()
        assert not line.reads
        await asyncio.sleep(0.1)
        assert line.reads
        resting.took(1.0)
        resting.pause_reading()
        await asyncio.sleep(0.1)
        assert not line.reads
        resting.resume_reading()
        assert line.reads

    run_apart(read())


async def ok(scope, receive, send):
    message = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def answer_to(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("localhost", port)
    writer.write(request)
    line = await reader.readline()
    writer.close()
    return line


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


@pytest.mark.parametrize("name", [b"Connection", b"Sec-WebSocket-Protocol", b"sec-websocket-x"])
def test_what_makes_a_request_a_websocket_is_short(name):
    """Words of 15 KB took the loop a hundredth of a second each."""
    start = b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n"

    async def come() -> None:
        async with served(ok) as port:
            for words, status in (
                (b"," * 500, b"204"),
                (b"," * 520, b"400"),
                (b"a," * 7500, b"400"),
            ):
                line = start + name + b": a" + words + b"\r\n\r\n"
                assert status in await answer_to(port, line)

    run_apart(come())


def test_of_too_many_connections_those_that_are_silent_for_longest_are_closed(monkeypatch):
    """Without a file for one more, the loop wrote 2,048 tracebacks a second and answered nobody."""
    monkeypatch.setattr(reading.UnhurriedHTTP, "most", 5)
    request, begun, answered = (
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        asyncio.Event(),
        asyncio.Event(),
    )

    async def waits(scope, receive, send) -> None:
        if scope["path"] == "/slow":
            begun.set()
            await answered.wait()
        await ok(scope, receive, send)

    async def come() -> None:
        async with served(waits) as port:
            slow = await asyncio.open_connection("localhost", port)
            slow[1].write(request.replace(b" / ", b" /slow "))
            await begun.wait()
            silent = [await asyncio.open_connection("localhost", port) for _ in range(4)]
            for _, writer in silent[:2]:
                writer.write(request[:20])  # which never ends
            silent[3][1].write(request)  # is answered, and kept for another request
            assert b"204" in await silent[3][0].readline()
            for number in range(3):
                more = await asyncio.open_connection("localhost", port)
                more[1].write(request)
                assert b"204" in await more[0].readline()
                silent.append(more)
                async with asyncio.timeout(30):
                    assert await silent[number][0].read() == b""
            answered.set()
            assert b"204" in await slow[0].readline()

    run_apart(come())
    assert not reading._silent


def test_connections_are_taken_few_at_one_go(monkeypatch):
    """Of 2,048 that came at once all were taken before anybody was answered: 27 s."""
    goes = []
    plain = asyncio.SelectorEventLoop._accept_connection

    def counted(loop, factory, sock, ssl, server, backlog, *more):
        goes.append(backlog)
        return plain(loop, factory, sock, ssl, server, backlog, *more)

    monkeypatch.setattr(asyncio.SelectorEventLoop, "_accept_connection", counted)

    async def come() -> None:
        async with served(ok) as port:
            assert b"204" in await answer_to(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")

    run_apart(come())
    assert set(goes) == {64}


def test_it_is_told_once_that_no_file_is_left(monkeypatch, caplog):
    """Each connection that waited was a traceback, 1 MB of log a second."""
    monkeypatch.setattr(reading, "_told", Pace(1, 1 / 60))

    async def come() -> None:
        async with served(ok) as port:
            await answer_to(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            loop = asyncio.get_running_loop()
            for error in [OSError(errno.EMFILE, "too many")] * 3 + [OSError(errno.EIO, "disk")] * 2:
                loop.call_exception_handler({"message": "what failed", "exception": error})

    run_apart(come())
    assert [record.exc_info[1].strerror for record in caplog.records if record.exc_info] == [
        "too many",
        "disk",
        "disk",
    ]


def test_as_many_files_may_be_open_as_connections():
    code = (
        "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (100, HARD)); "
        "from kgdash.serving import reading; reading._MOST_OPEN, reading._OTHER_FILES = 400, 100; "
        "reading.read_unhurriedly(1); "
        "print(reading.UnhurriedHTTP.most, *r.getrlimit(r.RLIMIT_NOFILE))"
    )
    for hard, most, files in ((900, 400, 500), (450, 350, 450), (120, 60, 120)):
        named = code.replace("HARD", str(hard))
        said = subprocess.check_output([sys.executable, "-c", named], cwd=ROOT, text=True)
        assert said.split() == [str(most), str(files), str(hard)]


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
    assert len(events) == 5


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
