"""Pages that wait for a computation, and hold no run meanwhile where memory is short."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from kgdash.files.visitor import visitor
from kgdash.ui.runtime.background import time_left
from kgdash.ui.runtime.shared_jobs import Waiting
from kgdash.ui.runtime.short_memory import is_short

#: seconds that a page waits as it is, and between two looks at the computation
_PATIENCE, _POLL = 1.0, 2.0


def wait_aside(slot: Any, label: str, waiting: Waiting, stop: Callable[[], None]) -> None:
    """Where memory is short, end the page's run; it begins anew once there is a result.

    What is on the page stays, and so do its settings. Elsewhere nothing happens.

    :param slot: of `st.empty`, where progress was shown
    :param label: what is computed
    :param waiting: for it
    :param stop: has it stopped, at a click
    """
    waits = time.monotonic() - waiting.job.started
    if waits > _PATIENCE and is_short(visitor().owner):
        slot.empty()
        with st.container(border=True):
            _watch(label, waiting, stop, time.monotonic())
        st.stop()


@st.fragment(run_every=_POLL)
def _watch(label: str, waiting: Waiting, stop: Callable[[], None], since: float) -> None:
    job = waiting.job
    is_first = time.monotonic() - since < _POLL / 2  # the page's own run, which ends as it is
    if not is_first and (waiting.status != "running" or job.wait_for_result(0)):
        st.rerun()
    st.progress(job.share() or 0.0, text=f"{label}{time_left(job)}")
    if st.button("Stop", on_click=stop):
        st.rerun()
