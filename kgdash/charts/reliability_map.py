"""Figures of the reliability map: groups by ReliK, communities as bubbles, and the baseline."""

import networkx as nx
import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.graph_layout import SHORT, name_sides, spread_out
from kgdash.charts.message import of_each
from kgdash.charts.relik_scale import ReliKScale
from kgdash.charts.style import (
    GREY,
    RELIABILITY_SCALE,
    SIDE_COLOURS,
    empty,
    finish,
    log_axis,
    short_label,
    whiskers,
)
from kgdash.files.html import escape
from kgdash.statistics.estimate import Estimate, number, with_interval

#: rows of a chart of the least and the most reliable
_ENDS = 12

_NAME_LENGTH = 24

#: communities drawn, the largest first
_BUBBLES = 60

#: pixels of a bubble, at least
_LEAST = 9

#: lines between them, those of the most triples first, and their classes of width, in pixels
_LINES, _WIDTHS = 200, 4


def reliability_dots(table: pd.DataFrame, scale: ReliKScale) -> go.Figure:
    """Draw the mean ReliK of the most and of the least reliable, with intervals.

    ``customdata`` of a point is the row number in ``table``.

    :param table: of `by`, in its order; intervals of one triple are NaN
    :param scale: of the run
    """
    if table.empty:
        return empty("no known triple")
    rows = table.assign(row=np.arange(len(table)))
    if len(rows) > 2 * _ENDS:
        rows = pd.concat([rows.head(_ENDS), rows.tail(_ENDS)])
    place = -np.arange(len(rows), dtype=float)
    low, high = (rows[end].fillna(rows["relik"]) for end in ("low", "high"))
    figure = go.Figure()
    figure.add_scatter(
        x=rows["relik"],
        y=place,
        mode="markers",
        marker={
            "color": [scale.colour(value) for value in rows["relik"]],
            "size": 10,
            "symbol": np.where(rows["small"], "circle-open", "circle"),
            "line": {"width": 2},
        },
        error_x=whiskers(rows["relik"], rows["low"], rows["high"], GREY, thickness=1.5),
        customdata=rows["row"].tolist(),
        text=[
            f"{escape(row.label)}<br>mean ReliK "
            f"{with_interval(Estimate(row.relik, row.low, row.high, row.triples))}"
            f"<br>{row.triples:,} triples"
            for row in rows.itertuples()
        ],
        hovertemplate="%{text}<extra></extra>",
    )
    ends = [np.minimum(low, rows["relik"]).min(), high.max()]
    figure.update_xaxes(title="mean ReliK ↑ (log scale)", **log_axis(ends))
    figure.update_yaxes(
        tickvals=place,
        ticktext=[escape(short_label(label, _NAME_LENGTH)) for label in rows["label"]],
        range=[0.7 - len(rows), 0.7],
        showgrid=False,
    )
    if len(table) > 2 * _ENDS:
        figure.add_hline(y=0.5 - _ENDS, line={"color": GREY, "dash": "dot", "width": 1})
    message = f"Mean ReliK: {of_each(rows['label'], rows['relik'], rows['low'], rows['high'])}."
    height = 80 + 21 * len(rows)
    return finish(figure, message, height, clickmode="event+select", showlegend=False)


def community_map(table: pd.DataFrame, between: pd.DataFrame, scale: ReliKScale) -> go.Figure:
    """Draw communities: area by triples inside, colour by ReliK, lines by triples between.

    Springs (NetworkX, seeded) place them; what no line joins to most stands in a row beneath.
    ``customdata`` of a bubble is the row number in ``table``.

    :param table: of `ReliabilityMap.by` "communities"; of more than 60, the largest are drawn
    :param between: of `kgdash.studies.reliability.reliability_map.between`
    :param scale: of the run
    """
    if table.empty:
        return empty("no community holds a known triple")
    rows = table.assign(row=np.arange(len(table))).nlargest(_BUBBLES, "triples")
    ids = rows["id"].tolist()
    lines = between[between["a"].isin(ids) & between["b"].isin(ids)]
    graph = nx.Graph()
    graph.add_nodes_from(ids)
    graph.add_weighted_edges_from(
        zip(lines["a"], lines["b"], np.log1p(lines["triples"]), strict=True)
    )
    sizes = np.maximum(58 * np.sqrt(rows["triples"] / rows["triples"].max()), _LEAST)
    places = spread_out(graph, sizes.to_numpy())
    figure = go.Figure()
    _add_lines(figure, lines.nlargest(_LINES, "triples"), places)
    named = name_sides(places, dict(zip(ids, sizes, strict=True)), rows["label"].tolist())
    texts = [
        escape(short_label(row.label, SHORT)) if row.id in named else ""
        for row in rows.itertuples()
    ]
    figure.add_scatter(
        x=[places[i][0] for i in ids],
        y=[places[i][1] for i in ids],
        mode="markers+text",
        name="communities",
        text=texts,
        textposition=[named.get(i, "top center") for i in ids],
        textfont={"size": 11},
        marker={
            "size": sizes,
            **scale.marker(rows["relik"], "mean ReliK inside (log scale)"),
            "line": {"width": 1, "color": GREY},
            "opacity": 0.9,
        },
        customdata=rows["row"].tolist(),
        hovertext=[
            f"{escape(row.label)}<br>{row.entities:,} entities, {row.triples:,} triples inside"
            f"<br>mean ReliK {number(row.relik)}"
            for row in rows.itertuples()
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    points = np.array(list(places.values()))
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    reach = 0.62 * np.maximum(np.ptp(points, axis=0), 1.0)
    (left, below), (right, above) = middle - reach, middle + reach
    figure.update_xaxes(visible=False, range=[left, right])
    figure.update_yaxes(visible=False, range=[below, above])
    message = f"Communities by mean ReliK: {of_each(rows['label'], rows['relik'])}."
    return finish(
        figure,
        message,
        height=560,
        showlegend=False,
        clickmode="event+select",
        margin={"l": 0, "r": 0, "t": 8, "b": 8},
    )


def _add_lines(figure: go.Figure, lines: pd.DataFrame, places: dict) -> None:
    """Draw lines in classes of one width, since a Plotly line has one."""
    logs = np.log1p(lines["triples"].to_numpy())
    widths = np.ceil(_WIDTHS * logs / logs.max(initial=1.0)).astype(int)
    for width in np.unique(widths):
        drawn = lines[widths == width]
        ends = np.array(
            [[places[a], places[b], (np.nan, np.nan)] for a, b in drawn[["a", "b"]].to_numpy()]
        )
        points = ends.reshape(-1, 2)
        figure.add_scatter(
            x=points[:, 0],
            y=points[:, 1],
            mode="lines",
            line={"color": GREY, "width": float(width)},
            opacity=0.4,
            hoverinfo="skip",
        )


def baseline_figure(regions: pd.DataFrame, baseline: np.ndarray) -> go.Figure:
    """Draw how far regions stand out, beside the farthest of each permutation.

    ``customdata`` of a region is its row number.

    :param regions: ``table`` of `kgdash.studies.reliability.region_scan.ReliabilityRegions`
    :param baseline: of the same
    """
    if regions.empty:
        return empty("no group of this size has known triples inside")
    figure = go.Figure()
    figure.add_histogram(
        x=baseline,
        nbinsx=30,
        name="greatest |z| of each permutation",
        marker={"color": GREY},
        hovertemplate="|z| %{x}: %{y} permutations<extra></extra>",
    )
    top = np.histogram(baseline, 30)[0].max()
    for kind, colour in (("low", RELIABILITY_SCALE[0][1]), ("high", RELIABILITY_SCALE[-1][1])):
        part = regions[regions["kind"] == kind]
        figure.add_scatter(
            x=part["z"].abs(),
            y=[top * (0.55 if kind == "low" else 0.75)] * len(part),
            mode="markers",
            name=f"regions of {kind} ReliK",
            marker={
                "color": colour,
                "size": 10,
                "symbol": np.where(
                    part["p"] <= 0.05,
                    "triangle-down" if kind == "low" else "triangle-up",
                    "triangle-down-open" if kind == "low" else "triangle-up-open",
                ),
            },
            customdata=part.index.tolist(),
            text=[
                f"{escape(row.label)}<br>{row.entities} entities, z {number(row.z)}, "
                f"p {number(row.p)}"
                for row in part.itertuples()
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    figure.add_vline(
        x=float(np.quantile(baseline, 0.95)),
        line={"color": SIDE_COLOURS["both"], "dash": "dot", "width": 1.5},
        annotation_text="p = 0.05",
        annotation_position="top right",
    )
    figure.update_xaxes(title="|z|: how far ReliK inside stands out")
    figure.update_yaxes(title="permutations")
    least = float(np.quantile(baseline, 0.95))
    message = (
        f"{int((regions['p'] <= 0.05).sum())} of {len(regions)} regions stand out beyond |z| "
        f"{number(least)}, which 5% of permutations reach: "
        f"{of_each(regions['label'], regions['z'])}."
    )
    return finish(figure, message, height=300, top=56, bargap=0.05)
