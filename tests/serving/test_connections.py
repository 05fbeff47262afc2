"""How many connections are taken, and what is told when there are no files left for more."""

import asyncio
import errno
import subprocess
import sys

import pytest

from kgdash.serving import connections
from kgdash.serving.pace import Pace
from tests.support.own_loop import run_apart
from tests.support.paths import ROOT
from tests.support.served import answer_to, ok, read_unhurriedly, served


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
