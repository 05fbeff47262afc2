"""Sessions whose tab was closed: Streamlit keeps them for who comes back from a lost connection."""

import asyncio

from streamlit import config
from streamlit.runtime import memory_session_storage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo

from kgdash.serving.allocator import give_back_now


class EndedSessions(MemorySessionStorage):
    """Those of the last minutes. What they held is given back when nobody came for them.

    Streamlit itself lets go of one when others end, and so of the last 128 never.
    """

    def __init__(self, maxsize: int = 128, ttl_seconds: int = 120) -> None:
        super().__init__(maxsize, ttl_seconds)
        self._seconds = ttl_seconds
        self._is_waiting = False

    def save(self, session_info: SessionInfo) -> None:
        """Keep a session; on the server's loop."""
        super().save(session_info)
        if config.get_option("server.fileWatcherType") == "none":
            # Who comes back would have the loop look for all modules' files again and again.
            session_info.session.register_file_watchers = lambda: None  # type: ignore[method-assign]
        if not self._is_waiting:
            self._is_waiting = True
            asyncio.get_running_loop().call_later(self._seconds, self._let_go)

    def _let_go(self) -> None:
        for _, ended in self._cache.expire():  # type: ignore[attr-defined]
            ended.session.shutdown()
        give_back_now()
        self._is_waiting = bool(self._cache)
        if self._is_waiting:
            asyncio.get_running_loop().call_later(self._seconds, self._let_go)


def let_sessions_go() -> None:
    """Have the server that this process starts keep ended sessions so."""
    memory_session_storage.MemorySessionStorage = EndedSessions  # type: ignore[misc]
