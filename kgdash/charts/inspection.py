"""Figures of one triple: where its score lies among candidates', and its entities in a plane."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.message import bulk
from kgdash.charts.style import GREY, SIDE_COLOURS, empty, finish, short_label
from kgdash.files.html import escape
from kgdash.statistics.estimate import number, percent

#: groups of marked entities: colour and symbol, so that shape tells them apart as well
_MARKS = {
    "head": (SIDE_COLOURS["head"], "star"),
    "tail": (SIDE_COLOURS["tail"], "star"),
    "candidate": (SIDE_COLOURS["relation"], "circle"),
    "nearest": (SIDE_COLOURS["both"], "diamond"),
}

_TEXT = "%{text}<extra></extra>"

#: of the line at a triple's own score: no side has it
_MARKER = "#8a4fc0"

#: best candidates and neighbours whose names are written: more would cover one another
_NAMED = 3


def candidate_histogram(
    table: pd.DataFrame, side: str, score: float | None = None, height: int = 380
) -> go.Figure:
    """Draw how many candidates have which score, known facts apart, on a log axis of counts.

    :param table: ``left``, ``right``, ``candidates``, ``known`` (facts among them), one row per bin
    :param side: whose colour the known facts have
    :param score: the inspected triple's, marked by a line if it is finite
    """
    if table.empty:
        return empty("no score is finite", height)
    figure, widths = go.Figure(), table["right"] - table["left"]
    parts = (
        ("candidates", table["candidates"], GREY),
        ("known facts", table["known"], SIDE_COLOURS[side]),
    )
    texts = [
        f"{number(row.left)} to {number(row.right)}<br>{row.candidates:,} candidates, "
        f"{row.known:,} of them known"
        for row in table.itertuples()
    ]
    for name, counts, colour in parts:
        figure.add_bar(
            x=(table["left"] + table["right"]) / 2,
            y=counts.where(counts > 0),
            width=widths,
            name=name,
            marker={"color": colour, "line": {"width": 0}},
            text=texts,
            textposition="none",
            hovertemplate=_TEXT,
        )
    if score is not None and np.isfinite(score):
        figure.add_vline(x=score, line={"color": _MARKER, "width": 3})
        right = score > (table["left"].iloc[0] + table["right"].iloc[-1]) / 2
        figure.add_annotation(
            x=score,
            y=1,
            yref="paper",
            text=f"this triple {number(score)}",
            showarrow=False,
            xanchor="right" if right else "left",
            yanchor="top",
            xshift=-6 if right else 6,
            font={"size": 13},
        )
    figure.update_xaxes(title="score")
    figure.update_yaxes(title="candidates (log)", type="log", dtick=1, exponentformat="power")
    figure.update_yaxes(range=[-0.3, np.log10(max(int(table["candidates"].max()), 1)) + 0.3])
    return finish(figure, _scores_message(table, score), height, barmode="overlay", bargap=0)


def _scores_message(table: pd.DataFrame, score: float | None) -> str:
    left, right = table["left"], table["right"]
    parts = [bulk("candidates", left, right, table["candidates"])]
    parts.append(bulk("known facts", left, right, table["known"]))
    if score is not None and np.isfinite(score):
        above = int(table.loc[left > score, "candidates"].sum())
        parts.append(f"this triple has {number(score)}; candidates in higher bins: {above:,}")
    return f"Scores of candidates: {'; '.join(parts)}."


def plane_figure(
    background: np.ndarray,
    marked: pd.DataFrame,
    labels: Sequence[str],
    explained: tuple[float, float],
) -> go.Figure:
    """Draw entities in a plane, some of them marked.

    ``customdata`` of a marked point is its entity's id.

    :param background: points, float64, ``(n, 2)``
    :param marked: ``id``, ``group`` (of "head", "tail", "candidate", "nearest"), ``x``, ``y``
    :param labels: of all entities
    :param explained: the share of the variance that each axis shows
    """
    figure = go.Figure()
    figure.add_scattergl(
        x=background[:, 0],
        y=background[:, 1],
        mode="markers",
        name="other entities",
        marker={"color": GREY, "size": 4, "opacity": 0.5},
        hoverinfo="skip",
    )
    for group, (colour, symbol) in _MARKS.items():
        part = marked[marked["group"] == group]
        if part.empty:
            continue
        names = [labels[i] for i in part["id"]]
        shown = len(names) if symbol == "star" else _NAMED
        figure.add_scatter(
            x=part["x"],
            y=part["y"],
            mode="markers+text",
            name=group if group in ("head", "tail", "nearest") else "best candidates",
            marker={"color": colour, "symbol": symbol, "size": 16 if symbol == "star" else 9},
            textfont={"size": 12},
            text=[escape(short_label(n)) if i < shown else "" for i, n in enumerate(names)],
            textposition="top center",
            customdata=part["id"].tolist(),
            hovertext=[escape(name) for name in names],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    for update, share, place in (
        (figure.update_xaxes, explained[0], "first"),
        (figure.update_yaxes, explained[1], "second"),
    ):
        update(title=f"{place} component, {percent(share)} of the variance")
    tops = marked[marked["group"].isin(["head", "tail"])]
    placed = [
        f"{labels[i]} ({x:.2g}, {y:.2g})" for i, x, y in tops[["id", "x", "y"]].to_numpy(object)
    ]
    message = (
        f"Entities in the plane that shows {percent(sum(explained))} of the variance: "
        f"{', '.join(placed)}, {len(marked) - len(tops)} others marked, {len(background):,} around."
    )
    return finish(figure, message, 520)
