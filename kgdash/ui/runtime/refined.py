"""Results that show early and improve in place: a page's one background computation."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.runs.call import Call
from kgdash.ui.runtime.background import Job, Steps, time_left
from kgdash.ui.runtime.computed import (
    end_if_stopped,
    refuse,
    reporter,
    stop_waiting,
    was_stopped,
)
from kgdash.ui.runtime.result_cache import memory, shown_key
from kgdash.ui.runtime.shared_jobs import shared_jobs

#: seconds that a first result is held back in case that the last one is there by then
_PATIENCE = 0.4

#: seconds between two looks at a running job
_POLL = 0.5

_JOB = "refining_job"


def refined(label: str, key: tuple[Hashable, ...], steps: Steps | Call) -> Any:
    """Return the best result that there is by now, and go on computing in the background.

    The last result is remembered for all sessions, and those that ask for the same meanwhile share
    the computation. Until it is there, each run of the page gets the latest one, and
    `show_refinement` runs the page anew at the end. Any other key, and another page, stops the
    computation if nobody else waits for it; when the tab is closed it goes on. Until the first
    result it is as `computed` has it: progress, Stop, and refused input as a message.

    :param label: what is computed, as users read it
    :param key: all that the results depend on, the run's digest first
    :param steps: takes the progress to report to and the latest result; yields ever better ones
    """
    slot = st.empty()  # also where it stays empty, so that what follows keeps its place
    key = shown_key(key)
    found = memory().get(key)
    if found is not None:
        stop_refining()
        return found
    job = _job_of(key)
    if job is None or was_stopped(key):
        stop_refining()
        end_if_stopped(label, key)
        waiting = shared_jobs().join(key, label, lambda keep: Job(steps, finished=keep))
        st.session_state[_JOB], job = waiting, waiting.job
    report = reporter(slot, label, key, lambda: job.place)
    while not job.wait_for_result(0.1):
        report(*job.progress)
    slot.empty()
    job.wait(job.started + _PATIENCE - time.monotonic())
    if job.status == "failed":
        st.session_state.pop(_JOB)
        if isinstance(job.error, KgdashError):
            refuse(job.error)
        raise RuntimeError(f"{label} failed") from job.error
    if job.status == "done":
        st.session_state.pop(_JOB)
    return job.latest


def show_refinement(summary: Callable[[Any], str]) -> None:
    """Show that the values on the page are not the last ones, with a way to stop or to go on.

    Shows nothing where they are.

    :param summary: says what is known so far in a sentence, given the latest result
    """
    job = _job()
    slot = st.empty()  # also where it stays empty, so that what follows keeps its place
    if job is not None:
        with slot.container():
            if job.status == "stopped":
                _offer_to_go_on(summary(job.latest))
            else:
                _watch(summary)


def stop_refining() -> None:
    """Have the session wait for nothing more that is computed in the background."""
    stop_waiting()
    if _JOB in st.session_state:
        shared_jobs().leave(st.session_state.pop(_JOB))


def _job() -> Job | None:
    waiting = st.session_state.get(_JOB)
    return None if waiting is None else waiting.job


def _job_of(key: tuple[Hashable, ...]) -> Job | None:
    job = _job()
    if job is None or st.session_state[_JOB].key != key:
        return None
    # One that was stopped before it had any result is as none.
    return job if job.latest is not None or job.status != "stopped" else None


@st.fragment(run_every=_POLL)
def _watch(summary: Callable[[Any], str]) -> None:
    job = _job()
    if job is None or job.status != "running":
        if job is not None and job.status == "stopped":
            _offer_to_go_on(
                summary(job.latest)
            )  # at once, while the page is run anew without this watch
        st.rerun()
    share = job.share()
    text = "Counting" + (f": {share:.0%}" if share is not None else " …") + time_left(job)
    with _strip():
        st.progress(share or 0.0, text=f"{summary(job.latest)} {text}")
        st.button("Stop", on_click=job.stop, icon=":material/stop:")


def _offer_to_go_on(summary: str) -> None:
    with _strip():
        st.markdown(f"{summary} Stopped before all was counted.", width="stretch")
        st.button("Go on", on_click=_resume, icon=":material/play_arrow:")


def _strip() -> Any:
    return st.container(border=True, horizontal=True, vertical_alignment="center", key="refining")


def _resume() -> None:
    st.session_state[_JOB].shared.go_on()
