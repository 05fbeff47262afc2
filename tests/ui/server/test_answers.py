"""What one visitor gets at once: in pieces as they are read, and not without bound."""

import asyncio

import pytest
from starlette.datastructures import Headers

from kgdash.serving.pace import Full
from kgdash.ui.server import answers
from kgdash.ui.server.answers import Answers
from tests.support.own_loop import run_apart

MiB = 2**20


class Reader:
    """A connection that takes the first pieces, and the rest when it is told to read."""

    def __init__(self, takes: int = 2):
        self.takes, self.got, self.reads = takes, [], asyncio.Event()

    async def send(self, message):
        self.got.append(message)
        if len(self.got) > self.takes:
            await self.reads.wait()

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.got)

    @property
    def status(self) -> int:
        return self.got[0]["status"]


def file(content: bytes):
    async def app(scope, receive, send):
        length = (b"content-length", str(len(content)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": content})

    return app


SCOPE = {"type": "http", "method": "GET", "path": "/media/x", "headers": []}


def ask(given: Answers, owner: str, content: bytes, reader: Reader) -> asyncio.Task:
    return asyncio.create_task(given.give(owner, file(content), SCOPE, None, reader.send))


@pytest.mark.parametrize("size", [0, 1, answers._PIECE, answers._PIECE + 1, 3 * answers._PIECE])
def test_a_body_comes_whole_in_pieces(size):
    content = bytes(range(256)) * (size // 256 + 1)

    async def read():
        await ask(Answers(), "ada", content[:size], reader := Reader(takes=99))
        return reader

    reader = run_apart(read())
    assert reader.body == content[:size]
    assert max(len(message.get("body", b"")) for message in reader.got) <= answers._PIECE
    more = [message.get("more_body", False) for message in reader.got[1:]]
    assert more == [True] * (len(more) - 1) + [False]


def test_nothing_more_is_given_than_is_taken():
    """Sixteen unread downloads of one file of 30 MB took a server without this 470 MB."""

    async def unread():
        reader = Reader()
        task = ask(Answers(), "ada", b"x" * 30 * MiB, reader)
        await asyncio.sleep(0.05)
        waits = len(reader.body)
        reader.reads.set()
        await task
        return waits, len(reader.body)

    assert run_apart(unread()) == (2 * answers._PIECE, 30 * MiB)


def test_one_visitor_has_so_much_under_way(monkeypatch):
    """By reckoning sixteen made files of 32 MiB, unread, were held for each account."""
    monkeypatch.setattr(answers, "_OWN", 5 * MiB)
    monkeypatch.setattr(answers, "_ALL", 9 * MiB)

    async def many():
        given, said, under_way = Answers(), "", []
        for owner in ("ada", "ada", "ada", "bob", "bob", "bob", "eve", "eve"):
            under_way.append((ask(given, owner, b"x" * 2 * MiB, each := Reader()), each))
            await asyncio.sleep(0.02)
            said += f" {owner} {each.status}"
        await ask(given, "ada", b"x" * MiB, little := Reader(takes=99))
        for _, each in under_way:
            each.reads.set()
        await asyncio.gather(*(task for task, _ in under_way))
        await ask(given, "ada", b"x" * 2 * MiB, again := Reader(takes=99))
        return said.strip(), little.status, again.status, dict(given._large)

    said, *others, left = run_apart(many())
    # Everybody's are too many when Eve comes: one each.
    assert said == "ada 200 ada 200 ada 429 bob 200 bob 200 bob 429 eve 200 eve 429"
    assert others == [200, 200]
    assert not left


def test_scripts_of_the_dashboard_count_for_nobody(monkeypatch):
    """Eight accounts that read none of them had others go without charts."""
    monkeypatch.setattr(answers, "_OWN", 3 * MiB)
    monkeypatch.setitem(SCOPE, "path", "/static/js/charts.js")

    async def many():
        given, readers = Answers(), [Reader() for _ in range(4)]
        tasks = [ask(given, "ada", b"x" * 2 * MiB, each) for each in readers]
        await asyncio.sleep(0.02)
        for each in readers:
            each.reads.set()
        await asyncio.gather(*tasks)
        return [each.status for each in readers]

    assert run_apart(many()) == [200] * 4


def test_who_leaves_has_nothing_under_way():
    async def left():
        given = Answers()
        task = ask(given, "ada", b"x" * 2 * MiB, Reader())
        await asyncio.sleep(0.02)
        assert given._large == {"ada": 2 * MiB}
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return dict(given._large)

    assert not run_apart(left())


def test_where_many_wait_each_visitor_has_few(monkeypatch):
    """Sixteen accounts whose 500 requests each waited left nobody new a connection.

    So did 42 whose 176 did.
    """
    monkeypatch.setattr(answers, "most_connections", lambda: 160)
    monkeypatch.setattr(answers, "_SHARE", 1 / 6)

    async def many():
        given, reader = Answers(), Reader(takes=0)
        tasks = []
        for owner in ("ada", "bob", "eve", "joe"):
            tasks += [ask(given, owner, b"x", reader) for _ in range(30)]
            await asyncio.sleep(0.02)
        waits = sum(not task.done() for task in tasks)
        reader.reads.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        await ask(given, "bob", b"x", Reader(takes=99))
        full = [isinstance(each, Full) for each in found]
        counts = [sum(full[at : at + 30]) for at in range(0, 120, 30)]
        return waits, counts, given._asked.total(), dict(given._asked)

    # Ada's thirty; Bob's until there are forty and he has a sixth of what is left; few of others.
    assert run_apart(many()) == (30 + 19 + 16 + 16, [0, 11, 14, 14], 0, {})


@pytest.mark.parametrize("parts", [1, 4, 8])
def test_answers_have_a_pace_and_are_not_packed(monkeypatch, parts):
    """Reports asked for again and again, each packed anew, kept others for ten seconds.

    Files of pages, which come in parts of a piece, went out at 170 MB a second.
    """
    kept: list[tuple] = []

    class Noted:
        def __init__(self, *pace):
            self.pace = pace

        async def keep(self, count):
            kept.append((*self.pace, count))

    async def app(scope, receive, send):
        assert "accept-encoding" not in Headers(scope=scope)
        part = {"type": "http.response.body", "body": b"a" * (2**18 // parts)}
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(parts):
            await send({**part, "more_body": number < parts - 1})

    async def asked():
        scope = SCOPE | {"headers": [(b"Accept-Encoding", b"gzip")]}
        await Answers().give("ada", app, scope, None, Reader(takes=99).send)

    monkeypatch.setattr(answers, "Pace", Noted)
    run_apart(asked())
    assert kept == [(4096, 320, 8), *[(4096, 320, min(1, 4 / parts))] * max(4, parts)]
