"""Charts on pages."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st


def show_chart(figure: go.Figure, key: str, name: str, **selection: Any) -> Any:
    """Show a chart and offer it as a file.

    :param key: of the widget
    :param name: of the file, without an extension
    :param selection: ``on_select`` and ``selection_mode`` of `st.plotly_chart`
    :return: what was selected, as `st.plotly_chart` returns it
    """
    return st.plotly_chart(
        figure,
        key=key,
        config={"toImageButtonOptions": {"filename": name}, "displaylogo": False},
        **selection,
    )
