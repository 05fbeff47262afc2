"""A training that runs or has ended, as the page Runs shows it."""

from __future__ import annotations

import streamlit as st

from kgdash.charts.metrics import training_curves
from kgdash.files.visitor import visitor
from kgdash.runs.description import describe_run
from kgdash.runs.library import own_names, runs_folder
from kgdash.statistics.estimate import number
from kgdash.ui.library.trainings import Training, show_bar, trainings, watch
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.run_picker import choose_run
from kgdash.ui.widgets.chart import show_chart


def show_training() -> None:
    """Show the latest training; nothing where there was none, or its end was read."""
    training = trainings().latest
    if training is None:
        return
    with st.container(border=True, key="training"):
        if training.job.status == "running":
            watch(_show_running)
        else:
            _show_end(training)


def _show_running(training: Training) -> None:
    if training.job.status != "running":
        st.rerun()
    state = training.state
    with st.container(horizontal=True, vertical_alignment="center"):
        show_bar(training)
        if visitor().may("train"):
            st.button("Stop", on_click=training.stop, icon=":material/stop:", key="stop_training")
    _show_curves(training)
    some = f"{state.checked:,} of {state.valid:,}" if state.checked < state.valid else "all"
    st.caption(
        "Goes on when you leave this page. Stop writes no run, like Ctrl-C on the command line. "
        + f"MRR on valid: realistic, both sides, filtered by train and valid, {some} triples."
        * bool(state.valid)
    )


def _show_end(training: Training) -> None:
    status, run = training.job.status, training.state.run
    trained = training.state.found
    kept = status == "done" and run in own_names()
    kept = kept and describe_run(run, runs_folder() / run) == trained
    if kept:
        mrr = trained["mrr"]
        found = "" if mrr is None else f", MRR on test {number(mrr)}"
        st.success(f"Trained {training.title}: **{plain(run)}**{found}.", icon=":material/check:")
    elif status == "done":
        st.info(f"Trained {training.title}; the run was renamed, removed or replaced.")
    elif status == "stopped":
        st.info(f"Training {training.title} was stopped; nothing was kept.")
    elif not visitor().may("train"):
        st.info(f"Training {training.title} failed; nothing was kept.")
    else:
        st.error(plain(str(training.job.error)), icon=":material/error:")
    with st.container(horizontal=True):
        open_ = kept and st.button(
            "Open", "open_trained", type="primary", on_click=choose_run, args=(run,)
        )
        if visitor().may("train"):
            st.button("Close", "close_training", on_click=trainings().forget)
    if open_:
        trainings().forget()
        st.switch_page("pages/overview.py", query_params={})
    with st.expander("How it went, and the same on the command line"):
        _show_curves(training)
        if visitor().may("train"):
            st.code(training.command, language=None, wrap_lines=True)


def _show_curves(training: Training) -> None:
    state = training.state
    if state.losses:
        figure = training_curves(state.losses, state.checks, training.config.epochs)
        show_chart(figure, "training_curves", f"{training.config.model}-training")
