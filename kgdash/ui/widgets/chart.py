"""Charts on pages, each with a way to save it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from kgdash.charts.export import FIGURE_TYPES, figure_bytes
from kgdash.charts.message import message_of
from kgdash.files.chromium import find_browser
from kgdash.files.visible import visible
from kgdash.ui.runtime.run_picker import about_page
from kgdash.ui.runtime.sidebar import noted_settings
from kgdash.ui.widgets.downloads import made_later
from kgdash.ui.widgets.file_name import file_name
from kgdash.ui.widgets.selection import selected_point

#: extension -> what its button says
_OFFERED = {".html": "HTML, works offline", ".svg": "SVG", ".png": "PNG"}


def show_chart(
    figure: go.Figure, key: str, name: str, scroll_zoom: bool = False, **selection: Any
) -> Any:
    """Show a chart and offer it as a file.

    :param key: of the widget
    :param name: of the file, without an extension
    :param scroll_zoom: the wheel zooms
    :param selection: ``on_select`` and ``selection_mode`` of `st.plotly_chart`
    :return: what was selected, as `st.plotly_chart` returns it
    """
    with st.container(gap=None):
        # Out of sight, for screen readers: Plotly names nothing that it draws.
        st.html(f'<p class="chart-message">{escape(visible(message_of(figure)))}</p>')
        selected = st.plotly_chart(
            figure,
            key=key,
            config={
                "toImageButtonOptions": {"filename": file_name(name, "")},
                "displaylogo": False,
                "modeBarButtonsToRemove": ["toImage"],  # "Save chart" has more
                "scrollZoom": scroll_zoom,
            },
            **selection,
        )
        _offer(figure, key, name)
    return selected


def clicked_point(
    figure: go.Figure, key: str, name: str, on_click: Callable[[], None] | None = None
) -> Any:
    """Show a chart whose points can be clicked: the ``customdata`` of the latest one, or None.

    :param on_click: called before the page runs for a click, as a widget's callback
    """
    way = on_click or "rerun"
    return selected_point(show_chart(figure, key, name, on_select=way, selection_mode="points"))


def _caption() -> str:
    """Say of what the page's charts are: the run, where the page is about one, and its settings."""
    return " · ".join(filter(None, [about_page(), noted_settings()]))


def _offer(figure: go.Figure, key: str, name: str) -> None:
    """Show the small menu under a chart; files are drawn at the click."""
    can_draw = find_browser() is not None
    with (
        st.container(horizontal=True, horizontal_alignment="right"),
        st.popover("Save chart", icon=":material/download:", type="tertiary", key=f"save_{key}"),
    ):
        for extension, label in _OFFERED.items():
            content = partial(figure_bytes, figure, extension, name, caption=_caption())
            st.download_button(
                label,
                made_later(content, one_by_one="" if extension == ".html" else "drawings"),
                file_name=file_name(name, extension),
                mime=FIGURE_TYPES[extension],
                key=f"save_{key}_{extension[1:]}",
                on_click="ignore",
                disabled=not can_draw and extension != ".html",
                width="stretch",
            )
        if not can_draw:
            st.caption(
                "SVG and PNG need Chromium on the machine that serves this page; the camera of "
                "the chart itself saves a PNG without it."
            )
