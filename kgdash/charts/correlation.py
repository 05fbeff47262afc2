"""Figures of the correlation study: subgraphs, tasks side by side, sizes, and runs."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.message import along, by_halves, of_each
from kgdash.charts.style import SIDE_COLOURS, empty, finish, log_axis, whiskers
from kgdash.files.html import escape
from kgdash.statistics.estimate import number
from kgdash.statistics.multiple_testing import LEVEL

_LINE = "#7a8794"
_BAND = "rgba(122, 135, 148, 0.22)"
_ACCURACY = "#a05fb4"
_DASHES = {"head": "dash", "tail": "solid", "both": "dot", "relation": "dashdot"}
_SYMBOLS = {"head": "square", "tail": "circle", "both": "diamond", "relation": "triangle-up"}

#: between the markers of one size, as a share of the axis
_APART = 0.006

#: of the markers, in pixels across
_LEAST, _MOST = 7, 18


def task_label(task: str) -> str:
    """Name a task as users read it: "tail MRR", "Hits@10 of both sides", "accuracy"."""
    if task == "accuracy":
        return "classification accuracy"
    side, _, measure = task.partition("_")
    if measure == "mrr":
        return f"{side} MRR"
    where = {"both": "of both sides", "relation": "of relations"}.get(side, f"of {side}s")
    return f"Hits@{measure.removeprefix('hits_at_')} {where}"


def study_scatter(
    scores: pd.DataFrame,
    task: str,
    band: pd.DataFrame,
    texts: Sequence[str],
    log_relik: bool = False,
) -> go.Figure:
    """Draw a task against mean ReliK, a point per subgraph, with the regression line and its band.

    ``customdata`` of a point is the row number in ``scores``. A point grows with the number of
    evaluated triples behind it.

    :param scores: of `kgdash.studies.reliability.subgraph_table.score_subgraphs`
    :param task: a column of it
    :param band: of `kgdash.studies.correlation.correlation.regression_band`; may have no rows
    :param texts: one description per row, for hovering
    """
    rows = scores.assign(
        row=np.arange(len(scores)), text=[escape(text).replace("\n", "<br>") for text in texts]
    )
    rows = rows[rows["relik"].notna() & rows[task].notna()]
    if rows.empty:
        return empty("no subgraph has both values")
    figure = go.Figure()
    if len(band):
        add_band(figure, band, "mean", "least squares", "95% band of the line")
    most = max(int(rows["evaluated"].max()), 1)
    figure.add_scatter(
        x=rows["relik"],
        y=rows[task],
        mode="markers",
        name=f"subgraphs ({len(rows)})",
        marker={
            "color": SIDE_COLOURS["head"],
            "size": _LEAST + (_MOST - _LEAST) * np.sqrt(rows["evaluated"] / most),
            "opacity": 0.7,
            "line": {"width": 1, "color": "rgba(255,255,255,0.6)"},
        },
        customdata=rows["row"].tolist(),
        text=rows["text"],
        hovertemplate="%{text}<br>ReliK %{x:.3g}, " + task_label(task) + " %{y:.3g}<extra></extra>",
    )
    figure.update_xaxes(title="mean ReliK" + (" (log scale)" if log_relik else ""))
    if log_relik:
        figure.update_xaxes(**log_axis(rows["relik"]))
    figure.update_yaxes(title=task_label(task))
    found = by_halves("mean ReliK", rows["relik"], task_label(task), rows[task])
    message = f"Subgraphs, {task_label(task)} against mean ReliK: {found}."
    return finish(figure, message, height=460, clickmode="event+select")


def task_intervals(coefficients: pd.DataFrame, coefficient: str) -> go.Figure:
    """Draw the coefficient of every task with its interval; open where p > 0.05.

    :param coefficients: of `kgdash.studies.correlation.correlation.correlations`
    :param coefficient: "pearson", "spearman" or "kendall"
    """
    rows = coefficients[
        (coefficients["coefficient"] == coefficient) & coefficients["value"].notna()
    ][::-1]
    if rows.empty:
        return empty("nothing to correlate")
    figure = go.Figure()
    figure.add_scatter(
        x=rows["value"],
        y=[task_label(task) for task in rows["task"]],
        mode="markers",
        error_x=whiskers(rows["value"], rows["low"], rows["high"], _LINE, thickness=1.5),
        marker={
            "size": 10,
            "color": (colours := [_colour(task) for task in rows["task"]]),
            "symbol": [f"circle{end}" for end in _open(rows)],
            "line": {"width": 2, "color": colours},
        },
        text=_hover(rows),
        hovertemplate="%{y}<br>%{text}<extra></extra>",
        showlegend=False,
    )
    figure.add_vline(0, line={"color": _LINE, "width": 1})
    figure.update_xaxes(
        title=f"{coefficient_label(coefficient)} with mean ReliK", range=[-1.05, 1.05]
    )
    tasks = [task_label(task) for task in rows["task"]]
    found = of_each(tasks, rows["value"], rows["low"], rows["high"])
    message = f"{coefficient_label(coefficient)} with mean ReliK: {found}."
    return finish(figure, message, height=90 + 28 * len(rows))


def size_sweep(coefficients: pd.DataFrame, coefficient: str, tasks: Sequence[str]) -> go.Figure:
    """Draw the coefficient against the size of subgraphs, a line per task; filled where p ≤ 0.05.

    :param coefficients: of `kgdash.studies.correlation.correlation.correlation_study`, of several
        sizes
    :param coefficient: "pearson", "spearman" or "kendall"
    """
    rows = coefficients[
        (coefficients["coefficient"] == coefficient) & coefficients["value"].notna()
    ]
    drawn = [task for task in tasks if (rows["task"] == task).any()]
    if not drawn:
        return empty("nothing to correlate")
    figure = go.Figure()
    for place, task in enumerate(drawn):
        of_task = rows[rows["task"] == task].sort_values("size")
        side, colour = task.partition("_")[0], _colour(task)
        # A little apart, so that no interval hides another.
        shift = (place - (len(drawn) - 1) / 2) * _APART * max(np.ptp(rows["size"]), 1)
        figure.add_scatter(
            x=of_task["size"] + shift,
            customdata=of_task["size"],
            y=of_task["value"],
            name=task_label(task),
            mode="lines+markers",
            line={"color": colour, "width": 2, "dash": _DASHES.get(side, "longdash")},
            error_y=whiskers(
                of_task["value"], of_task["low"], of_task["high"], colour, thickness=1, width=3
            ),
            marker={
                "size": 11,
                "color": colour,
                "symbol": [f"{_SYMBOLS.get(side, 'star')}{end}" for end in _open(of_task)],
                "line": {"width": 2, "color": colour},
            },
            text=_hover(of_task),
            hovertemplate="%{customdata} entities<br>%{text}<extra>%{fullData.name}</extra>",
        )
    figure.add_hline(0, line={"color": _LINE, "width": 1})
    sizes = sorted(rows["size"].unique().tolist())
    figure.update_xaxes(title="entities in each subgraph", tickvals=sizes)
    figure.update_yaxes(title=coefficient_label(coefficient), range=[-1.05, 1.05])
    by_task = [(task, rows[rows["task"] == task].sort_values("size")) for task in drawn]
    lines = [along(task_label(task), "size", p["size"], p["value"]) for task, p in by_task]
    message = f"{coefficient_label(coefficient)} by size of subgraphs: {'; '.join(lines)}."
    return finish(figure, message, height=460)


def add_band(
    figure: go.Figure, band: pd.DataFrame, middle: str, line_name: str, band_name: str
) -> None:
    """Draw a line over ReliK, and fill what lies around it.

    :param figure: gets two traces, the band first
    :param band: ``relik`` (ascending), ``low``, ``high``, and the line's column
    """
    there, back = band, band[::-1]
    figure.add_scatter(
        x=[*there["relik"], *back["relik"]],
        y=[*there["high"], *back["low"]],
        fill="toself",
        fillcolor=_BAND,
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


def coefficient_label(coefficient: str) -> str:
    """Name a coefficient with its symbol."""
    return {"pearson": "Pearson r", "spearman": "Spearman ρ", "kendall": "Kendall τ"}[coefficient]


def _colour(task: str) -> str:
    return SIDE_COLOURS.get(task.partition("_")[0], _ACCURACY)


def _open(rows: pd.DataFrame) -> list[str]:
    """Return the end of each marker's name: nothing where dealt ReliK tells it from chance."""
    return ["" if p <= LEVEL else "-open" for p in rows["p_permutation"]]


def _hover(rows: pd.DataFrame) -> list[str]:
    return [
        f"{number(row.value)}, 95% {number(row.low)} to {number(row.high)}<br>"
        f"p = {number(row.p_permutation)}, {row.subgraphs} subgraphs"
        for row in rows.itertuples()
    ]
