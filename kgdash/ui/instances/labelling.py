"""Judging predictions on a page: one at a time, with buttons and keys, and the labels so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from kgdash.errors import KgdashError
from kgdash.files.visitor import visitor
from kgdash.graph import triple_text
from kgdash.runs import Run
from kgdash.runs.call import Reading, named
from kgdash.statistics.estimate import number
from kgdash.studies.labelling.error_rate import ErrorRate
from kgdash.studies.labelling.events import LABEL, Labelling, NamedTriple
from kgdash.studies.labelling.journal import journal_file
from kgdash.studies.labelling.queue import LabelQueue, in_labels
from kgdash.studies.labelling.results import check_labelled, label_table, labelled_rule_table
from kgdash.studies.labelling.session import judge, remove, skip, undo
from kgdash.studies.rules.parsing import readings
from kgdash.ui.runtime.long_work import result_of
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.downloads import made_later, most_bytes
from kgdash.ui.widgets.file_name import file_name
from kgdash.ui.widgets.inspect_link import IDS, pick_triple
from kgdash.ui.widgets.table import download, number_columns, written

_REFUSED = "label_refused"

#: rules shown with a prediction before the others are folded away, and at most; and facts of each
_FEW_RULES, _MOST_RULES, _MOST_FACTS = 2, 20, 500


def show_refusal() -> None:
    """Show why the latest step could not be done, if so."""
    refused = st.session_state.pop(_REFUSED, None)
    if refused:
        st.error(plain(refused), icon=":material/error:")


def judge_next(queue: LabelQueue, state: Labelling, by: str) -> None:
    """Show how far it is, and the next prediction with what can be said of it."""
    labelled, skipped = state.progress(queue.order)
    later = f", {skipped:,} skipped" if skipped else ""
    total = len(queue.order)
    st.progress(labelled / total, text=f"{labelled:,} of {total:,} labelled{later}")
    triple = state.open(queue.order)
    with st.container(border=True, key="prediction"):
        if triple is None:
            st.header("All of them have a label", anchor=False)
            if not queue.table.empty:
                st.caption("Take more rules or more predictions per rule to go on.")
        else:
            if state.progress([triple])[1]:
                st.caption("You skipped this one before. Is it true?")
            elif queue.table.empty:
                st.caption("The graph holds this fact. Is it true?")
            else:
                st.caption("The rules below predict this. Is it true?")
            named = triple_text(*triple)
            about = in_labels(triple, queue.graph)
            st.header(plain(about), anchor=False, help=plain(named) if named != about else None)
        _buttons(queue, state, triple, by)
        if triple is not None:
            _why(queue, triple)


def show_error_rate(rate: ErrorRate) -> None:
    """Show how many facts are wrong by the labels so far."""
    value = f"{number(100 * rate.value)}%" if rate.labelled else "–"
    ends = f"{number(100 * rate.low)} to {number(100 * rate.high)}%" if rate.labelled else None
    show_card("Wrong facts in train", value, ends)
    st.caption(rate.text)


def show_labels(run: Run, state: Labelling) -> None:
    """Show the labels that hold, each removable, and offer them as files."""
    at_home = visitor().is_local
    kept = f"Kept in {plain(str(journal_file(run.graph)))}" if at_home else None
    st.header("Labels so far", help=kept)
    table = label_table(state, run.graph)
    if table.empty:
        st.caption("None yet.")
        return
    called_true = int((table["label"] == "true").sum())
    st.caption(
        f"{called_true:,} true, {len(table) - called_true:,} false: all on this graph, whoever "
        "gave them. Select rows to remove them."
    )
    listed = table.drop(columns="number").assign(at=pd.to_datetime(table["at"], utc=True))
    event: Any = st.dataframe(
        written(listed),
        hide_index=True,
        column_config=number_columns(listed),
        on_select="rerun",
        selection_mode="multi-row",
        # Row numbers mean other labels once there is another one, or another graph.
        key=f"labels {hash((run.graph.identity, *table['number']))}",
    )
    graph = named(run.graph)  # sessions hold what buttons do, and so no graph
    rows = dict.fromkeys(event.selection.rows if event else [])
    chosen = table["number"].iloc[list(rows)].tolist()
    st.button(
        f"Remove {len(chosen)} selected" if chosen else "Remove selected",
        disabled=not chosen,
        key="remove_labels",
        icon=":material/delete:",
        on_click=partial(_try, lambda: remove(graph(), chosen)),
    )
    download(table.drop(columns="number"), f"{run.name}-labels")
    _offer_instances(run, state)


def _offer_instances(run: Run, state: Labelling) -> None:
    try:
        check_labelled(state, run.graph)
    except KgdashError as error:
        st.caption(plain(str(error)))
        return
    graph = named(run.graph)

    def made() -> str:
        table: str = result_of(Reading(labelled_rule_table, graph(), most_bytes()))
        return table

    st.download_button(
        "Download table of rule instances",
        made_later(made, one_by_one="tables of labels"),
        file_name=file_name(f"{run.name}-labelled-instances", ".tsv"),
        mime="text/tab-separated-values",
        icon=":material/download:",
        key="labelled_instances",
        on_click="ignore",
        help="For Rule predictions, “My own table”, and for `kgdash rules --table`.",
    )


def _buttons(queue: LabelQueue, state: Labelling, triple: NamedTriple | None, by: str) -> None:
    latest, graph = state.latest(by), named(queue.graph)
    steps: list[tuple[str, str, str, bool, Callable[[], Any]]] = []
    if triple is not None:
        own = named(queue.of(triple))
        steps = [
            ("True", "Y", ":material/check:", True, lambda: judge(own(), triple, True, by)),
            ("False", "N", ":material/close:", True, lambda: judge(own(), triple, False, by)),
            ("Skip", "S", ":material/skip_next:", True, lambda: skip(own(), triple, by)),
        ]
    steps.append(("Undo", "U", ":material/undo:", latest is not None, lambda: undo(graph(), by)))
    with st.container(horizontal=True):
        for name, shortcut, icon, enabled, step in steps:
            st.button(
                name,
                key=f"label_{name.lower()}",
                icon=icon,
                shortcut=shortcut,
                disabled=not enabled,
                on_click=partial(_try, step),
            )
    if latest is not None:
        event = state.events[latest]
        said = "skipped" if event.kind != LABEL else "true" if event.label else "false"
        about = in_labels(event.triple, queue.graph) if event.triple else ""
        st.caption(f"Latest: {plain(about)}, **{said}**")


def _why(queue: LabelQueue, triple: NamedTriple) -> None:
    found = queue.instances_of(triple)
    words = readings(found["group"], queue.graph)
    rows = found[["instance", "group"]].to_numpy().tolist()
    for instance, rule in rows[:_FEW_RULES]:
        _grounding(queue, instance, words[rule])
    if rows[_FEW_RULES:]:
        further = rows[_FEW_RULES:_MOST_RULES]
        cut = f", {len(further)} shown" if len(rows) > _MOST_RULES else ""
        with st.expander(f"{len(rows) - _FEW_RULES} more rules predict it{cut}"):
            for instance, rule in further:
                _grounding(queue, instance, words[rule])


def _grounding(queue: LabelQueue, instance: int, rule: str) -> None:
    st.markdown(f"**Because** {plain(rule)}")
    shown = queue.shown(instance)
    # Its own ReliK is not among them: who judges should not know what the model thinks.
    every = shown[~shown["is_answer_triple"]]
    body = every.head(_MOST_FACTS)
    facts = pd.DataFrame(
        {
            "way": body["grounding"] + 1,
            "fact": triple_text(body["head"], body["relation"], body["tail"]),
            "split": body["split"],
            "relik": body["relik"],
        }
    )
    facts = facts if facts["way"].max() > 1 else facts.drop(columns="way")
    rows = queue.triples[queue.triples["instance"] == instance]
    ids = rows.loc[~rows["is_answer_triple"], IDS].head(_MOST_FACTS).to_numpy()
    way = st.column_config.NumberColumn("way", width=50)
    pick_triple(
        queue.graph, ids, facts, f"grounding {instance}", "facts behind it", relik="ReliK", way=way
    )
    if len(every) > len(body):
        st.caption(f"The first {len(body):,} of {len(every):,} facts.")


def _try(step: Callable[[], Any]) -> None:
    """Do a step of labelling before the page runs anew; a refusal is shown then."""
    try:
        step()
    except KgdashError as error:
        st.session_state[_REFUSED] = str(error)
