"""Running a computation from a page: remembered, with progress, an estimate and a way to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, cast

import streamlit as st

from kgdash.errors import InterruptedWork, KgdashError
from kgdash.files.event_log import Stopwatch, note
from kgdash.progress import Estimate, Progress, duration_text
from kgdash.ui.runtime.background import Job, ordinal
from kgdash.ui.runtime.long_work import goes_out
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.page_turns import turn_given_back
from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.runtime.shared_jobs import is_for_another_s_bound, shared_jobs
from kgdash.ui.runtime.visitors import stay_admitted
from kgdash.ui.runtime.waiting_aside import wait_aside

#: seconds before a progress bar shows, so that short work does not flicker
_PATIENCE = 0.4

#: labels whose settings a session keeps, the latest; characters of a setting that is kept
_MOST, _SHORT = 20, 1_000

_STOPPED, _FINISHED, _WAITED = "stopped_computation", "finished_settings", "waited_job"


def computed(label: str, key: tuple[Hashable, ...], work: Callable[[Progress], Any]) -> Any:
    """Return the result of ``work``, computing it at most once per key.

    Shows progress while it runs. A click on Stop, or any other widget, ends the script run at the
    next report; after Stop the page offers to start again. Refused input is shown as a message and
    ends the page's run. Where there are worker processes, a `kgdash.runs.call.Call` is computed
    beside the page, once for all sessions that ask for it, and goes on when the tab is closed.

    :param label: what is computed, as users read it
    :param key: all that the result depends on, the run's identity first
    :param work: takes the progress to report to
    """
    try:
        return try_computing(label, key, work)
    except KgdashError as error:
        refuse(error)


def try_computing(label: str, key: tuple[Hashable, ...], work: Callable[[Progress], Any]) -> Any:
    """Do as `computed`, but leave it to the caller what a refusal means for the page.

    :raises KgdashError: as ``work``
    """
    slot = st.empty()  # also where it stays empty, so that what follows keeps its place
    found = memory().get(key)
    if found is not None:
        note("cache", kind="page", found="memory")
        _leave_former(label, key)
        _note_settings(label)
        return found
    end_if_stopped(label, key)
    watch = Stopwatch()
    try:
        if goes_out(work):
            result = _result_beside(slot, label, key, work)
        else:
            result = work(reporter(slot, label, key))
    finally:
        slot.empty()
    stay_admitted()
    note("cache", kind="page", found="computed", seconds=watch.seconds)
    memory().put(key, result)
    _note_settings(label)
    return result


def stop_waiting() -> None:
    """Have the session wait no more for what is computed beside the page."""
    if _WAITED in st.session_state:
        st.session_state.pop(_WAITED).leave()


def _leave_former(label: str, key: tuple[Hashable, ...]) -> None:
    """Stop waiting for what was asked for with other settings."""
    waited = st.session_state.get(_WAITED)
    if waited is not None and waited.label == label and waited.key != key:
        stop_waiting()


def _result_beside(slot: Any, label: str, key: tuple[Hashable, ...], work: Any) -> Any:
    """Wait for a job that may wait for a worker process, and return its result."""
    found, own, waited = None, False, cast(Any, None)
    report = reporter(slot, label, key, lambda: waited.job.place)  # one: it makes a button
    while found is None:
        waited = st.session_state.get(_WAITED)
        if waited is None or waited.key != key or waited.status == "stopped":
            stop_waiting()
            waited = shared_jobs().join(key, label, lambda keep: Job(work, finished=keep), own)
            st.session_state[_WAITED] = waited
        job = waited.job
        give_way = partial(wait_aside, slot, label, waited, partial(stop_computing, key))
        with turn_given_back(give_way):
            while not job.wait(0.1):
                report(*job.progress)
                give_way()
        stop_waiting()
        if own := is_for_another_s_bound(job):
            continue
        if isinstance(job.error, KgdashError):
            raise job.error.again()
        if job.status != "done":
            raise RuntimeError(f"{label} failed") from job.error
        if job.is_nothing:
            return None
        found = job.latest if job.latest is not None else memory().get(key)  # let go of meanwhile
    return found


def refuse(error: KgdashError) -> Any:
    """Show why input was refused, or work ended, and end the page's run."""
    note("refused", reason="input", error=type(error).__name__)
    st.error(plain(str(error)), icon=":material/error:")
    if isinstance(error, InterruptedWork):
        st.button("Start again")
    st.stop()


def was_stopped(key: tuple[Hashable, ...]) -> bool:
    """Tell whether the user stopped this computation and has not started it again."""
    return st.session_state.get(_STOPPED) == key


def end_if_stopped(label: str, key: tuple[Hashable, ...]) -> None:
    """End the page's run with an offer to start again, if the user stopped this computation."""
    if was_stopped(key):
        st.info(f"{label} was stopped; nothing was kept.")
        with st.container(horizontal=True):
            st.button("Start again", on_click=_forget_stop)
            former = st.session_state.get(_FINISHED, {}).get(label)
            if former is not None:
                st.button(
                    "Back to the former result", on_click=_go_back, args=(former,), key="former"
                )
        st.stop()


def reporter(
    slot: Any, label: str, key: tuple[Hashable, ...], place: Callable[[], int] = lambda: 0
) -> Progress:
    """Make a progress that shows a bar and Stop in a slot of the page, once work takes a while.

    :param slot: of `st.empty`
    :param label: what is computed
    :param key: what a click on Stop is remembered under, see `end_if_stopped`
    :param place: in the line for a worker process, from 1; 0 unless it waits there
    """
    estimate = Estimate()
    state: dict[str, Any] = {"bar": None, "last": 0.0}

    def report(done: float, total: float) -> None:
        now = time.monotonic()
        if now - estimate.start < _PATIENCE or now - state["last"] < 0.1:
            return
        state["last"] = now
        stay_admitted()
        left = estimate.remaining(done, total)
        text = f"{label}: about {duration_text(left)} left" if left is not None else label
        if where := place():
            text = f"{label}: {ordinal(where)} in line"
        if state["bar"] is None:
            with slot.container(border=True):
                state["bar"] = st.progress(0.0)
                st.button("Stop", key=f"stop {hash(key)}", on_click=stop_computing, args=(key,))
        state["bar"].progress(min(1.0, done / max(total, 1e-9)), text=text)

    return report


def stop_computing(key: tuple[Hashable, ...]) -> None:
    """Have the session wait no more for a computation, which the page offers to start again."""
    st.session_state[_STOPPED] = key
    stop_waiting()


def _forget_stop() -> None:
    st.session_state.pop(_STOPPED, None)


def _note_settings(label: str) -> None:
    """Keep the settings that led to a result, so that one can go back to it."""
    kept = {key: value for key, value in st.session_state.items() if _is_short(value)}
    finished = st.session_state.setdefault(_FINISHED, {})
    finished.pop(label, None)
    finished[label] = (kept, frozenset(st.query_params))
    if len(finished) > _MOST:
        del finished[next(iter(finished))]


def _is_short(value: Any) -> bool:
    """Tell whether a widget's value is as short as addresses are: it is kept for each label."""
    if isinstance(value, tuple | list):
        return len(value) <= _SHORT // 10 and sum(len(str(each)) for each in value) <= _SHORT
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _SHORT)


def _go_back(former: tuple[dict[Any, Any], frozenset[str]]) -> None:
    """Set what the address keeps to what led to the former result."""
    kept, named = former
    for key in named | set(st.query_params):
        if key in kept:
            st.session_state[key] = kept[key]
    _forget_stop()
