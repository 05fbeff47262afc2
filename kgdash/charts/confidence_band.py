"""A line with the band around it, as several figures have them."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.style import SIDE_COLOURS

_FILL = "rgba(122, 135, 148, 0.22)"


def add_band(
    figure: go.Figure, band: pd.DataFrame, middle: str, line_name: str, band_name: str
) -> None:
    """Draw a line over ReliK, and fill what lies around it.

    :param figure: gets two traces, the band first
    :param band: ``relik`` (ascending), ``low``, ``high``, and the line's column
    :param middle: the line's column
    :param line_name: in the legend
    :param band_name: in the legend
    """
    there, back = band, band[::-1]
    figure.add_scatter(
        x=[*there["relik"], *back["relik"]],
        y=[*there["high"], *back["low"]],
        fill="toself",
        fillcolor=_FILL,
        line={"width": 0},
        mode="lines",
        name=band_name,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=band["relik"],
        y=band[middle],
        mode="lines",
        line={"color": SIDE_COLOURS["both"], "width": 2},
        name=line_name,
        hoverinfo="skip",
    )
