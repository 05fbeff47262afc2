"""The coverage map: how often the true answer is in its set, group by group, beside the promise."""

from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.message import of_each
from kgdash.charts.style import GREY, SIDE_COLOURS, empty, finish, short_label, whiskers
from kgdash.statistics.estimate import number

#: groups drawn, and queries below which a group's point is hollow
_MOST, _SMALL = 24, 30

_NAME_LENGTH = 28

#: of groups whose interval lies below the promise, above it, or holds it
_BROKEN, _ABOVE, _KEPT = SIDE_COLOURS["tail"], SIDE_COLOURS["head"], SIDE_COLOURS["both"]


def coverage_figure(table: pd.DataFrame, epsilon: float, in_order: bool = False) -> go.Figure:
    """Draw the coverage of groups with intervals against the promise 1 − ε.

    On top is the group that surely falls shortest: by the upper end of its interval.
    ``customdata`` of a point is the row number in ``table``.

    :param table: of `kgdash.studies.probability.answer_sets.AnswerSets.by_groups`
    :param in_order: groups stay in the order of the table
    """
    if table.empty:
        return empty("no test query")
    rows = table.assign(row=np.arange(len(table)))
    if not in_order:
        rows = rows.sort_values(["high", "coverage"], kind="stable")
    rows, promise = rows.head(_MOST), 1 - epsilon
    names = [escape(short_label(str(group), _NAME_LENGTH)) for group in rows["group"]]
    place = -np.arange(len(rows), dtype=float)
    colours = np.select([rows["high"] < promise, rows["low"] > promise], [_BROKEN, _ABOVE], _KEPT)
    figure = go.Figure()
    figure.add_scatter(
        x=rows["coverage"],
        y=place,
        mode="markers",
        name="coverage",
        marker={
            "color": colours,
            "size": 10,
            "symbol": np.where(rows["n"] < _SMALL, "circle-open", "circle"),
            "line": {"width": 2},
        },
        error_x=whiskers(rows["coverage"], rows["low"], rows["high"], GREY, thickness=1.5),
        customdata=rows["row"].tolist(),
        text=[
            f"{escape(str(row.group))}<br>coverage {row.coverage:.1%}, {row.low:.1%} to "
            f"{row.high:.1%}<br>{row.n:,} queries, mean size {number(row.mean_size)}"
            for row in rows.itertuples()
        ],
        hovertemplate="%{text}<extra></extra>",
    )
    figure.add_vline(x=promise, line={"color": GREY, "dash": "dash", "width": 1.5})
    least = min(float(rows["low"].min()), promise)
    figure.update_xaxes(
        title=f"share of queries whose set holds the true answer; dashed: promised {promise:.0%}",
        range=[max(least - 0.03, -0.02), 1.02],
        tickformat=".0%",
    )
    figure.update_yaxes(
        tickvals=place, ticktext=names, range=[0.7 - len(rows), 0.7], showgrid=False
    )
    found = of_each(rows["group"].astype(str), rows["coverage"], rows["low"], rows["high"])
    message = f"Coverage against the promised {promise:.0%}: {found}."
    height = 100 + 24 * len(rows)
    return finish(figure, message, height, clickmode="event+select", showlegend=False)
