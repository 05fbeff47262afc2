"""Preparing the opened run in the background: one job per run, shared by all sessions."""

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from kgdash.files.turns import others_first
from kgdash.progress import duration_text
from kgdash.runs import Run
from kgdash.runs.call import Call, Identity, at_hand
from kgdash.runs.preparation import is_counted_unasked, least_hours, prepared_share
from kgdash.studies.overview.preparation import prepare_pages
from kgdash.ui.runtime.asked import is_asked
from kgdash.ui.runtime.background import Job, time_left
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.runtime.shared_jobs import shared_jobs

#: "off" prepares nothing
SETTING = "KGDASH_PREPARE"

#: seconds before a job is shown, so that small graphs do not flicker, and between two looks at it
_PATIENCE, _POLL = 1.5, 2.0

_OPEN = "preparation"


def show_preparation(run: Run) -> None:
    """Prepare the run in the background, and show in one line how far that is.

    A graph so large that it would take hours is prepared only if somebody says so.

    Computes what `kgdash.studies.overview.preparation.prepare_pages` does, after everything that a
    page asks for. Goes on while any session has the run open; Stop stops it for all. Where there
    are worker processes it goes on in one of them, and a closed tab does not end it.
    """
    if os.environ.get(SETTING, "on").lower() == "off":
        return
    key = ("preparation", run.identity)
    held = st.session_state.get(_OPEN)
    if held is not None and held.key != key:
        st.session_state.pop(_OPEN).leave()
        held = None
    if held is None and not memory().get(key):
        if not _is_wanted(run):
            return
        held = shared_jobs().join(key, "preparation", partial(_start, run))
        st.session_state[_OPEN] = held
    if held is not None and held.job.status != "done":
        _watch(run.identity, len(run.graph.known()))


def _is_wanted(run: Run) -> bool:
    return is_counted_unasked(run) or is_asked(
        run.identity,
        f"ReliK of all {len(run.graph.known()):,} triples would take "
        f"{duration_text(3600 * least_hours(run))} of a core or more: it is not prepared unasked. "
        "Until then, figures of the whole graph are of samples, and the reliability map has to "
        "wait.",
        "Prepare",
        quiet=True,
    )


def _start(run: Run, keep: Callable[[Any], None]) -> Job:
    # Nothing comes of it but tables: without a result yet, who joins would start it anew.
    work = Call(prepare_pages, run, gives_way=True).by_name()  # which may be stopped, and stay so
    return Job(work, False, "preparation", finished=lambda _: keep(True))


@st.fragment(run_every=_POLL)
def _watch(identity: Identity, count: int) -> None:
    """Show how far it is, every two seconds in each tab: no run is loaded for that."""
    held = st.session_state.get(_OPEN)
    job = held.job if held is not None else None
    slot = st.empty()  # also where it stays empty, so that what follows keeps its place
    if job is None or job.status == "done" or time.monotonic() - job.started < _PATIENCE:
        return
    share, what = job.share() or 0.0, "all pages"
    if (run := at_hand(identity)) is not None:
        part = prepared_share(run)
        share, what = (
            (part, f"ReliK of all {count:,} triples") if part < 1 else (share, "the other pages")
        )
    with slot.container(key="preparation", gap="xsmall"):
        if job.status == "failed":
            st.caption(f"{what} could not be prepared: {plain(str(job.error))}")
            return
        running = job.status == "running"
        text = f"{'Preparing' if running else 'Stopped preparing'} {what}: {share:.0%}"
        if running and not job.place and others_first():
            text += ", after this page"
        elif running:
            text += time_left(job)
        st.progress(share, text=text)
        act = job.stop if running else _go_on
        label, icon = ("Stop", ":material/stop:") if running else ("Go on", ":material/play_arrow:")
        key = f"{label} preparing"
        st.button(label, key, on_click=act, icon=icon, type="tertiary")


def _go_on() -> None:
    st.session_state[_OPEN].go_on()
