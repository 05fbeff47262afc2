"""Figures of a subgraph: drawn with its ReliK, and ReliK against reciprocal rank."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.style import (
    GREY,
    RELIABILITY_SCALE,
    SIDE_COLOURS,
    empty,
    finish,
    log_ticks,
    number,
)

#: colour classes that edges are drawn in, since a Plotly line has one colour
_CLASSES = 24
#: nodes whose label is always drawn; the others' shows on hover
_LABELLED = 14


def pairs_of(triples: pd.DataFrame) -> pd.DataFrame:
    """Join the triples between the same two entities into one drawn edge.

    :param triples: ``head, relation, tail`` (ids), ``relik``
    :return: ``a``, ``b`` (entity ids, a ≤ b), ``relik`` (mean over the triples between them),
        ``triples`` (their number)
    """
    ends = np.sort(triples[["head", "tail"]].to_numpy(), axis=1)
    table = pd.DataFrame({"a": ends[:, 0], "b": ends[:, 1], "relik": triples["relik"].to_numpy()})
    return table.groupby(["a", "b"], as_index=False).agg(
        relik=("relik", "mean"), triples=("relik", "size")
    )


def layout(entities: np.ndarray, pairs: pd.DataFrame) -> dict[int, np.ndarray]:
    """Place the entities by a seeded spring layout (NetworkX): id → (x, y)."""
    graph = nx.Graph()
    graph.add_nodes_from(int(e) for e in entities)
    graph.add_edges_from((int(a), int(b)) for a, b in zip(pairs["a"], pairs["b"], strict=True))
    spread = 2.2 / max(len(entities), 1) ** 0.5
    return nx.spring_layout(graph, seed=0, k=spread, iterations=60)


def subgraph_figure(
    entities: np.ndarray,
    labels: list[str],
    seed_entity: int,
    triples: pd.DataFrame,
    positions: dict[int, np.ndarray] | None = None,
) -> go.Figure:
    """Draw a subgraph: nodes sized by degree, edges coloured by mean ReliK on a log scale.

    Points carry ``customdata``: ``["node", entity]`` or ``["edge", a, b]``, for selections.

    :param entities: ids of all entities inside
    :param labels: of all entities of the graph, by id
    :param seed_entity: marked
    :param triples: ``head, relation, tail`` (ids), ``relik`` in (0, 1]
    :param positions: as `layout` gives them (default: computed)
    """
    pairs = pairs_of(triples)
    if positions is None:
        positions = layout(entities, pairs)
    figure = go.Figure()
    loops = pairs["a"] == pairs["b"]
    if (~loops).any():
        _add_edges(figure, pairs[~loops], labels, positions)
    _add_nodes(figure, entities, labels, seed_entity, pairs, positions)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return finish(figure, height=560, showlegend=False, clickmode="event+select", dragmode="pan")


def _add_edges(
    figure: go.Figure, pairs: pd.DataFrame, labels: list[str], positions: dict[int, np.ndarray]
) -> None:
    start = np.array([positions[int(a)] for a in pairs["a"]])
    end = np.array([positions[int(b)] for b in pairs["b"]])
    values = np.log10(pairs["relik"].to_numpy())
    low, high = _span(values)
    classes = np.clip(((values - low) / (high - low) * _CLASSES).astype(int), 0, _CLASSES - 1)
    for number_of_class in np.unique(classes):
        chosen = classes == number_of_class
        gaps = np.full(int(chosen.sum()), np.nan)
        colour = _colour((number_of_class + 0.5) / _CLASSES)
        figure.add_scatter(
            x=np.stack([start[chosen, 0], end[chosen, 0], gaps], axis=1).ravel(),
            y=np.stack([start[chosen, 1], end[chosen, 1], gaps], axis=1).ravel(),
            mode="lines",
            line={"color": colour, "width": 1.6},
            opacity=0.75,
            hoverinfo="skip",
        )
    ticks, texts = log_ticks(10**low, 10**high)
    middle = 0.5 * (start + end)
    figure.add_scatter(
        x=middle[:, 0],
        y=middle[:, 1],
        mode="markers",
        name="edges",
        marker={
            "size": 7,
            "symbol": "diamond",
            "color": values,
            "cmin": low,
            "cmax": high,
            "colorscale": RELIABILITY_SCALE,
            "colorbar": {
                "title": {"text": "ReliK of the edge (mean, log scale)", "side": "top"},
                "tickvals": np.log10(ticks),
                "ticktext": texts,
                "orientation": "h",
                "thickness": 10,
                "y": -0.02,
                "yanchor": "top",
            },
        },
        customdata=[["edge", int(a), int(b)] for a, b in zip(pairs["a"], pairs["b"], strict=True)],
        text=[
            f"{labels[int(row.a)]} – {labels[int(row.b)]}<br>"
            f"mean ReliK {number(row.relik)} over {row.triples} triple(s)"
            for row in pairs.itertuples()
        ],
        hovertemplate="%{text}<extra></extra>",
    )


def _add_nodes(
    figure: go.Figure,
    entities: np.ndarray,
    labels: list[str],
    seed_entity: int,
    pairs: pd.DataFrame,
    positions: dict[int, np.ndarray],
) -> None:
    ends = np.concatenate([pairs["a"].to_numpy(), pairs["b"].to_numpy()]).astype(int)
    weights = np.concatenate([pairs["triples"].to_numpy()] * 2)
    degree = np.bincount(ends, weights, minlength=len(labels))[entities]
    shown = set(entities[np.argsort(-degree, kind="stable")][:_LABELLED].tolist()) | {seed_entity}
    is_seed = entities == seed_entity
    figure.add_scatter(
        x=[positions[int(e)][0] for e in entities],
        y=[positions[int(e)][1] for e in entities],
        mode="markers+text",
        name="entities",
        text=[_short(labels[e]) if e in shown else "" for e in entities.tolist()],
        textposition="top center",
        textfont={"size": 11},
        marker={
            "size": 8 + 14 * np.sqrt(degree / max(degree.max(initial=0), 1)),
            "color": np.where(is_seed, SIDE_COLOURS["relation"], "#8a96a3"),
            "symbol": np.where(is_seed, "star", "circle"),
            "line": {"width": 1, "color": GREY},
            "opacity": 1,
        },
        customdata=[["node", int(e)] for e in entities],
        hovertext=[
            f"{labels[e]}{' (seed)' if e == seed_entity else ''}<br>{int(d)} triple ends inside"
            for e, d in zip(entities.tolist(), degree, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def relik_scatter(triples: pd.DataFrame, texts: list[str]) -> go.Figure:
    """Draw reciprocal rank against ReliK, one point per evaluated triple, both axes log.

    ``customdata`` of a point is the row number in ``triples``.

    :param triples: ``relik``, ``reciprocal_rank`` (NaN: not evaluated), ``split``
    :param texts: one description per row, for hovering
    """
    rows = triples.assign(row=np.arange(len(triples)), text=texts)
    rows = rows[rows["reciprocal_rank"].notna() & rows["relik"].notna()]
    if rows.empty:
        return empty("no evaluated triple inside this subgraph")
    figure = go.Figure()
    colours = {"test": SIDE_COLOURS["tail"], "valid": SIDE_COLOURS["relation"]}
    symbols = {"test": "circle", "valid": "square", "train": "diamond"}
    for split, part in rows.groupby("split", sort=True):
        figure.add_scatter(
            x=part["relik"],
            y=part["reciprocal_rank"],
            mode="markers",
            name=f"{split} ({len(part)})",
            marker={
                "color": colours.get(str(split), SIDE_COLOURS["head"]),
                "symbol": symbols.get(str(split), "circle"),
                "size": 8,
                "opacity": 0.7,
            },
            customdata=part["row"].tolist(),
            text=part["text"],
            hovertemplate="%{text}<br>ReliK %{x:.3g}, reciprocal rank %{y:.3g}<extra></extra>",
        )
    for update, column, title in (
        (figure.update_xaxes, "relik", "ReliK (log scale)"),
        (figure.update_yaxes, "reciprocal_rank", "reciprocal rank, mean of head and tail (log)"),
    ):
        low, high = rows[column].min(), rows[column].max()
        ticks, tick_texts = log_ticks(low, max(high, low * 1.01))
        update(type="log", title=title, tickvals=ticks, ticktext=tick_texts)
    return finish(figure, height=420, clickmode="event+select")


def local_bars(figures: dict[str, tuple[float, int]]) -> go.Figure:
    """Draw mean ReliK beside the MRRs of a subgraph, on one linear axis from 0 to 1.

    :param figures: as `kgdash.studies.local.LocalComparison` has them
    """
    names = {
        "relik": "mean ReliK",
        "tail_mrr": "tail MRR",
        "head_mrr": "head MRR",
        "both_mrr": "both MRR",
        "relation_mrr": "relation MRR",
    }
    values = [figures[name][0] for name in names]
    error: dict[str, Any] | None = None
    if "relik_low" in figures:
        gaps = [0.0] * (len(names) - 1)
        error = {
            "type": "data",
            "symmetric": False,
            "array": [figures["relik_high"][0] - values[0], *gaps],
            "arrayminus": [values[0] - figures["relik_low"][0], *gaps],
        }
    colours = [SIDE_COLOURS["head"], *[SIDE_COLOURS["tail"]] * (len(names) - 1)]
    figure = go.Figure()
    figure.add_bar(
        x=[f"{label}<br>n = {figures[name][1]:,}" for name, label in names.items()],
        y=values,
        marker={"color": colours},
        error_y=error,
        text=[number(v) for v in values],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{x}: %{y:.4g}<extra></extra>",
    )
    figure.update_yaxes(title="mean value", range=[0, 1.08])
    return finish(figure, height=420)


def _span(values: np.ndarray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return (low, high) if high - low > 1e-9 else (low - 0.5, high + 0.5)


def _colour(share: float) -> str:
    position = share * (len(RELIABILITY_SCALE) - 1)
    at = min(int(position), len(RELIABILITY_SCALE) - 2)
    ends = [_rgb(str(RELIABILITY_SCALE[i][1])) for i in (at, at + 1)]
    mixed = ends[0] + (ends[1] - ends[0]) * (position - at)
    return f"rgb({', '.join(str(round(c)) for c in mixed)})"


def _rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], dtype=float)


def _short(label: str, limit: int = 26) -> str:
    return label if len(label) <= limit else label[: limit - 1] + "…"
