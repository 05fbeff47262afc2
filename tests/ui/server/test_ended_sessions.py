"""Sessions whose tab was closed stay for who comes back, and no longer."""

import asyncio
from types import SimpleNamespace

import pytest

from kgdash.ui.server import ended_sessions
from kgdash.ui.server.ended_sessions import EndedSessions


def ended(number: int, over: list[int]):
    session = SimpleNamespace(id=f"s{number}", shutdown=lambda: over.append(number))
    return SimpleNamespace(session=session)


@pytest.fixture
def given_back(monkeypatch):
    times = []
    monkeypatch.setattr(ended_sessions, "give_back_now", lambda: times.append(1))
    return times


def test_who_comes_back_finds_it_and_nobody_leaves_it_behind(given_back):
    """What the last 128 held stayed for weeks where nobody else came."""
    over: list[int] = []

    async def closed():
        kept = EndedSessions(ttl_seconds=0.2)
        kept.save(ended(1, over))
        kept.save(ended(2, over))
        assert kept.get("s1") is not None
        kept.delete("s2")  # came back
        await asyncio.sleep(0.15)
        kept.save(ended(3, over))
        await asyncio.sleep(0.15)
        assert over == [1]
        assert kept.get("s3") is not None
        await asyncio.sleep(0.4)
        assert over == [1, 3]
        assert len(kept._cache._data) == 0
        await asyncio.sleep(0.3)
        assert len(given_back) == 2  # and nothing is looked for where nothing is kept
        kept.save(ended(4, over))
        await asyncio.sleep(0.6)
        assert over == [1, 3, 4]

    asyncio.run(closed())


def test_streamlit_takes_it_where_it_starts(monkeypatch):
    from streamlit.runtime import memory_session_storage as module

    monkeypatch.setattr(module, "MemorySessionStorage", module.MemorySessionStorage)
    ended_sessions.let_sessions_go()
    assert module.MemorySessionStorage is EndedSessions
