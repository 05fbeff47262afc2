"""All runs in one table; a click opens one."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from kgdash.runs.library import list_runs
from kgdash.runs.recent import describe_recent
from kgdash.ui.runtime.run_picker import choose_run
from kgdash.ui.widgets.table import download, number_columns, written

_PLACES = {"own": "yours", "bundled": "bundled", "recent": "opened lately"}

_KEY = "all_runs"


def show_runs() -> None:
    """Show yours, those in folders that were opened lately, and the bundled ones."""
    rows = list_runs()
    own = [row for row in rows if row["place"] == "own"]
    rows = own + describe_recent() + rows[len(own) :]
    values = [row.get("folder", row["name"]) for row in rows]
    table = _table(rows)
    # Cells mean other runs once the list is another one.
    key = f"{_KEY} {hash(tuple(values))}"
    event = st.dataframe(
        written(table),
        hide_index=True,
        placeholder="–",
        column_config=number_columns(
            table,
            mrr="recorded MRR ↑",
            hits_at_10="recorded Hits@10 ↑",
            written=st.column_config.DatetimeColumn("written", format="YYYY-MM-DD HH:mm"),
        ),
        on_select=lambda: _choose(key, values),
        selection_mode="single-cell",
        key=key,
    )
    download(table, "kgdash-runs")
    if _clicked(event, values) is not None:
        st.switch_page("pages/overview.py", query_params={})


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    columns = {
        "run": [row["name"] for row in rows],
        "model": [row["model"] for row in rows],
        "graph": [row["graph"] for row in rows],
        "mrr": pd.Series([row["mrr"] for row in rows], dtype="float64"),
        "hits_at_10": pd.Series([row["hits_at_10"] for row in rows], dtype="float64"),
        "evaluated by": [row["evaluated_by"] for row in rows],
        "written": pd.to_datetime(pd.Series([row["created"] for row in rows], dtype="str")),
        "kind": [_PLACES[row["place"]] for row in rows],
        "folder": [row.get("folder") for row in rows],
    }
    table = pd.DataFrame(columns)
    # What all have, or none, says nothing.
    if not (table["evaluated by"] == "PyKEEN").any():
        table = table.drop(columns="evaluated by")
    return table if table["folder"].notna().any() else table.drop(columns="folder")


def _choose(key: str, values: list[str]) -> None:
    value = _clicked(st.session_state[key], values)
    if value is not None:
        choose_run(value)


def _clicked(event: Any, values: list[str]) -> str | None:
    cells = event.selection.cells if event else []
    row = cells[-1][0] if cells else None
    return values[row] if row is not None and row < len(values) else None
