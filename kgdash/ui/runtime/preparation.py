"""Preparing the opened run in the background: one job per run, shared by all sessions."""

import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import streamlit as st

from kgdash.engine.workers import lowest_priority
from kgdash.files.turns import others_first
from kgdash.progress import Progress
from kgdash.runs import Run
from kgdash.runs.preparation import prepared_share
from kgdash.studies.overview.preparation import prepare_pages
from kgdash.ui.runtime.background import Job, time_left
from kgdash.ui.runtime.markdown import plain

#: "off" prepares nothing
SETTING = "KGDASH_PREPARE"

#: seconds before a job is shown, so that small graphs do not flicker, and between two looks at it
_PATIENCE, _POLL = 1.5, 1.0

_OPEN = "preparation"


class _Open:
    """That one session has a run open: until it closes it, or is gone."""

    def __init__(self, digest: str, closed: Callable[[str], None]) -> None:
        self.digest = digest
        self.close = weakref.finalize(self, closed, digest)


class _Jobs:
    """The jobs of the runs that sessions have open, by digest; a job ends with the last of them."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._sessions: Counter[str] = Counter()
        # A session may go while this thread holds the lock: its finalizer runs anywhere.
        self._guard = threading.RLock()

    def open(self, run: Run) -> _Open:
        with self._guard:
            digest = run.digest
            if digest not in self._jobs:
                self._jobs[digest] = Job(
                    lambda progress, _: _steps(run, progress), kind="preparation"
                )
            self._sessions[digest] += 1
            return _Open(digest, self._closed)

    def job(self, digest: str) -> Job | None:
        return self._jobs.get(digest)

    def stop(self, digest: str) -> None:
        with self._guard:
            if digest in self._jobs:
                self._jobs[digest].stop()

    def go_on(self, digest: str) -> None:
        with self._guard:
            job = self._jobs.get(digest)
            if job is not None and job.status == "stopped":
                self._jobs[digest] = job.again()

    def _closed(self, digest: str) -> None:
        with self._guard:
            self._sessions[digest] -= 1
            if not self._sessions[digest]:
                del self._sessions[digest]
                self._jobs.pop(digest).stop()


@st.cache_resource(show_spinner=False)
def _jobs() -> _Jobs:
    return _Jobs()


def show_preparation(run: Run) -> None:
    """Prepare the run in the background, and show in one line how far that is.

    Computes what `kgdash.studies.overview.preparation.prepare_pages` does, after everything that a
    page asks for. Goes on while any session has the run open; Stop stops it for all.
    """
    if os.environ.get(SETTING, "on").lower() == "off":
        return
    held = st.session_state.get(_OPEN)
    if held is None or held.digest != run.digest:
        if held is not None:
            held.close()
        st.session_state[_OPEN] = _jobs().open(run)
    job = _jobs().job(run.digest)
    if job is not None and job.status != "done":
        _watch(run)


@st.fragment(run_every=_POLL)
def _watch(run: Run) -> None:
    job = _jobs().job(run.digest)
    slot = st.empty()  # also where it stays empty, so that what follows keeps its place
    if job is None or job.status == "done" or time.monotonic() - job.started < _PATIENCE:
        return
    share = prepared_share(run)
    what = f"ReliK of all {len(run.graph.all_triples):,} triples"
    if share == 1:  # and what else pages open with is under way
        share, what = job.share() or 0.0, "the other pages"
    with slot.container(key="preparation", gap="xsmall"):
        if job.status == "failed":
            st.caption(f"{what} could not be prepared: {plain(str(job.error))}")
            return
        running = job.status == "running"
        text = f"{'Preparing' if running else 'Stopped preparing'} {what}: {share:.0%}"
        if running and others_first():
            text += ", after this page"
        elif running:
            text += time_left(job)
        st.progress(share, text=text)
        act = _jobs().stop if running else _jobs().go_on
        label, icon = ("Stop", ":material/stop:") if running else ("Go on", ":material/play_arrow:")
        key = f"{label} preparing"
        st.button(label, key, on_click=act, args=(run.digest,), icon=icon, type="tertiary")


def _steps(run: Run, progress: Progress) -> Iterator[Any]:
    lowest_priority()
    prepare_pages(run, progress, gives_way=True)
    yield True
