"""Sessions whose tab was closed stay for who comes back, and no longer."""

import asyncio
from types import SimpleNamespace

import pytest
from streamlit import config
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from kgdash.ui.server import ended_sessions
from kgdash.ui.server.ended_sessions import EndedSessions
from tests.support.own_loop import run_apart


def ended(number: int, over: list[int]):
    session = SimpleNamespace(id=f"s{number}", shutdown=lambda: over.append(number))
    return SimpleNamespace(session=session)


@pytest.fixture
def given_back(monkeypatch):
    times = []
    monkeypatch.setattr(ended_sessions, "give_back_now", lambda: times.append(1))
    return times


class Clock:
    """A loop's timers, and the time, which passes only when it is told to."""

    def __init__(self):
        self.now, self.timers = 0.0, []

    def call_later(self, seconds, act):
        self.timers.append((self.now + seconds, act))

    def at(self, time: float) -> None:
        while due := [timer for timer in self.timers if timer[0] <= time]:
            first = min(due, key=lambda timer: timer[0])
            self.timers.remove(first)
            self.now = first[0]
            first[1]()
        self.now = time


def test_who_comes_back_finds_it_and_nobody_leaves_it_behind(given_back, monkeypatch):
    """What the last 128 held stayed for weeks where nobody else came."""
    over: list[int] = []
    clock, kept = Clock(), EndedSessions(ttl_seconds=20)
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: clock)
    monkeypatch.setattr(kept._cache, "_timer", lambda: clock.now)
    kept.save(ended(1, over))
    kept.save(ended(2, over))
    assert kept.get("s1") is not None
    kept.delete("s2")  # came back
    clock.at(15)
    kept.save(ended(3, over))
    clock.at(30)
    assert over == [1]
    assert kept.get("s3") is not None
    clock.at(70)
    assert over == [1, 3]
    assert len(kept._cache._data) == 0
    clock.at(100)
    assert len(given_back) == 2  # and nothing is looked for where nothing is kept
    kept.save(ended(4, over))
    clock.at(160)
    assert over == [1, 3, 4]


def test_streamlit_takes_it_where_it_starts(monkeypatch):
    from streamlit.runtime import memory_session_storage as module

    monkeypatch.setattr(module, "MemorySessionStorage", module.MemorySessionStorage)
    ended_sessions.let_sessions_go()
    assert module.MemorySessionStorage is EndedSessions


@pytest.mark.parametrize(("setting", "watches"), [("none", False), ("poll", True)])
def test_who_comes_back_watches_no_files_where_nobody_does(setting, watches, tmp_path, monkeypatch):
    """The server's loop looked for the files of 3,000 modules after each return: 5 s for others."""
    page = tmp_path / "page.py"
    page.write_text("")

    async def come_back():
        sessions = WebsocketSessionManager(
            EndedSessions(), MemoryUploadedFileManager("/upload"), ScriptCache(), lambda: None
        )
        of_page = SimpleNamespace(), ScriptData(str(page), False), {}
        first = sessions.connect_session(*of_page)
        before = sessions.get_session_info(first).session._local_sources_watcher
        sessions.disconnect_session(first)
        assert sessions.connect_session(*of_page, existing_session_id=first) == first
        after = sessions.get_session_info(first).session._local_sources_watcher
        sessions.close_session(first)
        return before is not None, after is not None

    asked = config.get_option
    told = {"server.fileWatcherType": setting}
    monkeypatch.setattr(config, "get_option", lambda name: told.get(name) or asked(name))
    assert run_apart(come_back()) == (watches, watches)
