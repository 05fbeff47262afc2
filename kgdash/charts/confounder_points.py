"""ReliK against one factor: points or cells, medians, and boxes per class."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.confounders import FACTOR_LABELS
from kgdash.charts.message import by_halves, of_each
from kgdash.charts.style import DENSITY, SIDE_COLOURS, empty, finish, log_axis
from kgdash.files.html import escape
from kgdash.statistics.estimate import number

_POINTS, _MEDIANS = SIDE_COLOURS["head"], SIDE_COLOURS["tail"]

#: so many triples are drawn as points, more as cells
MOST_POINTS = 2_000

#: cells a side
_CELLS = 40

#: values of each median along a factor, at least
_PER_MEDIAN = 25


def factor_points(table: pd.DataFrame, factor: str) -> go.Figure:
    """Draw ReliK against a count, both on log axes, and its medians along the count.

    Points for up to 2,000 triples, which carry their row as ``customdata``; cells for more. Counts
    are drawn at 1 + count.

    :param table: of `triple_factors`, with labels in place of ids
    :param factor: a count of it
    """
    if not len(table):
        return empty("there are no triples")
    x, y = 1.0 + table[factor].to_numpy(dtype=float), table["relik"].to_numpy()
    figure = go.Figure()
    if len(table) <= MOST_POINTS:
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers",
            name="triples",
            marker={"color": _POINTS, "size": 6, "opacity": 0.45},
            customdata=list(range(len(table))),
            text=[
                f"{escape(str(row.head))}, {escape(str(row.relation))}, {escape(str(row.tail))}"
                f"<br>{FACTOR_LABELS[factor]}: {getattr(row, factor):,g}"
                f"<br>ReliK {number(row.relik)}"
                for row in table.itertuples()
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    else:
        _add_cells(figure, x, y)
    edges, medians = _medians(x, y)
    figure.add_scatter(
        x=edges,
        y=medians,
        mode="lines+markers",
        name="median",
        line={"color": _MEDIANS, "width": 3},
        marker={"size": 7, "line": {"width": 1, "color": "white"}},
        hovertemplate="around %{x:,.0f}<br>median ReliK %{y:.3g}<extra></extra>",
    )
    figure.update_xaxes(title=f"1 + {FACTOR_LABELS[factor]}, train triples, log", **log_axis(x))
    figure.update_yaxes(title="ReliK ↑, log", **log_axis(y))
    name = FACTOR_LABELS[factor]
    message = f"ReliK against {name}: {by_halves(f'1 + {name}', x, 'ReliK', y)}."
    return finish(figure, message, height=440, clickmode="event+select")


def _add_cells(figure: go.Figure, x: np.ndarray, y: np.ndarray) -> None:
    edges = [
        np.geomspace(values.min(), max(values.max(), values.min() * 1.1), _CELLS + 1)
        for values in (x, y)
    ]
    counts, *_ = np.histogram2d(x, y, bins=edges)
    middle = [np.sqrt(each[1:] * each[:-1]) for each in edges]
    shown = np.where(counts > 0, counts, np.nan).T
    ticks = [t for t in (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000) if t <= counts.max()]
    figure.add_heatmap(
        x=middle[0],
        y=middle[1],
        z=np.log10(shown),
        customdata=shown,
        colorscale=DENSITY,
        colorbar={
            "title": {"text": "triples"},
            "tickvals": np.log10(ticks),
            "ticktext": [f"{t:,}" for t in ticks],
            "thickness": 12,
        },
        hoverongaps=False,
        hovertemplate="%{customdata:,} triples<br>around %{x:,.0f}, ReliK %{y:.3g}<extra></extra>",
    )


def _medians(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the medians of ReliK over groups of the count, each of at least 25 triples or all."""
    order = np.argsort(x, kind="stable")
    parts = np.array_split(order, max(1, min(10, len(x) // _PER_MEDIAN)))
    middle = np.array([np.median(x[part]) for part in parts])
    medians = np.array([np.median(y[part]) for part in parts])
    kept = np.unique(middle, return_index=True)[1]
    return middle[kept], medians[kept]


def class_boxes(classes: pd.DataFrame) -> go.Figure:
    """Draw ReliK per class: quartiles as a box, whiskers to the least and the greatest.

    :param classes: of `kgdash.studies.correlation.confounders.class_table`
    """
    if not len(classes):
        return empty("there are no triples")
    figure = go.Figure()
    names = [
        f"{escape(row['class'])}<br>n = {row['triples']:,}" for row in classes.to_dict("records")
    ]
    figure.add_box(
        x=names,
        q1=classes["lower_quartile"],
        median=classes["median"],
        q3=classes["upper_quartile"],
        lowerfence=classes["least"],
        upperfence=classes["greatest"],
        mean=classes["mean"],
        boxmean=True,
        marker={"color": _POINTS},
        fillcolor="rgba(47, 127, 209, 0.3)",
        showlegend=False,
        name="",
    )
    ends = np.concatenate([classes["least"], classes["greatest"]])
    figure.update_yaxes(title="ReliK ↑, log", **log_axis(ends))
    medians = of_each(
        classes["class"], classes["median"], classes["lower_quartile"], classes["upper_quartile"]
    )
    message = f"Median ReliK by class, with its quartiles: {medians}."
    return finish(figure, message, height=440)
