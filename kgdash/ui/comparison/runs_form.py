"""Choosing the runs to compare, kept in the URL."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.runs import Run
from kgdash.runs.library import list_runs, named_runs
from kgdash.studies.comparison.comparison import FEWEST, MOST, check_comparable, distinct_names
from kgdash.studies.inspection.other_runs import runs_on_same_graph
from kgdash.ui.runtime.computed import refuse
from kgdash.ui.runtime.loaded_runs import check_together, load_beside, quick_runs
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.run_picker import choose_run
from kgdash.ui.runtime.sidebar import settings

#: between a folder and the dataset of a PyKEEN directory
_BEFORE_DATASET = "|"

#: names and folders, blank lines and those of the same run among them
_MOST_LINES = 64


def choose_runs(
    run: Run, suggested: Sequence[str] = (), first: int = 2, fewest: int = FEWEST
) -> dict[str, Run]:
    """Show the choice of the runs and load them; a refusal ends the page's run.

    :param run: of the sidebar, which always comes first
    :param suggested: names of runs that are chosen at first; without any, others of its graph
    :param first: how many of these are, of `quick_runs`
    :param fewest: 1 where a page says something of a single run, too
    :return: ``fewest`` to 8 runs on its graph, by distinct names
    """
    names = list(named_runs())
    opened = suggested or quick_runs(run, runs_on_same_graph(run), first)
    others = settings().multiselect(
        f"Compare {plain(run.name)} with",
        names,
        default=[name for name in opened if name in names][: MOST - 1],
        max_selections=MOST - 1,
        key="with",
        bind="query-params",
        help="Bundled runs and yours. The run of the sidebar is always one of those compared.",
    )
    folders = settings().text_area(
        "and with runs in folders, one a line",
        key="folders",
        bind="query-params",
        height=68,
        placeholder="path/to/run\npath/to/pykeen-directory | dataset",
        help="Written by `kgdash train` or `kgdash import`, or by PyKEEN's "
        "`save_to_directory`; then followed by | and its dataset, by PyKEEN name or by folder.",
    )
    try:
        runs = _load([*others, *folders.splitlines()], run)
        if len(runs) < fewest:
            _say_what_to_choose(run)
            st.stop()
        if len(runs) > 1:
            check_comparable(runs)
    except KgdashError as error:
        refuse(error)
    return dict(zip(distinct_names(runs), runs, strict=True))


def add_runs(names: list[str]) -> None:
    """Choose further runs; only in a widget's callback.

    Where there are too many together, those that were chosen first make room.
    """
    chosen = [name for name in st.session_state["with"] if name not in names]
    st.session_state["with"] = [*chosen, *names][-(MOST - 1) :]


def show_notes_of(runs: dict[str, Run]) -> None:
    """Show what a user should know of the runs, each note once; whose it is, unless all have it."""
    by_note: dict[str, list[str]] = {}
    for name, run in runs.items():
        for note in run.notes:
            by_note.setdefault(note, []).append(plain(name))
    lines = [
        plain(note) if len(names) == len(runs) else f"{', '.join(names)}: {plain(note)}"
        for note, names in by_note.items()
    ]
    if lines:
        st.warning("  \n".join(lines), icon=":material/info:")


def _say_what_to_choose(run: Run) -> None:
    """Say that there is nothing to compare; if no run can be, offer those of another graph."""
    if runs_on_same_graph(run, 1):
        st.info("Choose one more run, or name its folder.", icon=":material/compare:")
        return
    st.info(
        f"There is no other run on {plain(run.graph.name)} here. Name the folder of one, or train "
        "or add one on the page Runs.",
        icon=":material/compare:",
    )
    by_graph: dict[str, list[str]] = {}
    for row in list_runs():
        if row["graph"] != run.graph.name:
            by_graph.setdefault(str(row["graph"]), []).append(row["name"])
    graph, names = max(by_graph.items(), key=lambda each: len(each[1]), default=("", []))
    if len(names) >= FEWEST:
        st.button(
            f"Compare the runs on {plain(graph)}", "compare_others", on_click=_open, args=(names,)
        )


def _open(names: list[str]) -> None:
    """Choose the first of some runs, and the others to be compared with it."""
    choose_run(names[0])
    st.session_state["with"] = names[1:FEWEST]


def _load(lines: list[str], run: Run) -> list[Run]:
    if len(lines) > _MOST_LINES:
        raise KgdashError(f"expected at most {MOST} runs; found {len(lines):,} lines")
    runs = [run]
    for line in lines:
        source, _, dataset = line.partition(_BEFORE_DATASET)
        if not source.strip():
            continue
        loaded = load_beside(source, dataset)
        if loaded.digest != run.digest:
            runs.append(loaded)
            check_together(runs)
        # Refused, however many more there are, each of which may take much memory.
        if len(runs) > MOST or loaded.graph.digest != run.graph.digest:
            break
    return runs
