"""A subgraph drawn: nodes, labels, and edges coloured by ReliK."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.graph_layout import Layout, layout, pairs_of
from kgdash.charts.message import of_each
from kgdash.charts.relik_scale import ReliKScale
from kgdash.charts.style import (
    GREY,
    SIDE_COLOURS,
    finish,
    reliability_colour,
    short_label,
)
from kgdash.files.html import escape
from kgdash.statistics.estimate import number

#: colour classes that edges are drawn in, since a Plotly line has one colour
_CLASSES = 24
#: nodes whose label is always drawn, by springs and on a circle; the others' shows on hover
_LABELLED, _CIRCLE_LABELS = 24, 80


def subgraph_figure(
    entities: np.ndarray,
    labels: Sequence[str],
    seed_entity: int,
    triples: pd.DataFrame,
    scale: ReliKScale,
) -> go.Figure:
    """Draw a subgraph: nodes sized by degree, edges coloured by mean ReliK on a log scale.

    :param entities: ids of all entities inside
    :param labels: of all entities of the graph, by id
    :param triples: ``head, relation, tail`` (ids), ``relik`` in (0, 1]
    :param scale: of the run
    """
    # The least reliable edges are drawn last, so that no other edge hides them.
    pairs = pairs_of(triples).sort_values("relik", ascending=False)
    placed = layout(entities, pairs)
    figure = go.Figure()
    drawn = pairs[pairs["a"] != pairs["b"]]
    if len(drawn):
        _add_edges(figure, drawn, labels, placed, scale)
    _add_nodes(figure, entities, labels, seed_entity, pairs, placed)
    reach = 1.8 if placed.shape == "circle" else 1.12
    extent = np.abs(np.array(list(placed.positions.values()))).max(initial=1.0) * reach
    figure.update_xaxes(visible=False, range=[-extent, extent])
    figure.update_yaxes(visible=False, range=[-extent, extent])
    figure.update_layout(showlegend=False, dragmode="pan")
    named = [
        f"{labels[int(a)]} – {labels[int(b)]}" for a, b in zip(pairs["a"], pairs["b"], strict=True)
    ]
    message = (
        f"Subgraph around {labels[seed_entity]}: {len(entities)} entities, "
        f"{len(triples):,} triples. ReliK between them: {of_each(named, pairs['relik'])}."
    )
    return finish(figure, message, height=620, margin={"l": 0, "r": 0, "t": 8, "b": 8})


def _add_edges(
    figure: go.Figure,
    pairs: pd.DataFrame,
    labels: Sequence[str],
    placed: Layout,
    scale: ReliKScale,
) -> None:
    curves = _curves(pairs, placed)
    classes = np.minimum((scale.place(pairs["relik"]) * _CLASSES).astype(int), _CLASSES - 1)
    crowded = len(pairs) > 250
    for in_class in np.unique(classes)[::-1]:
        lines = curves[classes == in_class]
        gaps = np.full((len(lines), 1, 2), np.nan)
        points = np.concatenate([lines, gaps], axis=1).reshape(-1, 2)
        figure.add_scatter(
            x=points[:, 0],
            y=points[:, 1],
            mode="lines",
            line={
                "color": reliability_colour((in_class + 0.5) / _CLASSES),
                "width": 1.0 if crowded else 1.8,
            },
            opacity=0.55 if crowded else 0.85,
            hoverinfo="skip",
        )
    handles = curves[:, curves.shape[1] // (4 if placed.shape == "circle" else 2)]
    figure.add_scatter(
        x=handles[:, 0],
        y=handles[:, 1],
        mode="markers",
        name="edges",
        marker={
            "size": 5 if crowded else 8,
            "symbol": "diamond",
            **scale.marker(pairs["relik"], "mean ReliK of the edge (log scale)"),
        },
        text=[
            f"{escape(labels[int(row.a)])} – {escape(labels[int(row.b)])}<br>"
            f"mean ReliK {number(row.relik)} over {row.triples} triple{'s' * (row.triples != 1)}"
            for row in pairs.itertuples()
        ],
        hovertemplate="%{text}<extra></extra>",
    )


def _curves(pairs: pd.DataFrame, placed: Layout) -> np.ndarray:
    """Return the points of each edge, shape ``(edges, points, 2)``: bent inwards on a circle."""
    start = np.array([placed.positions[int(a)] for a in pairs["a"]])
    end = np.array([placed.positions[int(b)] for b in pairs["b"]])
    if placed.shape != "circle":
        return np.stack([start, 0.5 * (start + end), end], axis=1)
    t = np.linspace(0, 1, 13)[None, :, None]
    bend = 0.35 * (start + end)[:, None]
    return (1 - t) ** 2 * start[:, None] + 2 * t * (1 - t) * bend + t**2 * end[:, None]


def _add_nodes(
    figure: go.Figure,
    entities: np.ndarray,
    labels: Sequence[str],
    seed_entity: int,
    pairs: pd.DataFrame,
    placed: Layout,
) -> None:
    ends = np.concatenate([pairs["a"].to_numpy(), pairs["b"].to_numpy()]).astype(int)
    weights = np.concatenate([pairs["triples"].to_numpy()] * 2)
    degree = np.bincount(ends, weights, minlength=len(labels))[entities]
    circle, positions = placed.shape == "circle", placed.positions
    most = _CIRCLE_LABELS if circle else _LABELLED
    shown = set(entities[np.argsort(-degree, kind="stable")][:most].tolist()) | {seed_entity}
    is_seed = entities == seed_entity
    if circle:
        # One by one, Plotly would check all annotations again at each.
        figure.update_layout(annotations=_radial_labels(sorted(shown), labels, positions))
    figure.add_scatter(
        x=[positions[int(e)][0] for e in entities],
        y=[positions[int(e)][1] for e in entities],
        mode="markers+text",
        name="entities",
        text=[
            escape(short_label(labels[e])) if e in shown and not circle else ""
            for e in entities.tolist()
        ],
        textposition="top center",
        textfont={"size": 11},
        marker={
            "size": 8 + 14 * np.sqrt(degree / max(degree.max(initial=0), 1)),
            "color": np.where(is_seed, SIDE_COLOURS["relation"], "#8a96a3"),
            "symbol": np.where(is_seed, "star", "circle"),
            "line": {"width": 1, "color": GREY},
            "opacity": 1,
        },
        hovertext=[
            f"{escape(labels[e])}{' (seed)' if e == seed_entity else ''}<br>"
            f"in {int(d)} triples here"
            for e, d in zip(entities.tolist(), degree, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _radial_labels(
    entities: Sequence[int], labels: Sequence[str], positions: dict[int, tuple[float, float]]
) -> list[dict[str, object]]:
    """Write labels outwards from the circle, never upside down: Plotly annotations."""
    found: list[dict[str, object]] = []
    for entity in entities:
        x, y = positions[entity]
        angle = float(np.degrees(np.arctan2(y, x)))
        # An annotation turns about its middle: push it out by half its length.
        push = 2.6 * len(short_label(labels[entity], 18)) + 3
        found.append(
            {
                "x": x * 1.045,
                "y": y * 1.045,
                "text": escape(short_label(labels[entity], 18)),
                "showarrow": False,
                "textangle": -angle if x >= 0 else 180 - angle,
                "font": {"size": 10},
                "xshift": float(np.cos(np.radians(angle))) * push,
                "yshift": float(np.sin(np.radians(angle))) * push,
            }
        )
    return found
