"""Colours and layout that all figures share; they hold on light and on dark pages."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from kgdash.charts.message import with_message
from kgdash.files.html import escape
from kgdash.graph.relation_names import end_first
from kgdash.statistics.estimate import number

#: colour-blind-safe, of middling lightness so that they show on white and on near-black
SIDE_COLOURS = {"head": "#2f7fd1", "tail": "#d9742b", "both": "#7a8794", "relation": "#2e9d78"}
RANK_TYPE_PATTERNS = {"optimistic": "/", "realistic": "", "pessimistic": "\\"}

#: low → high ReliK; hue and lightness both tell, no end vanishes on either background
RELIABILITY_SCALE = [
    [0.0, "#c8401a"],
    [0.25, "#d98a50"],
    [0.5, "#9d97a3"],
    [0.75, "#5a97d6"],
    [1.0, "#1e5fb4"],
]

#: low → high in cells that hold figures: dark enough throughout for white ones
CELL_SCALE = [[0.0, "#b5421f"], [0.5, "#6d6675"], [1.0, "#1e5fb4"]]

#: colour and symbol of the runs of a comparison, in their order
RUN_LOOKS = (
    ("#2f7fd1", "circle"),
    ("#d9742b", "diamond-open"),
    ("#2e9d78", "square-open"),
    ("#9a6fd0", "x"),
    ("#c2578f", "triangle-up-open"),
    ("#7a8794", "cross"),
    ("#8a6d3b", "star"),
    ("#c8401a", "hexagon-open"),
)

GREY = "rgba(128, 138, 150, 0.55)"

#: from few to many: visible on white and on near-black; no end means good or bad
DENSITY = [[0.0, "#a9c8e8"], [0.5, "#4a86c8"], [1.0, "#5b3fa0"]]

_TEXT = "%{text}<extra></extra>"


def finish(
    figure: go.Figure, message: str, height: int = 360, top: float = 40, **layout: object
) -> go.Figure:
    """Give a figure the margins, legend place and transparency that all share, and return it.

    :param message: what it says, with its values, for those who do not see it
    :param top: the margin there, in pixels: 8 without a legend
    """
    axis = {"automargin": True, "gridcolor": "rgba(128,138,150,0.22)", "zeroline": False}
    axes = {name: axis for name in figure.layout if name.startswith(("xaxis", "yaxis"))}
    # Of one update: Plotly checks the whole layout at each.
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": top, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "title": None},
        hoverlabel={"align": "left"},
        modebar={"bgcolor": "rgba(0,0,0,0)"},
        **axes,
    )
    figure.update_layout(**layout)
    return with_message(figure, message)


def empty(message: str, height: int = 200) -> go.Figure:
    """Return a figure that only says why there is nothing to show."""
    figure = go.Figure()
    figure.add_annotation(text=message, showarrow=False, xref="paper", yref="paper", x=0.5, y=0.5)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return finish(figure, message, height)


def name_rows(figure: go.Figure, names: Sequence[str], margin: float = 0.5) -> None:
    """Name the rows of a figure that are drawn at y = 0, −1, −2 …, the first on top.

    :param margin: room above the first and below the last, in rows
    """
    figure.update_yaxes(
        tickvals=-np.arange(len(names), dtype=float),
        ticktext=[escape(name) for name in names],
        range=[margin - len(names), margin],
        showgrid=False,
        fixedrange=True,
    )


def add_row_bars(figure: go.Figure, x: ArrayLike, texts: Sequence[str], **more: Any) -> None:
    """Draw horizontal bars at y = 0, −1, −2 …, the first on top, that say more on hovering.

    :param x: how long they are, shape ``(n,)``
    :param texts: one per bar, HTML
    :param more: of Plotly's bar
    """
    way = {"orientation": "h", "textposition": "none", "hovertemplate": _TEXT}
    figure.add_bar(x=x, y=-np.arange(len(texts), dtype=float), text=texts, **way, **more)


def write_above(figure: go.Figure, y: float, text: str, hover: str) -> None:
    """Write a text above what is drawn in a row: beside it it would take a phone's whole width.

    :param y: where it stands, from the bottom
    :param hover: plain
    """
    figure.add_annotation(
        text=text,
        hovertext=escape(hover),
        showarrow=False,
        xref="paper",
        x=0,
        xanchor="left",
        y=y,
        yanchor="bottom",
        font={"size": 12},
    )


def leave_rows_unnamed(figure: go.Figure, count: int) -> None:
    """Show rows at y = 0, −1, −2 … without names beside them: they are above, by `write_above`."""
    figure.update_yaxes(
        range=[0.45 - count, 0.75], showgrid=False, showticklabels=False, fixedrange=True
    )


def whiskers(
    values: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    colour: str | None = None,
    thickness: float = 2.5,
    width: float = 5,
) -> dict[str, Any]:
    """Describe intervals around marks or bars, for Plotly's ``error_x`` and ``error_y``.

    :param values: shape ``(n,)``
    :param low: the lower ends, in units of the values; NaN for none
    :param high: the upper ends, likewise
    :param colour: default: that of the marks
    """
    middle = np.asarray(values, dtype=float)
    # NaN stays: of a length of 0 the cap would be drawn, as if the value were certain.
    return {
        "type": "data",
        "symmetric": False,
        "array": (np.asarray(high, dtype=float) - middle).clip(min=0),
        "arrayminus": (middle - np.asarray(low, dtype=float)).clip(min=0),
        "thickness": thickness,
        "width": width,
    } | ({"color": colour} if colour else {})


def log_ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Choose ticks for a log axis or colour bar from ``low`` to ``high`` (both > 0).

    :return: values and their texts; powers of ten where the range spans some, else 1-2-5 steps
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1,) if high / low > 200 else (1, 2, 5)
    values = [m * 10.0**e for e in range(first, last + 1) for m in steps]
    inside = [v for v in values if low * 0.999 <= v <= high * 1.001] or [low, high]
    return inside, [_tick(v) for v in inside]


def log_axis(values: ArrayLike) -> dict[str, Any]:
    """Describe a log axis of values > 0, for Plotly's ``update_xaxes`` and ``update_yaxes``."""
    low, high = float(np.min(values)), float(np.max(values))
    ticks, texts = log_ticks(low, max(high, low * 1.01))
    return {"type": "log", "tickvals": ticks, "ticktext": texts}


def short_label(label: str, limit: int = 26) -> str:
    """Cut a label that is longer than ``limit``; see `kgdash.charts.breakdowns.shortened`."""
    return cut(end_first(label), limit)


def cut(text: str, limit: int) -> str:
    """Cut a text that is longer than ``limit``."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def reliability_colour(share: float) -> str:
    """Return the colour at a place of `RELIABILITY_SCALE`, as CSS.

    :param share: in [0, 1]
    """
    position = share * (len(RELIABILITY_SCALE) - 1)
    at = min(int(position), len(RELIABILITY_SCALE) - 2)
    ends = [_rgb(str(RELIABILITY_SCALE[i][1])) for i in (at, at + 1)]
    mixed = ends[0] + (ends[1] - ends[0]) * (position - at)
    return f"rgb({', '.join(str(round(c)) for c in mixed)})"


def _rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], dtype=float)


def _tick(value: float) -> str:
    return f"{value:g}" if 1e-3 <= value < 1e5 else number(value)
