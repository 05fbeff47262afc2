"""The tables kept on disk: what they are of, and clearing them."""

import streamlit as st

from kgdash.files.cache_folder import cache_directory, cache_limit
from kgdash.files.table_cache import list_cache
from kgdash.files.visitor import visitor
from kgdash.progress import duration_text
from kgdash.ui.runtime.navigation import ensure_navigation
from kgdash.ui.runtime.visitors import lets
from kgdash.ui.widgets.cache_table import (
    choose_tables,
    confirm,
    show_cleared,
    size_text,
)
from kgdash.ui.widgets.table import download

ensure_navigation()
st.title("Cache")
st.caption(
    "What took long to compute is kept on disk, so that it is there at once the next time, also "
    "after a restart and on the command line. What was not used for longest goes first when the "
    "limit is reached."
)
show_cleared()
listed = list_cache()
size = int(listed["bytes"].sum())
with st.container(horizontal=True):
    st.metric("Tables", f"{len(listed):,}", border=True)
    st.metric("Size", size_text(size), border=True)
    st.metric("Limit", size_text(cache_limit()), border=True)
    st.metric("Computing them took", duration_text(float(listed["seconds"].sum())), border=True)
if visitor().folder == "":
    st.caption(
        f"In `{cache_directory()}`. `KGDASH_CACHE` moves it, `KGDASH_CACHE_LIMIT` bounds it."
    )

if listed.empty:
    st.info(
        "Nothing is kept yet: only what takes longer than 0.3 seconds to compute is.",
        icon=":material/info:",
    )
    st.stop()
st.header("Tables kept")
st.caption("Click a heading to sort. Select rows to clear only those.")
buttons = st.container(horizontal=True)
chosen = choose_tables(listed)
download(listed, "kgdash-cache")
with buttons:
    if not lets("clear"):
        st.stop()
    if st.button(
        f"Clear {len(chosen)} selected" if chosen else "Clear selected",
        disabled=not chosen,
        key="clear_selected",
    ):
        confirm(chosen, int(listed.loc[listed["key"].isin(chosen), "bytes"].sum()), len(chosen))
    if st.button("Clear all …", icon=":material/delete:", key="clear_all"):
        confirm(None, size, len(listed))
