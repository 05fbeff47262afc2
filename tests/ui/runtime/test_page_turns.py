"""Of one visitor's pages a few run at once, whatever tabs they are in; others' run beside them."""

import asyncio
import threading
from types import SimpleNamespace

import pytest

from kgdash.files.visitor import Visitor, working_for
from kgdash.ui.runtime import page_turns
from kgdash.ui.runtime.page_turns import (
    AT_ONCE,
    have_threads,
    page_turn,
    turn_given_back,
)
from tests.support.own_loop import run_apart

PATIENCE = 30


@pytest.fixture(autouse=True)
def _afresh(monkeypatch):
    page_turns.turns_of.cache_clear()
    monkeypatch.setattr(page_turns, "st", SimpleNamespace(session_state={}))
    monkeypatch.setattr(page_turns, "_BEAT", 0.01)
    yield
    page_turns.turns_of.cache_clear()


class Page(threading.Thread):
    """A page of a visitor, which runs until it is told to end."""

    def __init__(self, owner, waits=False):
        super().__init__(daemon=True)
        self.owner, self.waits = owner, waits
        self.runs, self.end = threading.Event(), threading.Event()
        self.start()

    def run(self):
        with working_for(Visitor(folder=self.owner)), page_turn():
            if self.waits:
                with turn_given_back(lambda: None):
                    self.runs.set()
                    self.end.wait(PATIENCE)
            else:
                self.runs.set()
                self.end.wait(PATIENCE)

    def leave(self):
        self.end.set()
        self.join(PATIENCE)


def test_pages_of_one_visitor_wait_for_each_other():
    first = [Page("ada") for _ in range(AT_ONCE)]
    assert all(page.runs.wait(PATIENCE) for page in first)
    more = Page("ada")
    others = [Page("bob"), *(Page("") for _ in range(AT_ONCE + 1))]  # "": at this machine
    assert all(page.runs.wait(PATIENCE) for page in others)
    assert not more.runs.wait(0.1)
    first[0].leave()
    assert more.runs.wait(PATIENCE)
    for page in (*first, more, *others):
        page.leave()


def test_what_runs_within_a_page_takes_no_turn_of_its_own():
    with working_for(Visitor(folder="ada")):
        for _ in range(AT_ONCE + 1):
            with page_turn():
                with page_turn():
                    pass
                others = [Page("ada") for _ in range(AT_ONCE)]
                assert others[0].runs.wait(PATIENCE)
                assert not others[-1].runs.wait(0.05)
                others[0].end.set()
            for other in others:
                other.leave()


def test_who_waits_for_a_computation_holds_no_turn():
    waiting = [Page("ada", waits=True) for _ in range(3 * AT_ONCE)]
    assert all(page.runs.wait(PATIENCE) for page in waiting)
    running = [Page("ada") for _ in range(AT_ONCE)]
    assert all(page.runs.wait(PATIENCE) for page in running)
    waiting[0].end.set()  # goes on once it has a turn again
    waiting[0].join(0.1)
    assert waiting[0].is_alive()
    for page in (*running, *waiting):
        page.leave()
        assert not page.is_alive()


def test_a_page_that_is_left_while_it_waits_holds_no_turn(monkeypatch):
    class Left(BaseException):
        pass

    class Session(dict):
        def __contains__(self, key):
            raise Left

    running = [Page("ada") for _ in range(AT_ONCE)]
    assert all(page.runs.wait(PATIENCE) for page in running)
    monkeypatch.setattr(page_turns, "st", SimpleNamespace(session_state=Session()))
    with working_for(Visitor(folder="ada")):
        with pytest.raises(Left), page_turn():
            raise AssertionError
        running[0].leave()
        with pytest.raises(Left), page_turn(), turn_given_back(lambda: None):
            raise Left
        for _ in range(3):
            with page_turn(), turn_given_back(lambda: None):
                pass
    running[1].leave()


def test_turns_at_something_are_each_visitors_own():
    """Two pages of each of four accounts loaded runs at once: 4.4 GB of sixteen small files."""
    begun, end = threading.Event(), threading.Event()

    def load(owner):
        with working_for(Visitor(folder=owner)), page_turns.turn_at("loads", 1):
            begun.set()
            end.wait(PATIENCE)

    def loads(owner):
        begun.clear()
        threading.Thread(target=load, args=(owner,), daemon=True).start()
        return begun.wait(0.3)

    assert [loads(owner) for owner in ("ada", "ada", "bob", "", "")] == [True, False, *[True] * 3]
    end.set()
    assert begun.wait(PATIENCE)
    assert loads("ada")


def test_files_that_are_made_keep_no_log_in_waiting(monkeypatch):
    """The provider's number was looked up behind the drawings of eleven accounts: 401."""
    monkeypatch.setattr(page_turns, "_THREADS", 2)
    monkeypatch.setattr(page_turns.sys, "setswitchinterval", lambda seconds: None)
    ended = threading.Event()

    async def look_up() -> list:
        loop = asyncio.get_running_loop()
        have_threads(loop)
        made = [asyncio.to_thread(ended.wait, PATIENCE) for _ in range(3)]
        files = asyncio.gather(*made)
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(PATIENCE / 2):
                return await loop.getaddrinfo("127.0.0.1", 80)
        finally:
            ended.set()
            await files

    assert run_apart(look_up())


def test_the_server_has_threads_for_several_visitors_files(monkeypatch):
    intervals = []
    monkeypatch.setattr(page_turns.sys, "setswitchinterval", intervals.append)

    async def at_once() -> int:
        for _ in range(2):
            have_threads(asyncio.get_running_loop())
        together = threading.Barrier(15)
        waits = [asyncio.to_thread(together.wait, PATIENCE) for _ in range(15)]
        return len(await asyncio.gather(*waits))

    assert run_apart(at_once()) == 15
    assert intervals == [0.0005]
