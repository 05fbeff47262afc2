"""Tables on pages: numbers that can be read, and a download of the whole."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

_TINY = {"relik", "relik_low", "relik_high", "relik_best", "relik_mean"}


def number_columns(table: pd.DataFrame, **labels: str) -> dict[str, Any]:
    """Describe numeric columns for `st.dataframe`: ReliK in scientific notation, ranks whole.

    :param labels: column -> heading, where it is not the column's name
    """
    config: dict[str, Any] = {}
    for column in table.columns:
        heading = labels.get(column, str(column).replace("_", " "))
        if column in _TINY:
            config[column] = st.column_config.NumberColumn(heading, format="%.3e")
        elif pd.api.types.is_integer_dtype(table[column]):
            config[column] = st.column_config.NumberColumn(heading, format="%d")
        elif pd.api.types.is_float_dtype(table[column]):
            config[column] = st.column_config.NumberColumn(heading, format="%.4g")
        else:
            config[column] = st.column_config.Column(heading)
    return config


def download(table: pd.DataFrame, name: str) -> None:
    """Offer a table as CSV, all rows and full precision."""
    st.download_button(
        "Download CSV",
        # Made at the click: a file made now is gone as soon as refined figures replace it.
        lambda: table.to_csv(index=False).encode(),
        file_name=f"{name}.csv",
        mime="text/csv",
        icon=":material/download:",
        key=f"download {name}",
        on_click="ignore",
    )
