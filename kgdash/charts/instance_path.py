"""One instance drawn: the triples that lead from the anchors to the answer, coloured by ReliK."""

import re
import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.instance_path_layout import PathLayout, edge_curves, path_layout
from kgdash.charts.relik_scale import ReliKScale
from kgdash.charts.separation import LABELS
from kgdash.charts.style import GREY, empty, finish
from kgdash.files.html import escape
from kgdash.statistics.estimate import number

#: edges up to which each bears its relation's name, of more it shows on hover; and that are drawn:
#: more are no path that anybody could follow, and take minutes
_NAMED_EDGES, _MOST_EDGES = 5, 150

#: letters that fit a phone's width
_LETTERS = 52

#: pixels around the drawing: the colour bar below
_ABOVE, _BELOW = 8, 64


def path_figure(
    triples: pd.DataFrame,
    entity_labels: Sequence[str],
    relation_labels: Sequence[str],
    label: bool | None,
    scale: ReliKScale,
) -> go.Figure:
    """Draw an instance from left to right: anchors, what lies between, the answer.

    Edges point from head to tail; those that are no known fact are dashed.

    :param triples: the instance's, of one grounding or several: ``head, relation, tail`` (ids),
        ``is_answer_triple``, ``predicted_side``, ``relik`` (in (0, 1]), ``split`` ("none" for what
        is no fact)
    :param entity_labels: of all entities, by id
    :param relation_labels: of all relations, by id
    :param label: of the instance, None where nobody recorded it; colours the answer
    :param scale: of the run
    """
    if triples.empty:
        return empty("no triples to draw")
    edges = triples.drop_duplicates(["head", "relation", "tail"])
    if len(edges) > _MOST_EDGES:
        return empty(f"{len(edges):,} triples are too many to draw")
    placed = path_layout(triples)
    named = len(edges) <= _NAMED_EDGES
    row = (130 if placed.rows < 2 else 160) if named else 58
    curves = edge_curves(edges, placed, bend=0.95 if named else 0.5)
    colours = [scale.colour(value) for value in edges["relik"]]
    figure = go.Figure()
    _add_edges(figure, edges, curves, colours)
    letters = max(8, _LETTERS // placed.columns)
    abouts = _abouts(edges, entity_labels, relation_labels)
    if named:
        names = [_wrapped(relation_labels[r], letters - 1) for r in edges["relation"]]
        _add_names(figure, edges, curves, colours, names, abouts)
    _add_handles(figure, edges, curves, abouts, scale, 2 if named else 9)
    _add_entities(figure, placed, entity_labels, label, letters, 2 if named else 1)
    heights = np.concatenate([curve[:, 1] for curve in curves])
    top, bottom = heights.max() + (66 if named else 30) / row, -(52 if named else 36) / row
    figure.update_xaxes(visible=False, range=[-0.5, placed.columns - 0.5], fixedrange=True)
    figure.update_yaxes(visible=False, range=[bottom, top], fixedrange=True)
    height = round((top - bottom) * row) + _ABOVE + _BELOW
    margin = {"l": 0, "r": 0, "t": _ABOVE, "b": _BELOW}
    message = (
        f"{_style(label)[0].capitalize()} instance with the answer {entity_labels[placed.answer]}. "
        + "; ".join(
            f"{entity_labels[row.head]} {relation_labels[row.relation]} {entity_labels[row.tail]}: "
            f"ReliK {number(row.relik)}, "
            + ("no known fact" if row.split == "none" else f"in {row.split}")
            for row in edges.itertuples()
        )
    )
    return finish(figure, f"{message}.", height=height, showlegend=False, margin=margin)


def _add_edges(
    figure: go.Figure, edges: pd.DataFrame, curves: list[np.ndarray], colours: list[str]
) -> None:
    """Draw each edge, with an arrow where it ends."""
    for split, curve, colour in zip(edges["split"], curves, colours, strict=True):
        line = {"color": colour, "width": 3, "dash": "dash" if split == "none" else "solid"}
        figure.add_scatter(
            x=curve[:-1, 0], y=curve[:-1, 1], mode="lines", line=line, hoverinfo="skip"
        )
        # On its own, since the stand-off of a mark cuts the line at each of a trace's points.
        figure.add_scatter(
            x=curve[-2:, 0],
            y=curve[-2:, 1],
            mode="markers",
            marker={
                "symbol": "arrow",
                "angleref": "previous",
                "size": [0, 15],
                "standoff": 9,
                "color": colour,
                "opacity": 1,
                "line": {"width": 0},
            },
            hoverinfo="skip",
        )


def _add_names(
    figure: go.Figure,
    edges: pd.DataFrame,
    curves: list[np.ndarray],
    colours: list[str],
    names: list[str],
    abouts: list[str],
) -> None:
    """Write relation and ReliK on a patch of the edge's colour; above a level edge, else on it."""
    annotations = []
    for relik, curve, colour, name, about in zip(
        edges["relik"], curves, colours, names, abouts, strict=True
    ):
        x, y = _place_of_name(curve)
        level = np.ptp(curve[:, 1]) < 1e-9
        annotations.append(
            {
                "x": x,
                "y": y,
                "text": f"{name}<br><b>{number(relik)}</b>",
                "hovertext": about,
                "showarrow": False,
                "yanchor": "bottom" if level else "middle",
                "yshift": 7 if level else 0,
                "bgcolor": colour,
                "borderpad": 3,
                "font": {"size": 11, "color": _readable_on(colour)},
            }
        )
    figure.update_layout(annotations=annotations)


def _style(label: bool | None) -> tuple[str, str]:
    """Return what an answer is called, and its colour."""
    if label is None:
        return "unrecorded", "#b9a44c"
    return LABELS[label].name, LABELS[label].colour


def _place_of_name(curve: np.ndarray) -> np.ndarray:
    """Return a straight edge's point half a row below its upper end, else the curve's middle.

    There, names of edges that end in the same entity are in different rows.
    """
    rise = abs(curve[-1, 1] - curve[0, 1])
    if rise == 0:
        return curve[len(curve) // 2]
    share = min(0.5 / rise, 0.5)
    upper, lower = (curve[0], curve[-1]) if curve[0, 1] > curve[-1, 1] else (curve[-1], curve[0])
    return np.asarray(upper + share * (lower - upper))


def _add_handles(
    figure: go.Figure,
    edges: pd.DataFrame,
    curves: list[np.ndarray],
    abouts: list[str],
    scale: ReliKScale,
    size: int,
) -> None:
    """Put a mark on each edge that says on hover what it is, and bears the colour bar."""
    middles = np.array([curve[len(curve) // 2] for curve in curves])
    figure.add_scatter(
        x=middles[:, 0],
        y=middles[:, 1],
        mode="markers",
        name="edges",
        marker={
            "size": size,
            "symbol": "diamond",
            **scale.marker(edges["relik"], "ReliK (log scale)", y=0),
        },
        text=abouts,
        hovertemplate="%{text}<extra></extra>",
    )


def _add_entities(
    figure: go.Figure,
    placed: PathLayout,
    labels: Sequence[str],
    label: bool | None,
    letters: int,
    lines: int,
) -> None:
    entities = list(placed.places)
    name, colour = _style(label)
    is_answer = [entity == placed.answer for entity in entities]
    texts = [_wrapped(labels[entity], letters, lines) for entity in entities]
    figure.add_scatter(
        x=[placed.places[entity][0] for entity in entities],
        y=[placed.places[entity][1] for entity in entities],
        mode="markers+text",
        name="entities",
        text=[f"<b>{t}</b>" if last else t for t, last in zip(texts, is_answer, strict=True)],
        textposition=["top center" if placed.places[e][1] else "bottom center" for e in entities],
        textfont={"size": 11},
        marker={
            "size": [22 if last else 15 for last in is_answer],
            "symbol": ["star" if last else "circle" for last in is_answer],
            "color": [colour if last else "#8a96a3" for last in is_answer],
            "line": {"width": 1, "color": GREY},
            "opacity": 1,
        },
        customdata=entities,
        hovertext=[
            escape(labels[entity]) + (f" ({name} answer)" if last else "")
            for entity, last in zip(entities, is_answer, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
    )


def _abouts(
    edges: pd.DataFrame, entity_labels: Sequence[str], relation_labels: Sequence[str]
) -> list[str]:
    return [
        f"{escape(entity_labels[row['head']])}<br>— {escape(relation_labels[row['relation']])} →"
        f"<br>{escape(entity_labels[row['tail']])}<br>ReliK {number(row['relik'])}, "
        + ("not a known fact" if row["split"] == "none" else f"in {row['split']}")
        for row in edges.to_dict("records")
    ]


def _wrapped(text: str, letters: int, lines: int = 2) -> str:
    """Break a name into lines for Plotly; of a path such as /film/actor the end says more."""
    # A blank after each of these lets a line end there.
    parts = textwrap.wrap(re.sub(r"([_/.])(?=\S)", r"\1 ", text), letters) or [""]
    parts = [re.sub(r"([_/.]) ", r"\1", part) for part in parts]
    if len(parts) > lines and "/" in text:
        parts = ["…" + parts[-lines][1 - letters :], *parts[len(parts) - lines + 1 :]]
    elif len(parts) > lines:
        parts = [*parts[: lines - 1], parts[lines - 1][: letters - 1] + "…"]
    return "<br>".join(escape(part) for part in parts)


def _readable_on(colour: str) -> str:
    """Return black or white, whichever has more contrast by relative luminance (WCAG)."""
    parts = np.array([int(part) for part in colour[4:-1].split(",")]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return "#ffffff" if float(linear @ [0.2126, 0.7152, 0.0722]) < 0.179 else "#111111"
