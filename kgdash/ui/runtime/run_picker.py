"""The sidebar's choice of the run, kept in the URL, and the run that pages work on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.runs import Run
from kgdash.runs.bundled import DEFAULT_RUN, DEMO, FOLDER_CHOICE, bundled_names
from kgdash.runs.loading import load
from kgdash.ui.runtime.computed import refuse
from kgdash.ui.runtime.navigation import ensure_navigation
from kgdash.ui.runtime.preparation import show_preparation
from kgdash.ui.runtime.refined import stop_refining
from kgdash.ui.runtime.sidebar import footer, lay_out_sidebar

_CURRENT = "current_run"

#: runs that stay loaded: as many as can be compared, and the next one
_LOADED = 9


def pick_run() -> None:
    """Show the choice of the run in the sidebar and load it; a refusal takes the page's place."""
    place = lay_out_sidebar()
    with footer():
        st.page_link("pages/cache.py", label="Cache on disk", icon=":material/database:")
    with place:
        choices = [*bundled_names(), FOLDER_CHOICE]
        chosen = st.selectbox(
            "Run",
            choices,
            index=choices.index(DEFAULT_RUN),
            key="run",
            bind="query-params",
            help="A trained model with its graph: one of the bundled ones, or your own.",
        )
        source, dataset = _folder() if chosen == FOLDER_CHOICE else (chosen, "")
    if not source:
        _no_run()
        st.info("Name the folder of a run in the sidebar.", icon=":material/folder_open:")
        st.stop()
    try:
        run = load_source(source, dataset)
    except KgdashError as error:
        _no_run()
        refuse(error)
    st.session_state[_CURRENT] = run
    place.caption(
        f"**{run.spec.name}** on **{run.graph.name}**: {run.graph.num_entities:,} entities, "
        f"{run.graph.num_relations:,} relations, {len(run.graph.all_triples):,} triples"
        + ("  \n:material/info: about this run" if run.notes else ""),
        help="  \n".join(run.notes) or None,
    )
    with place:
        show_preparation(run)


def _folder() -> tuple[str, str]:
    """Ask for the folder of a run and, for a PyKEEN directory, its dataset."""
    folder = st.text_input(
        "Folder",
        key="folder",
        bind="query-params",
        placeholder="path/to/run",
        help="Written by `kgdash train` or `kgdash import`, or by PyKEEN's `save_to_directory`. "
        "Pickles are read without running anything of theirs.",
    )
    dataset = st.text_input(
        "Dataset",
        key="dataset",
        bind="query-params",
        placeholder="umls, or path/to/dataset",
        help="Only for a PyKEEN directory: what the model was trained on, by PyKEEN name or by "
        "folder.",
    )
    return folder.strip(), dataset


def current_run() -> Run:
    """Return the run that the sidebar's choice loaded."""
    ensure_navigation()
    return st.session_state[_CURRENT]


def load_source(source: str, dataset: str = "") -> Run:
    """Load a run, once for all sessions and again when its files change.

    :param source: a bundled name, or a folder
    :param dataset: for a PyKEEN directory; may be empty
    :raises KgdashError: as `kgdash.runs.loading.load`
    """
    return _load(source.strip(), dataset.strip() or None, _stamp(source.strip()))


def _no_run() -> None:
    st.session_state.pop(_CURRENT, None)
    stop_refining()


def show_notes(run: Run) -> None:
    """Show what a user should know of a run before reading its figures, if anything."""
    if run.notes:
        st.warning("  \n".join(run.notes), icon=":material/info:")


@st.cache_resource(max_entries=_LOADED, show_spinner="Loading the model …")
def _load(source: str, dataset: str | None, stamp: Any) -> Run:
    return load(source, dataset)


def _stamp(source: str) -> tuple[tuple[str, int, int], ...]:
    """Return what changes when the files of a run do, so that a changed run is loaded anew."""
    folder = DEMO / source if source in bundled_names() else Path(source)
    try:
        files = [p for p in sorted(folder.iterdir()) if p.is_file()][:64]
        return tuple((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in files)
    except OSError:
        return ()
