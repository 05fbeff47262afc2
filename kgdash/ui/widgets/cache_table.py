"""The table of what the cache holds, and the dialog before anything of it is deleted."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from kgdash.errors import KgdashError
from kgdash.files.table_cache import cache_size, clear_cache
from kgdash.ui.runtime.markdown import plain

_COLUMNS = {
    "run": "run",
    "kind": "kind",
    "details": "details",
    "triples": "triples",
    "seconds": "took",
    "bytes": "size",
    "used": "last used",
    "graph": "graph",
    "created": "computed",
}

_DONE = "cleared_tables"


def size_text(size: float) -> str:
    """Write a number of bytes for people."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:,.3g} GiB"


def choose_tables(listed: pd.DataFrame) -> list[str]:
    """Show the stored tables and return the keys of the selected ones.

    :param listed: of `kgdash.files.table_cache.list_cache`
    """
    details = listed[["method", "filter", "sides"]].apply(
        lambda row: "; ".join(filter(None, row)), axis=1
    )
    kinds = listed["kind"].str.replace("relik", "ReliK")
    shown = listed.assign(kind=kinds, details=details)
    event = st.dataframe(
        shown[list(_COLUMNS)],
        hide_index=True,
        placeholder="–",
        on_select="rerun",
        selection_mode="multi-row",
        # Row numbers mean other tables once the list is another one.
        key=f"tables {hash(tuple(listed['key']))}",
        column_config={
            **{column: st.column_config.Column(label) for column, label in _COLUMNS.items()},
            "triples": st.column_config.NumberColumn("triples", format="localized"),
            "seconds": st.column_config.NumberColumn("took", format="%.1f s"),
            "bytes": st.column_config.NumberColumn("size", format="bytes"),
            "used": st.column_config.DatetimeColumn("last used", format="distance"),
            "created": st.column_config.DatetimeColumn("computed", format="distance"),
        },
    )
    return listed["key"].iloc[event.selection.rows].tolist()


def show_cleared() -> None:
    """Say once how much was deleted, after the dialog closed."""
    if _DONE in st.session_state:
        st.toast(st.session_state.pop(_DONE), icon=":material/delete:")


@st.dialog("Clear the cache")
def confirm(keys: Sequence[str] | None, size: int, count: int) -> None:
    """Ask before tables are deleted, and delete them.

    :param keys: of `kgdash.files.table_cache.list_cache`; None for all
    :param size: bytes of these tables together
    :param count: how many they are
    """
    tables = "this table" if count == 1 else f"these {count:,} tables"
    st.write(
        f"Delete {tables} ({size_text(size)})? No result is lost: what is asked for again is "
        "computed again."
    )
    with st.container(horizontal=True):
        if st.button(
            "Delete", type="primary", icon=":material/delete:", on_click=_delete, args=(keys,)
        ):
            st.rerun()
        if st.button("Cancel"):
            st.rerun()


def _delete(keys: Sequence[str] | None) -> None:
    before = cache_size()[1]
    try:
        deleted = clear_cache(keys)
    except KgdashError as error:
        st.session_state[_DONE] = plain(str(error))
        return
    freed = size_text(max(0, before - cache_size()[1]))
    tables = "table" if deleted == 1 else "tables"
    st.session_state[_DONE] = f"Deleted {deleted:,} {tables}, {freed}"
