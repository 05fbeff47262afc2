"""How many connections are taken and stay, and what is told when no files are left for more."""

import asyncio
import errno
import socket
import subprocess
import sys
from collections import OrderedDict
from contextlib import ExitStack, suppress

import pytest
import uvicorn

from kgdash.serving import connections, let_in, reading, resting
from kgdash.serving.pace import Goes, Pace
from tests.support.own_loop import run_apart
from tests.support.paths import ROOT
from tests.support.served import answer_to, ok, read_unhurriedly, served

#: state of a connection that the system has taken, as Linux tells it
ESTABLISHED = 1


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch):
    read_unhurriedly(monkeypatch, longest=1000)


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


@pytest.mark.skipif(not hasattr(socket, "TCP_INFO"), reason="the system does not tell")
def test_those_that_come_meanwhile_are_kept():
    """Of 1,000 a second a tenth was dropped and tried again after a second: files took 3 s."""

    async def come() -> None:
        async with served(ok) as port:
            with ExitStack() as opened:
                for _ in range(300):  # before the loop has taken any
                    each = opened.enter_context(socket.socket())
                    each.setblocking(False)
                    each.connect_ex(("127.0.0.1", port))
                    state = each.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
                    assert state[0] == ESTABLISHED

    run_apart(come())


def test_of_too_many_connections_strangers_that_wait_end_before_silent_ones(monkeypatch):
    """Who asked and left waited on, so that an idle one of a visitor's was the oldest: 502."""
    read_unhurriedly(monkeypatch, longest=1000, asks_log_in=True)
    monkeypatch.setattr(reading.UnhurriedHTTP, "most", 5)
    nobody = Goes(1, 60.0)
    monkeypatch.setattr(nobody, "_go", lambda: None)
    lines = reading.UnhurriedHTTP.strangers._replace(beginning=nobody)
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    async def come() -> None:
        async with served(ok) as port:
            reader, writer = await asyncio.open_connection("localhost", port)
            writer.write(request)
            assert b"204" in await reader.readuntil(b"\r\n\r\n")
            monkeypatch.setattr(reading.UnhurriedHTTP, "strangers", lines)
            others = []
            for number in range(8):
                others.append(await asyncio.open_connection("localhost", port))
                others[-1][1].write(request)
                while len(connections.waiting) < min(number + 1, 4):
                    await asyncio.sleep(0)
            assert len(connections.silent) == 1
            for other, _ in others[:4]:
                assert b"503" in await other.readline()
            writer.write(request.replace(b"Host", b"Cookie: _streamlit_user=mine\r\nHost"))
            async with asyncio.timeout(30):
                assert b"204" in await reader.readuntil(b"\r\n\r\n")
            for _, each in others:
                each.close()
            writer.close()

    monkeypatch.setattr(let_in, "_owners", OrderedDict())
    let_in.note_log_in(b"_streamlit_user=mine", "ada")
    run_apart(come())
    assert not connections.waiting


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
    assert not connections.silent


async def _much(scope, receive, send, mebibytes: int = 16) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(mebibytes):
        await send({"type": "http.response.body", "body": bytes(2**20), "more_body": True})
    await send({"type": "http.response.body"})


def test_nor_do_those_stay_whose_answers_nobody_reads(monkeypatch):
    """8,200 such connections of a stranger locked out everybody else, without a byte more."""
    monkeypatch.setattr(reading.UnhurriedHTTP, "most", 3)
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    async def much(scope, receive, send) -> None:
        await _much(scope, receive, send, 64 * (scope["client"][0] == "127.0.0.2"))

    async def come() -> None:
        async with served(much) as port:
            unread = []
            for _ in range(3):
                local = {"local_addr": ("127.0.0.2", 0), "limit": 1}
                unread.append(await asyncio.open_connection("127.0.0.1", port, **local))
                unread[-1][1].write(request)
                await unread[-1][0].read(1)
            while not all(
                each.flow.write_paused for each in connections.silent | connections.unread
            ):
                await asyncio.sleep(0.01)
            for _ in range(3):
                async with asyncio.timeout(30):
                    assert b"200" in await answer_to(port, request)
            for _, writer in unread:
                writer.transport.abort()

    run_apart(come())


async def at_once(scope, receive, send) -> None:
    length = 2**24 * (scope["path"] == "/much")
    head = [(b"content-length", str(length).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": bytes(length)})


@pytest.mark.parametrize("kept", [b"close", b"keep-alive"])
def test_nor_do_those_that_close_once_their_answer_is_read(monkeypatch, kept):
    """600 of one account, with 100 silent ones a second, left newcomers half of their log-ins."""
    monkeypatch.setattr(reading.UnhurriedHTTP, "most", 3)
    request = b"GET / HTTP/1.1\r\nHost: a\r\n"

    async def come() -> None:
        async with served(at_once) as port:
            unread = []
            for _ in range(3):
                unread.append(await asyncio.open_connection("127.0.0.1", port, limit=1))
                much = request.replace(b" / ", b" /much ") + b"Connection: " + kept + b"\r\n\r\n"
                unread[-1][1].write(much)
                await unread[-1][0].read(1)
            new = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(2):  # who is new stays, and those go
                assert b"200" in await answer_to(port, request + b"\r\n")
            new[1].write(request + b"\r\n")
            async with asyncio.timeout(30):
                assert b"200" in await new[0].readline()
            for _, writer in unread:
                writer.transport.abort()

    run_apart(come())
    assert not connections.silent
    assert not connections.unread
    assert not resting.ending


def test_nor_do_those_that_were_to_be_websockets(monkeypatch):
    """A WebSocket that is refused behind an answer nobody reads ended never, and none counted it.

    8,194 of a stranger left newcomers half of their log-ins.
    """
    monkeypatch.setattr(reading.UnhurriedHTTP, "most", 3)
    request = b"GET / HTTP/1.1\r\nHost: a\r\n"
    upgrade = (
        request + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )

    async def refusing(scope, receive, send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close"})
            return
        await at_once(scope, receive, send)

    async def come() -> None:
        async with served(refusing) as port:
            unread = []
            for _ in range(3):
                unread.append(await asyncio.open_connection("127.0.0.1", port, limit=1))
                unread[-1][1].write(request.replace(b" / ", b" /much ") + b"\r\n")
                await unread[-1][0].read(1)
                unread[-1][1].write(upgrade)
            async with asyncio.timeout(30):
                while len(resting.ending) < 3:
                    await asyncio.sleep(0.01)
            for _ in range(3):
                async with asyncio.timeout(30):
                    assert b"200" in await answer_to(port, request + b"\r\n")
            for _, writer in unread:
                writer.transport.abort()

    run_apart(come())
    assert not resting.ending


def test_the_silent_give_way_where_no_file_is_left(monkeypatch):
    """With 290 tabs, whose sessions have three files each, 8,600 idle ones locked others out."""
    monkeypatch.setattr(connections, "_ROOM", 2)
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    async def come() -> None:
        async with served(ok) as port:
            silent = [await asyncio.open_connection("localhost", port) for _ in range(3)]
            await answer_to(port, request)
            full = OSError(errno.EMFILE, "too many")
            for _ in range(64):  # as asyncio does, in one round of the loop
                about = {"message": "", "exception": full}
                asyncio.get_running_loop().call_exception_handler(about)
            for reader, _ in silent[:2]:
                async with asyncio.timeout(30):
                    with suppress(ConnectionError):
                        assert await reader.read() == b""
            silent[2][1].write(request)
            assert b"204" in await silent[2][0].readline()

    run_apart(come())


def test_who_reads_slowly_gives_way_after_those_who_say_nothing():
    """A download of 4.7 MB through a slow line ended in the middle, without a word."""
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    async def come() -> None:
        async with served(_much) as port:
            slow = await asyncio.open_connection("127.0.0.1", port, limit=1)
            slow[1].write(request)
            await slow[0].read(1)
            while not connections.unread:
                await asyncio.sleep(0.01)
            idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            while len(connections.silent) < 2:
                await asyncio.sleep(0.01)
            connections.end_some(1)
            async with asyncio.timeout(30):
                assert await idle[0][0].read() == b""
                while await slow[0].read(2**20):
                    pass
            assert not connections.unread

    run_apart(come())


def test_it_is_told_once_that_no_file_is_left(monkeypatch, caplog):
    """Each connection that waited was a traceback, 1 MB of log a second."""
    monkeypatch.setattr(connections, "_told", Pace(1, 1 / 60))

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
        "from kgdash.serving import connections; "
        "connections._MOST_OPEN, connections._OTHER_FILES = 400, 100; "
        "print(connections.most_connections(), *r.getrlimit(r.RLIMIT_NOFILE))"
    )
    for hard, most, files in ((900, 400, 500), (450, 350, 450), (120, 60, 120)):
        named = code.replace("HARD", str(hard))
        said = subprocess.check_output([sys.executable, "-c", named], cwd=ROOT, text=True)
        assert said.split() == [str(most), str(files), str(hard)]


def test_connections_that_are_made_while_the_server_ends_end_at_once():
    """64 are taken at one go: those stayed as long as a proxy used them, and all others got 502."""
    config = uvicorn.Config(ok, port=0, lifespan="off", log_level="critical")
    server = uvicorn.Server(config)

    async def come() -> None:
        task = asyncio.ensure_future(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        config.ends = True  # as of a connection that was taken before, and is made now
        port = server.servers[0].sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.timeout(10):
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
        writer.close()
        config.ends = False
        server.should_exit = True
        await task
        assert config.ends

    run_apart(come())
