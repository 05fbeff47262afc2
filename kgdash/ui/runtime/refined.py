"""Results that show early and improve in place: a page's one background computation."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.runs.call import Call
from kgdash.ui.runtime.background import Job, Steps, time_left
from kgdash.ui.runtime.computed import (
    end_if_stopped,
    refuse,
    reporter,
    stop_computing,
    stop_waiting,
    was_stopped,
)
from kgdash.ui.runtime.long_work import goes_out
from kgdash.ui.runtime.page_turns import turn_given_back
from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.runtime.shared_jobs import Waiting, is_for_another_s_bound, own_jobs, shared_jobs
from kgdash.ui.runtime.waiting_aside import wait_aside

#: seconds that a first result is held back in case that the last one is there by then
_PATIENCE = 0.4

#: seconds between two looks at a running job
_POLL = 0.5

_JOB = "refining_job"


def refined(label: str, key: tuple[Hashable, ...], steps: Steps | Call) -> Any:
    """Return the best result that there is by now, and go on computing in the background.

    The last result is remembered for all sessions. Until it is there, each run of the page gets
    the latest one, and `show_refinement` runs the page anew at the end. Any other key, and another
    page, stops the computation. Until the first result it is as `computed` has it: progress, Stop,
    and refused input as a message. Where there are worker processes, sessions share the computation
    of a `Call`: it stops when nobody waits for it any more, but goes on when a tab is closed.

    :param label: what is computed, as users read it
    :param key: all that the results depend on, the run's identity first
    :param steps: takes the progress to report to and the latest result; yields ever better ones
    """
    slot = st.empty()  # also where it stays empty, so that what follows keeps its place
    found = memory().get(key)
    if found is not None:
        stop_refining()
        return found
    own, is_refused = False, True
    report = reporter(slot, label, key, lambda: waiting.job.place)  # one: it makes a button
    while is_refused:
        waiting = _joined(label, key, steps, own)
        job = waiting.job
        give_way = partial(wait_aside, slot, label, waiting, partial(stop_computing, key))
        with turn_given_back(give_way):
            while not job.wait_for_result(0.1):
                report(*job.progress)
                give_way()
            job.wait(job.started + _PATIENCE - time.monotonic())
            own = is_refused = is_for_another_s_bound(job)
            if is_refused:
                stop_refining()
            else:
                slot.empty()
    if job.status == "failed":
        stop_refining()
        if isinstance(job.error, KgdashError):
            refuse(job.error)
        raise RuntimeError(f"{label} failed") from job.error
    result = job.latest
    if job.status == "done" or result is None:
        stop_refining()
    if result is None:  # it was let go of meanwhile
        st.rerun()
    return result


def _joined(label: str, key: tuple[Hashable, ...], steps: Steps | Call, own: bool) -> Waiting:
    """Wait for the computation that the session waits for already, or begin.

    :param own: as `SharedJobs.join` has it
    """
    waiting = _waiting_for(key)
    if waiting is None or was_stopped(key):
        stop_refining()
        end_if_stopped(label, key)
        jobs = shared_jobs() if goes_out(steps) else own_jobs()
        waiting = jobs.join(key, label, lambda keep: Job(steps, finished=keep), own)
        st.session_state[_JOB] = waiting
    return waiting


def show_refinement(summary: Callable[[Any], str]) -> None:
    """Show that the values on the page are not the last ones, with a way to stop or to go on.

    Shows nothing where they are.

    :param summary: says what is known so far in a sentence, given the latest result
    """
    waiting = st.session_state.get(_JOB)
    slot = st.empty()  # also where it stays empty, so that what follows keeps its place
    if waiting is not None:
        with slot.container():
            if waiting.status == "stopped":
                _offer_to_go_on(summary(waiting.job.latest))
            else:
                _watch(summary)


def stop_refining() -> None:
    """Have the session wait for nothing more that is computed beside the page."""
    stop_waiting()
    if _JOB in st.session_state:
        st.session_state.pop(_JOB).leave()


def _waiting_for(key: tuple[Hashable, ...]) -> Waiting | None:
    waiting: Waiting | None = st.session_state.get(_JOB)
    if waiting is None or waiting.key != key:
        return None
    # One that has no result, or none any more, is as none.
    is_over = waiting.status in ("stopped", "done")
    return waiting if waiting.job.latest is not None or not is_over else None


@st.fragment(run_every=_POLL)
def _watch(summary: Callable[[Any], str]) -> None:
    waiting = st.session_state.get(_JOB)
    if waiting is None or waiting.status != "running":
        if waiting and waiting.status == "stopped" and waiting.job.latest is not None:
            _offer_to_go_on(
                summary(waiting.job.latest)
            )  # at once, while the page is run anew without this watch
        st.rerun()
    job = waiting.job
    share = job.share()
    text = "Counting" + (f": {share:.0%}" if share is not None else " …") + time_left(job)
    with _strip():
        st.progress(share or 0.0, text=f"{summary(job.latest)} {text}")
        st.button("Stop", on_click=_leave, icon=":material/stop:")


def _leave() -> None:
    if (waiting := st.session_state.get(_JOB)) is not None:
        waiting.leave()


def _offer_to_go_on(summary: str) -> None:
    with _strip():
        st.markdown(f"{summary} Stopped before all was counted.", width="stretch")
        st.button("Go on", on_click=_resume, icon=":material/play_arrow:")


def _strip() -> Any:
    return st.container(border=True, horizontal=True, vertical_alignment="center", key="refining")


def _resume() -> None:
    st.session_state[_JOB].go_on()
