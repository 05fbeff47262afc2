"""How what pages show was computed: versions, digests, seeds, commands, the machine."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from kgdash.files.provenance import libraries, machine
from kgdash.files.shipped_tables import offered_tables
from kgdash.files.table_cache import list_cache
from kgdash.files.table_note import read_note
from kgdash.runs import Run
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.sidebar import footer
from kgdash.ui.widgets.table import show_table
from kgdash.version import __version__

_SHOWN = ("kind", "method", "filter", "seed", "created", "seconds", "version", "command")
_MORE = ("sides", "triples", "machine", "libraries", "run_digest", "graph_digest")


def offer_provenance(run: Run) -> None:
    """Put a button at the sidebar's end that tells how the run's results were computed."""
    with footer():
        told = st.button(
            "How it was computed", "provenance", icon=":material/history:", type="tertiary"
        )
    if told:
        _tell(run)


def tables_behind(run: Run) -> pd.DataFrame:
    """List the stored tables of a run and of its graph, those that come with kgdash included.

    :return: columns as `kgdash.files.table_cache.list_cache` has them, without sizes and use
    """
    notes = [{**read_note(path), "command": "came with kgdash"} for path in offered_tables()]
    listed = pd.concat([list_cache(), pd.DataFrame(notes)], ignore_index=True)
    listed = listed.reindex(columns=[*_SHOWN, *_MORE])
    of_run = listed["run_digest"] == run.digest
    # A table of the graph alone names no run.
    of_graph = (listed["graph_digest"] == run.graph.digest) & listed["run_digest"].isin(["", None])
    listed = listed[of_run | of_graph].reset_index(drop=True)
    created = pd.to_datetime(listed["created"], utc=True, errors="coerce", format="ISO8601")
    return listed.assign(created=created, seed=listed["seed"].astype("Int64"))


@st.dialog("How it was computed", width="large")
def _tell(run: Run) -> None:
    facts = {
        f"Run {plain(run.name)}": f"`{run.digest}`",
        f"Graph {plain(run.graph.name)}": f"`{run.graph.digest}`",
        "kgdash": f"{__version__} with {libraries()}",
        "This machine": machine(),
    }
    st.markdown("  \n".join(f"**{name}:** {fact}" for name, fact in facts.items()))
    st.caption(
        "What takes less than 0.3 seconds is computed here when a page asks for it. All else is "
        "kept with what it was computed by:"
    )
    table = tables_behind(run)
    when = st.column_config.DatetimeColumn("computed", format="distance")
    name = f"{run.name}-provenance"
    show_table(table[list(_SHOWN)], "tables_behind", name, whole=table, created=when)
