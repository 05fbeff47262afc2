"""Every instance's value, true beside false, as boxes, violins or points."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.stats import gaussian_kde

from kgdash.charts.group_rows import first_groups, group_label, group_name, group_rows
from kgdash.charts.message import of_each
from kgdash.charts.separation import LABELS, MEASURE_NAMES, LabelStyle, is_raw, measure_axis
from kgdash.charts.style import empty
from kgdash.errors import check_name
from kgdash.files.html import escape
from kgdash.statistics.estimate import number

#: what is drawn beneath the points
SHAPES = ("box", "violin", "points only")

#: points drawn per group and label (shapes are of all)
_MOST_POINTS = 150

#: half the height of a violin, in rows, and the points of its outline
_VIOLIN, _OUTLINE = 0.15, 60

#: values that a violin is estimated from, an even choice of all; more look the same
_ESTIMATED = 1000


def values_figure(
    table: pd.DataFrame,
    measure: str = "relik",
    aggregate: str = "max",
    groups: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
    shape: str = "box",
) -> go.Figure:
    """Draw each instance's value on a log axis (raw scores: linear), with a shape per group, label.

    Points carry ``customdata`` ``[instance, group]``, for selections; shapes are not selectable.

    :param table: the ``table`` of `kgdash.studies.instances.instances.ScoredInstances`
    :param measure: one of `kgdash.charts.separation.MEASURE_NAMES`
    :param aggregate: "max" or "mean"
    :param groups: which groups, from top to bottom (default: all, as they appear); 20 at most
    :param names: what to call the groups where not by themselves
    :param shape: one of `SHAPES`; a violin is the density of the logarithms on a log axis
    :raises KgdashError: on an unknown shape
    """
    check_name("shape", shape, SHAPES, "kgdash")
    chosen, note = first_groups(table["group"].unique() if groups is None else groups)
    column = f"{measure}_{aggregate}"
    rows = table[table["group"].isin(chosen)]
    if rows.empty:
        return empty("no instances to draw")
    row_of = {group: -place for place, group in enumerate(chosen)}
    figure, log = go.Figure(), not is_raw(measure)
    for label, style in LABELS.items():
        part = rows[rows["label"] == label]
        if part.empty:
            continue
        middle = part["group"].map(row_of).to_numpy(dtype=np.float64) + style.offset
        if shape == "box":
            _add_boxes(figure, part[column].to_numpy(dtype=np.float64), middle, style)
        elif shape == "violin":
            _add_violins(figure, part[column].to_numpy(), middle, style, log)
        _add_points(figure, part.assign(middle=middle), style, column, names)
    if log:
        figure.update_xaxes(type="log", dtick=1, exponentformat="power")
    figure.update_xaxes(
        title=measure_axis(measure, aggregate, "log scale" if log else "linear scale") + note
    )
    medians = [
        f"{style.name} {of_each(each.index.map(lambda g: group_name(g, names)), each)}"
        for label, style in LABELS.items()
        if len(each := rows[rows["label"] == label].groupby("group", sort=False)[column].median())
    ]
    message = f"{MEASURE_NAMES.get(measure, measure)} of instances, medians: {'. '.join(medians)}."
    return group_rows(figure, message, chosen, names, 80, clickmode="event+select")


def _add_boxes(
    figure: go.Figure, values: np.ndarray, middle: np.ndarray, style: LabelStyle
) -> None:
    """Add ends and quartiles as Plotly finds them, which would have all values sent."""
    places = np.unique(middle)
    parts = (values[middle == place] for place in places)
    found = np.array([np.quantile(part, (0, 0.25, 0.5, 0.75, 1), method="hazen") for part in parts])
    figure.add_box(
        **dict(zip(("lowerfence", "q1", "median", "q3", "upperfence"), found.T, strict=True)),
        y=places,
        orientation="h",
        width=0.26,
        line={"color": style.colour, "width": 1.5},
        fillcolor=style.fill,
        hoverinfo="skip",
        showlegend=False,
    )


def _add_violins(
    figure: go.Figure, values: np.ndarray, middle: np.ndarray, style: LabelStyle, log: bool
) -> None:
    """Add densities as outlines: Plotly's own would be those of the values, not of their logs."""
    xs, ys = [np.empty(0)], [np.empty(0)]
    for place in np.unique(middle):
        own = np.sort(values[middle == place])
        own = own[np.linspace(0, len(own) - 1, min(len(own), _ESTIMATED)).round().astype(int)]
        spread = np.log10(own) if log else own
        if len(np.unique(spread)) < 3:
            continue  # no density to speak of: the points say it
        at = np.linspace(spread.min(), spread.max(), _OUTLINE)
        height = gaussian_kde(spread)(at)
        height *= _VIOLIN / height.max()
        x = 10.0**at if log else at
        xs.append(np.concatenate([x, x[::-1], [x[0], np.nan]]))
        edge = np.concatenate([place + height, place - height[::-1]])
        ys.append(np.concatenate([edge, [edge[0], np.nan]]))
    figure.add_scatter(
        x=np.concatenate(xs),
        y=np.concatenate(ys),
        mode="lines",
        fill="toself",
        line={"color": style.colour, "width": 1.5},
        fillcolor=style.fill,
        hoverinfo="skip",
        showlegend=False,
    )


def _add_points(
    figure: go.Figure,
    rows: pd.DataFrame,
    style: LabelStyle,
    column: str,
    names: Mapping[str, str] | None,
) -> None:
    drawn = _thinned(rows, column)
    figure.add_scatter(
        x=drawn[column],
        y=drawn["middle"] + _jitter(len(drawn)),
        mode="markers",
        name=style.name,
        marker={"color": style.colour, "symbol": style.symbol, "size": 7, "opacity": 0.75},
        selected={"marker": {"size": 13, "opacity": 1}},
        unselected={"marker": {"opacity": 0.4}},
        # Arrays: of a list, Plotly checks every item.
        customdata=drawn[["instance", "group"]].to_numpy(dtype=object),
        text=np.array([_about(row, column, names) for row in drawn.to_dict("records")]),
        hovertemplate="%{text}<extra>" + style.name + "</extra>",
    )


def _about(row: dict, column: str, names: Mapping[str, str] | None) -> str:
    return (
        f"{escape(str(row['question']))} → {escape(str(row['answer']))}<br>"
        f"{group_label(row['group'], names)}<br>{number(row[column])}, {row['groundings']} "
        f"grounding{'s' * (row['groundings'] != 1)}; instance {row['instance']}"
    )


def _thinned(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Keep an even choice of each group's points, from the least to the greatest value."""
    ordered = rows.sort_values(["group", column], kind="stable")
    place = ordered.groupby("group").cumcount().to_numpy()
    size = ordered.groupby("group")["group"].transform("size").to_numpy()
    share = np.minimum(_MOST_POINTS, size) - 1
    at = np.floor(place * share / np.maximum(size - 1, 1))
    before = np.floor((place - 1) * share / np.maximum(size - 1, 1))
    return ordered[(place == 0) | (at > before)]


def _jitter(count: int) -> np.ndarray:
    """Return offsets within the shape's half height, the same every time."""
    return np.random.default_rng(0).uniform(-0.1, 0.1, count)
