"""The widgets that make, show and delete a user's own groupings."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from kgdash.breakdowns.condition import (
    BETWEEN,
    MOST_CHARACTERS,
    NAMES,
    NUMBERS,
    Condition,
    operators_of,
)
from kgdash.breakdowns.custom_grouping import ENDS, CustomGrouping, TypeGrouping, condition_grouping
from kgdash.charts.style import cut
from kgdash.errors import KgdashError
from kgdash.files.regular import file_stamp
from kgdash.files.visitor import visitor
from kgdash.runs import Run
from kgdash.runs.saved_groupings import (
    delete_grouping,
    groupings_file,
    save_grouping,
    saved_groupings,
)
from kgdash.ui.metrics.types_upload import uploaded_types
from kgdash.ui.runtime.markdown import plain

#: rows of the grouping that is being made, in the session
_ROWS = "grouping_rows"

#: characters that are shown of a grouping, or of one of its conditions
_SAID = 200

_WAYS = ("conditions", "a file of entity types")


_Stamp = tuple[str | int, ...]


@dataclass(frozen=True)
class OwnGroupings:
    """Groupings that are saved with a run, and what tells them from those of another moment."""

    saved: dict[str, CustomGrouping]
    stamp: _Stamp

    def key(self, by: str) -> tuple[Hashable, ...]:
        """Return what results by a grouping, maybe a saved one, are kept under."""
        return (by, *(self.stamp if by in self.saved else ()))


def own_groupings(run: Run) -> OwnGroupings:
    """Return what is saved with the run; a damaged file costs a warning, not the page."""
    stamp = _stamp(run)
    try:
        return OwnGroupings(_saved(run, run.identity, stamp), stamp)
    except KgdashError as error:
        st.warning(plain(str(error)), icon=":material/warning:")
        return OwnGroupings({}, stamp)


def _stamp(run: Run) -> _Stamp:
    """Return what changes whenever the saved groupings do."""
    path = groupings_file(run)
    return str(path), *file_stamp(path)


@st.cache_resource(max_entries=6, show_spinner=False)
def _saved(_run: Run, identity: tuple[str, str], stamp: _Stamp) -> dict[str, CustomGrouping]:
    return saved_groupings(_run)


def edit_groupings(run: Run, saved: dict[str, CustomGrouping]) -> None:
    """Show the saved groupings and a form for another one; saving runs the page again."""
    with st.expander("Your own groups", icon=":material/category:"):
        for name, grouping in saved.items():
            with st.container(horizontal=True, vertical_alignment="center"):
                said = cut(grouping.describe(), _SAID)
                st.markdown(f"**{plain(name)}**: {plain(said)}", width="stretch")
                if st.button("Delete", key=f"delete grouping {name}", icon=":material/delete:"):
                    _keep(partial(delete_grouping, run, name))
        way = st.segmented_control(
            "A new grouping by", _WAYS, default=_WAYS[0], required=True, key="grouping_way"
        )
        name = st.text_input(
            "Name", key="grouping_name", placeholder="such as difficulty", max_chars=80
        )
        try:
            made = _by_conditions(name) if way == _WAYS[0] else _by_types(run, name)
        except KgdashError as error:
            st.error(plain(str(error)), icon=":material/error:")
            return
        if st.button("Save", disabled=made is None, icon=":material/save:") and made is not None:
            _keep(partial(save_grouping, run, made))
        place = f"are in {plain(str(groupings_file(run)))} and " * visitor().is_local
        st.caption(f"Saved groupings {place}stand under Group by.")


def _by_conditions(name: str) -> CustomGrouping | None:
    rows: list[tuple[str, Condition]] = st.session_state.setdefault(_ROWS, [])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        group = st.text_input(
            "Group", key="row_group", placeholder="such as rare", width=150, max_chars=80
        )
        column = st.selectbox("Column", [*NUMBERS, *NAMES], key="row_column", width=170)
        way = st.selectbox("is", operators_of(column), key="row_operator", width=120)
        value = st.text_input(
            "Value",
            key="row_value",
            max_chars=MOST_CHARACTERS,
            width=200,
            help=f"A number or a name; for *in* several names with {BETWEEN} between them, for "
            "*contains* a part of one. Degrees and frequency count train triples.",
        )
        added = st.button("Add row", disabled=not (group.strip() and value.strip()))
    st.caption(
        "Rows of one group must all hold. A rank may be in several groups; what is in none makes "
        "one of its own."
    )
    if added:
        grouping = condition_grouping(
            name or "unnamed", [*rows, (group, Condition(column, way, value))]
        )
        rows.append((group.strip(), grouping.buckets[group.strip()][-1]))
    for number, (bucket, condition) in enumerate(rows):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"{plain(bucket)}: {plain(cut(condition.text, _SAID))}", width="stretch")
            st.button(
                "Remove row",
                key=f"remove row {number}",
                icon=":material/close:",
                on_click=rows.__delitem__,
                args=(number,),
            )
    return condition_grouping(name, rows) if rows and name.strip() else None


def _by_types(run: Run, name: str) -> CustomGrouping | None:
    types = uploaded_types(run.graph, "grouping_types")
    end = st.selectbox(
        "Whose types",
        ENDS,
        index=2,
        key="grouping_end",
        width=220,
        help="Of the triple's head or tail, of the answer (the entity asked for), or of the query "
        "(the entity given).",
    )
    if types is None:
        return None
    st.caption(f"{len(types.names):,} types of {len(set(types.entities.tolist())):,} entities.")
    return TypeGrouping(name.strip(), end, types) if name.strip() else None


def _keep(change: Callable[[], Path]) -> None:
    """Save or delete, then run the page again; a refusal is shown instead."""
    try:
        change()
    except KgdashError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    st.session_state.pop(_ROWS, None)
    st.rerun()
