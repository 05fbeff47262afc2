"""What pages computed lately, shared by all sessions, keyed by content."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

import streamlit as st

_ENTRIES = 64


class Memory:
    """The latest results by key; safe with several sessions. Values must not be changed."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """Return the value under a key, or None."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: Any) -> None:
        """Keep a value, and drop the one not asked for longest if there are too many."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > _ENTRIES:
                self._values.popitem(last=False)


@st.cache_resource(show_spinner=False)
def memory() -> Memory:
    """Return the process's memory of results."""
    return Memory()
