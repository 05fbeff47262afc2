"""Parallel coordinates on pages."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from kgdash.ui.widgets.chart import show_chart

#: pixels that an axis needs; a narrower page scrolls the chart sideways
_AXIS = 80

#: Plotly gives these axes black lines and their texts a white halo, also on dark pages
_STYLE = """<style>
.st-key-{key} .js-plotly-plot .axis text {{ text-shadow: none !important; }}
.st-key-{key} .js-plotly-plot .axis path, .st-key-{key} .js-plotly-plot .axis line {{
    stroke: #808a96 !important; stroke-opacity: 0.6 !important;
}}
.st-key-{key}_scroll {{ overflow-x: auto; }}
.st-key-{key}_scroll .st-key-{key} {{ min-width: {width}px; }}
</style>"""


def show_parallel(figure: go.Figure, key: str, name: str) -> None:
    """Show a figure of parallel coordinates so that its axes can be read on any page.

    :param key: of the widget
    :param name: of the file that the chart is saved as, without an extension
    """
    axes = sum(len(trace.dimensions) for trace in figure.data)
    st.html(_STYLE.format(key=key, width=_AXIS * axes))
    with st.container(key=f"{key}_scroll"):
        show_chart(figure, key, name)
