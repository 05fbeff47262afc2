"""Charts of expected performance: the line with its interval, and how often intervals held."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.correlation import add_band, task_label
from kgdash.charts.message import by_halves, of_each
from kgdash.charts.style import SIDE_COLOURS, empty, finish, log_ticks, whiskers
from kgdash.files.html import escape
from kgdash.statistics.estimate import number

#: was the value inside its interval -> name, colour, symbol
_MARKS = {
    True: ("inside their interval", SIDE_COLOURS["head"], "circle"),
    False: ("outside", SIDE_COLOURS["tail"], "x"),
}

#: of `kgdash.studies.correlation.prediction_check` -> name, colour, symbol, place beside the level
_SCHEMES = {
    "overlapping": ("learnt from any", SIDE_COLOURS["both"], "circle", -0.006),
    "disjoint": ("sharing no evaluated triple", SIDE_COLOURS["relation"], "diamond", 0.006),
}

#: of the subgraph picked by the user
_HERE = "#a05fb4"


def prediction_scatter(
    points: pd.DataFrame,
    band: pd.DataFrame,
    task: str,
    texts: Sequence[str],
    here: Mapping[str, Any] | None = None,
) -> go.Figure:
    """Draw what was observed against ReliK, with the predicted curve and interval.

    ``customdata`` of a subgraph is its number in ``points``.

    :param points: of `kgdash.studies.correlation.performance_prediction.PerformancePrediction`
    :param band: ``relik``, ``predicted``, ``low``, ``high``: the curve and its interval
    :param texts: one description per row of ``points``, for hovering
    :param here: the subgraph picked by the user: ``relik``, ``predicted``, ``low``, ``high``,
        ``observed`` (NaN if not known)
    """
    if points.empty:
        return empty("no subgraph has both values")
    figure = go.Figure()
    add_band(figure, band, "predicted", "predicted", "interval")
    rows = points.assign(
        number=np.arange(len(points)),
        text=[escape(text).replace("\n", "<br>") for text in texts],
        inside=points["observed"].between(points["low"], points["high"]),
    )
    for inside, (name, colour, symbol) in _MARKS.items():
        part = rows[rows["inside"] == inside]
        figure.add_scatter(
            x=part["relik"],
            y=part["observed"],
            mode="markers",
            name=f"{name} ({len(part)})",
            marker={"color": colour, "symbol": symbol, "size": 9, "opacity": 0.75},
            customdata=part["number"].tolist(),
            text=[
                f"{row.text}<br>ReliK {number(row.relik)}<br>{task_label(task)} "
                f"{number(row.observed)}, predicted {number(row.low)} to {number(row.high)}"
                for row in part.itertuples()
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    if here is not None and here["relik"] > 0:
        _add_here(figure, here, task)
    values = [*points["relik"], *([here["relik"]] if here and here["relik"] > 0 else [])]
    ticks, tick_texts = _ticks(min(values), max(max(values), min(values) * 1.01))
    figure.update_xaxes(
        type="log", title="mean ReliK (log scale)", tickvals=ticks, ticktext=tick_texts
    )
    figure.update_yaxes(title=f"{task_label(task)} ↑")
    message = _scatter_message(rows, task, here)
    return finish(figure, message, height=460, clickmode="event+select")


def _scatter_message(rows: pd.DataFrame, task: str, here: Mapping[str, Any] | None) -> str:
    found = by_halves("mean ReliK", rows["relik"], task_label(task), rows["observed"])
    told = (
        ""
        if here is None
        else (
            f" Expected here: {number(here['predicted'])}, {number(here['low'])} to "
            f"{number(here['high'])}; measured {number(here['observed'])}."
        )
    )
    inside = f"{int(rows['inside'].sum())} of {len(rows)} values lie inside their intervals"
    return f"{inside}. {found}.{told}"


def coverage_figure(coverage: pd.DataFrame) -> go.Figure:
    """Draw the share of values inside their intervals against the level that was promised.

    :param coverage: of `kgdash.studies.correlation.performance_prediction.PerformancePrediction`
    """
    rows = coverage[coverage["covered"].notna()]
    if rows.empty:
        return empty("no subgraph could be predicted")
    figure = go.Figure()
    figure.add_scatter(
        x=[0.45, 1],
        y=[0.45, 1],
        mode="lines",
        line={"color": SIDE_COLOURS["both"], "width": 1, "dash": "dot"},
        name="as promised",
        hoverinfo="skip",
    )
    for scheme, part in rows.groupby("scheme", sort=False):
        name, colour, symbol, beside = _SCHEMES[str(scheme)]
        figure.add_scatter(
            x=part["level"] + beside,
            y=part["covered"],
            mode="markers",
            name=name,
            marker={"color": colour, "symbol": symbol, "size": 10},
            error_y=whiskers(
                part["covered"], part["covered_low"], part["covered_high"], thickness=1.5
            ),
            customdata=part[["level", "subgraphs", "width"]].to_numpy().tolist(),
            hovertemplate="promised %{customdata[0]:.0%}, held %{y:.1%}<br>"
            "%{customdata[1]} subgraphs, mean width %{customdata[2]:.3g}<extra></extra>",
        )
    levels = sorted(rows["level"].unique())
    figure.update_xaxes(
        title="level promised", tickvals=levels, ticktext=[f"{v:.0%}" for v in levels]
    )
    figure.update_xaxes(range=[0.45, 1.0])
    figure.update_yaxes(title="share inside", tickformat=".0%")
    held = of_each(
        [
            f"{_SCHEMES[str(row.scheme)][0]}, promised {row.level:.0%}: held"
            for row in rows.itertuples()
        ],
        rows["covered"],
        rows["covered_low"],
        rows["covered_high"],
    )
    return finish(figure, f"How often intervals held: {held}.", height=460)


def _ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Choose ticks of a log axis that may span less than one step of `log_ticks`."""
    ticks, texts = log_ticks(low, high)
    if len(ticks) > 2:
        return ticks, texts
    step = 10.0 ** np.floor(np.log10((high - low) / 2))
    step *= max(m for m in (1, 2, 5) if m * step * 2 <= high - low)
    ticks = [step * i for i in range(int(np.ceil(low / step)), int(high / step) + 1)]
    return ticks, [f"{tick:.3g}" for tick in ticks]


def _add_here(figure: go.Figure, here: Mapping[str, Any], task: str) -> None:
    shown = f"{number(here['predicted'])}, {number(here['low'])} to {number(here['high'])}"
    figure.add_scatter(
        x=[here["relik"]],
        y=[here["predicted"]],
        mode="markers",
        name="expected here",
        marker={"color": _HERE, "symbol": "line-ew-open", "size": 16, "line": {"width": 3}},
        error_y=whiskers([here["predicted"]], [here["low"]], [here["high"]]),
        hovertemplate=f"here<br>{task_label(task)} expected {shown}<extra></extra>",
    )
    if np.isfinite(here["observed"]):
        figure.add_scatter(
            x=[here["relik"]],
            y=[here["observed"]],
            mode="markers",
            name="true value here",
            marker={"color": _HERE, "symbol": "star", "size": 15},
            hovertemplate=f"here<br>{task_label(task)} {number(here['observed'])}<extra></extra>",
        )
