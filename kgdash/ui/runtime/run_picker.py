"""The sidebar's choice of the run, kept in the URL, and the run that pages work on."""

from __future__ import annotations

from typing import Any

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.files.event_log import note
from kgdash.files.visible import visible
from kgdash.runs import Run
from kgdash.runs.bundled import FOLDER_CHOICE, default_run
from kgdash.runs.call import named
from kgdash.runs.library import list_runs, named_runs
from kgdash.runs.recent import describe_recent, note_opened, recent_folders
from kgdash.statistics.estimate import number
from kgdash.ui.runtime.loaded_runs import load_source
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.navigation import compares_runs, ensure_navigation
from kgdash.ui.runtime.preparation import show_preparation
from kgdash.ui.runtime.refined import stop_refining
from kgdash.ui.runtime.sidebar import footer, lay_out_sidebar
from kgdash.ui.runtime.visitors import show_log_out

_CURRENT = "current_run"

#: the address's parameter, and the visible choice
_RUN, _CHOICE = "run", "run_choice"


def pick_run(needed: bool = True) -> None:
    """Show the choice of the run in the sidebar and load it; a refusal takes the page's place.

    :param needed: whether the page is about the run; else it is only chosen, not loaded
    """
    place = lay_out_sidebar()
    with footer():
        st.page_link("pages/runs.py", label="Runs", icon=":material/folder:")
        st.page_link("pages/cache.py", label="Cache on disk", icon=":material/database:")
        show_log_out()
    with place:
        source, dataset = _chosen()
    if not needed:
        return
    if not source and chosen_run() == FOLDER_CHOICE:
        _no_run("Which run?")
        st.info("Name the folder of a run in the sidebar.", icon=":material/folder_open:")
        st.stop()
    try:
        if chosen_run() not in (FOLDER_CHOICE, *named_runs()):
            raise KgdashError(
                f"There is no run {source!r} here: it was removed or renamed, or is another "
                "machine's. Choose a run in the sidebar."
            )
        run = load_source(source, dataset)
    except KgdashError as error:
        _no_run("No run is open")
        note("refused", reason="input", error=type(error).__name__)
        st.error(plain(str(error)), icon=":material/error:")
        other = default_run()
        st.button(f"Open {other}", "open_another", on_click=choose_run, args=(other,))
        st.stop()
    if chosen_run() == FOLDER_CHOICE:
        note_opened(source, dataset)
    st.session_state[_CURRENT] = named(run)  # sessions hold no run: closed tabs stay for a while
    place.caption(
        f"**{plain(run.spec.name)}** on **{plain(run.graph.name)}**: "
        f"{run.graph.num_entities:,} entities, {run.graph.num_relations:,} relations, "
        f"{len(run.graph.known()):,} triples"
        + ("  \n:material/info: about this run" if run.notes else ""),
        help="  \n".join(map(plain, run.notes)) or None,
    )
    with place:
        show_preparation(run)


def chosen_run() -> str:
    """Return the name of the chosen run, or `FOLDER_CHOICE`."""
    return str(st.session_state.get(_RUN, default_run()))


def choose_run(value: str) -> None:
    """Choose a run, as a click in the sidebar does; only in a widget's callback.

    :param value: a name, `FOLDER_CHOICE`, or a folder that was opened lately
    """
    if value == FOLDER_CHOICE or value in named_runs():
        st.session_state[_RUN] = value
    else:
        st.session_state[_RUN] = FOLDER_CHOICE
        st.session_state["folder"] = value
        st.session_state["dataset"] = dict(recent_folders()).get(value, "")


def _chosen() -> tuple[str, str]:
    """Show the choice; return what was chosen, and the dataset of a PyKEEN directory."""
    # An address has the name alone, a choice more: the field, which nobody sees, is the address.
    with st.container(key="run_address"):
        chosen = st.text_input("Run in the address", default_run(), key=_RUN, bind="query-params")
    texts = _texts()
    st.session_state[_CHOICE] = chosen if chosen in texts else None
    st.selectbox(
        "Run",
        list(texts),
        index=0 if chosen in texts else None,
        format_func=lambda value: texts.get(value, value),
        key=_CHOICE,
        on_change=_follow,
        placeholder="Choose a run",
        help="A trained model with its graph: one of the bundled ones, or your own. The MRR is "
        "recorded at training.",
    )
    return _folder() if chosen == FOLDER_CHOICE else (chosen, "")


def _follow() -> None:
    if (value := st.session_state[_CHOICE]) is not None:
        choose_run(value)


def _texts() -> dict[str, str]:
    """Return what the choices read: the name, the recorded MRR, the model on its graph."""
    texts = {row["name"]: visible(" · ".join(_parts(row))) for row in list_runs()}
    for row in describe_recent():
        texts[row["folder"]] = visible(" · ".join([*_parts(row), row["folder"]]))
    return texts | {FOLDER_CHOICE: FOLDER_CHOICE}


def _parts(row: dict[str, Any]) -> list[str]:
    about = " on ".join(filter(None, (row["model"], row["graph"])))
    mrr = "" if row["mrr"] is None else f"MRR {number(row['mrr'])}"
    mrr += " (PyKEEN's)" * (row["evaluated_by"] == "PyKEEN")
    return [part for part in (row["name"], mrr, about) if part]


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
    """Return the run that the sidebar's choice loaded; again, where no page holds it any more.

    :raises KgdashError: if it is not what it was by then
    """
    ensure_navigation()
    run: Run = st.session_state[_CURRENT]()
    return run


def about_page() -> str:
    """Say what the page's figures are of: "umls-transe · TransE on umls"; of many runs: a graph."""
    if _CURRENT not in st.session_state:
        return ""
    run = current_run()
    if compares_runs():
        return run.graph.name
    return f"{run.name} · {run.spec.name} on {run.graph.name}"


def _no_run(title: str) -> None:
    """Forget the run that was open, and head the page that says why none is."""
    st.session_state.pop(_CURRENT, None)
    stop_refining()
    st.title(title)


def show_notes(run: Run) -> None:
    """Show what a user should know of a run before reading its figures, if anything."""
    if run.notes:
        st.warning("  \n".join(map(plain, run.notes)), icon=":material/info:")
