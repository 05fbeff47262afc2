"""The tables of the page Reliability map."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from kgdash.ranking.glossary import explained
from kgdash.ui.widgets.selection import selected_row
from kgdash.ui.widgets.table import download, number_columns, written

#: columns that the table's menu shows
_LATER = {"typical", "expected", "z", "small", "relations"}

#: columns in scientific notation, and their headings
_TINY = {
    "relik": "mean ReliK ↑",
    "low": "95% low",
    "high": "95% high",
    "typical": "geometric mean",
    "expected": "expected by relations",
}

#: headings of what the rows of a table are
_LABELS = {
    "regions": "region",
    "communities": "community",
    "entity": "entity",
    "relation": "relation",
}


def map_table(
    shown: pd.DataFrame,
    whole: pd.DataFrame,
    key: str,
    name: str,
    first: int | None = None,
    on_select: Callable[[], None] | None = None,
) -> int | None:
    """Show rows of a table, offer all of it as a file, and return which row is selected.

    :param first: which is at first
    :param on_select: as of `kgdash.ui.widgets.chart.clicked_point`
    """
    columns = number_columns(shown, mrr="MRR ↑", evaluated="test triples", label=_LABELS[key]) | {
        column: st.column_config.NumberColumn(label, help=explained(label))
        for column, label in _TINY.items()
        if column in shown
    }
    columns |= dict.fromkeys(_LATER & set(shown))
    event = st.dataframe(
        written(shown),
        hide_index=True,
        placeholder="–",
        column_config=columns,
        on_select=on_select or "rerun",
        selection_mode="single-row",
        selection_default=None if first is None else {"selection": {"rows": [first]}},
        key=f"table_{key}",
    )
    download(whole, name)
    return selected_row(event)
