"""What pages computed lately, shared by all sessions, keyed by content and by what people read.

Two runs with the same weights may carry other names, labels and records: nobody's page shows those
of a run that another opened.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

import streamlit as st

from kgdash.runs import Run

_ENTRIES = 64

#: digest of a run or graph that the session loaded -> that of what people read of it
_SHOWN = "shown_digests"


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


def note_loaded(run: Run) -> None:
    """Tell this session's keys what people read of a run and of its graph."""
    shown = {run.digest: run.shown_digest, run.graph.digest: run.graph.shown_digest}
    st.session_state.setdefault(_SHOWN, {}).update(shown)


def shown_key(key: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    """Return a key that also depends on what people read of the runs and graphs in it."""
    shown = st.session_state.get(_SHOWN, {})

    def full(part: Hashable) -> Hashable:
        if type(part) is tuple:
            return tuple(map(full, part))
        return (part, shown[part]) if isinstance(part, str) and part in shown else part

    return tuple(map(full, key))
