"""Preparing the opened run in the background: one job per run, shared by all sessions."""

import os
import threading
import time
from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st

from kgdash.engine.workers import lowest_priority
from kgdash.progress import Progress
from kgdash.runs import Run
from kgdash.runs.preparation import prepare
from kgdash.ui.runtime.background import Job

#: "off" prepares nothing
SETTING = "KGDASH_PREPARE"

#: seconds before a job is shown, so that small graphs do not flicker, and between two looks at it
_PATIENCE, _POLL = 1.5, 1.0

_JOB = "preparation"


class _Jobs:
    """The jobs of runs that some session has open, by digest; dropped by all, a job ends."""

    def __init__(self) -> None:
        self._jobs: WeakValueDictionary[str, Job] = WeakValueDictionary()
        self._guard = threading.Lock()

    def of(self, run: Run) -> Job:
        with self._guard:
            job = self._jobs.get(run.digest)
            if job is None:
                job = self._jobs[run.digest] = Job(lambda progress, _: _steps(run, progress))
            return job

    def go_on(self, digest: str) -> None:
        with self._guard:
            job = self._jobs.get(digest)
            if job is not None and job.status == "stopped":
                st.session_state[_JOB] = self._jobs[digest] = job.again()


@st.cache_resource(show_spinner=False)
def _jobs() -> _Jobs:
    return _Jobs()


def show_preparation(run: Run) -> None:
    """Prepare the run in the background, and show in one line how far that is.

    Counts what `kgdash.runs.preparation.prepare` does, after everything that a page asks for. Goes
    on while any session has the run open; Stop stops it for all.
    """
    if os.environ.get(SETTING, "on").lower() == "off":
        return
    job = st.session_state[_JOB] = _jobs().of(run)
    if job.status != "done":
        _watch(run.digest, f"all {len(run.graph.all_triples):,} triples")


@st.fragment(run_every=_POLL)
def _watch(digest: str, what: str) -> None:
    job = st.session_state.get(_JOB)
    slot = st.empty()  # also where it stays empty, so that what follows keeps its place
    if job is None or job.status == "done" or time.monotonic() - job.started < _PATIENCE:
        return
    share = job.share() or 0.0
    with slot.container(key="preparation"):
        if job.status == "failed":
            st.caption(f"ReliK of {what} could not be prepared: {job.error}")
            return
        running = job.status == "running"
        text = f"{'Preparing' if running else 'Stopped preparing'} ReliK of {what}: "
        text += f"{share:.0%}"
        left = job.remaining()
        if running and left is not None:
            text += f", about {_time(left)} left"
        st.progress(share, text=text)
        if running:
            st.button("Stop", on_click=job.stop, icon=":material/stop:", key="stop_preparing")
        else:
            args = (digest,)
            st.button(
                "Go on",
                on_click=_go_on,
                args=args,
                icon=":material/play_arrow:",
                key="go_on_preparing",
            )


def _go_on(digest: str) -> None:
    _jobs().go_on(digest)


def _time(seconds: float) -> str:
    return f"{max(seconds, 1):.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _steps(run: Run, progress: Progress) -> Iterator[Any]:
    lowest_priority()
    prepare(run, progress, gives_way=True)
    yield True
