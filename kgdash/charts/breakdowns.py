"""Charts of a metric by groups of triples."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.message import of_each
from kgdash.charts.style import (
    CELL_SCALE,
    GREY,
    SIDE_COLOURS,
    add_row_bars,
    cut,
    empty,
    finish,
    leave_rows_unnamed,
    name_rows,
    whiskers,
    write_above,
)
from kgdash.files.html import escape
from kgdash.graph.relation_names import end_first
from kgdash.ranking.metric import Metric
from kgdash.statistics.estimate import number

#: groups drawn; the table has all of them
MOST_GROUPS = 25

#: characters of a group's name: above its bar, as a phone is wide, and beside a row of cells
_ABOVE, _BESIDE = 44, 26


def group_bars(table: pd.DataFrame, info: Metric, overall: float) -> go.Figure:
    """Draw one side's value per group with its interval; small groups are hatched.

    Bars carry the group as ``customdata``.

    :param table: rows of one side of `breakdown`, from top to bottom; the first
        25 are drawn
    :param overall: its value over all groups, a dashed line
    """
    rows = table.head(MOST_GROUPS)
    if not rows["value"].notna().any():
        return empty("the metric is not defined for these groups")
    place = -np.arange(len(rows), dtype=float)
    colour = SIDE_COLOURS[rows["side"].iloc[0]]
    figure = go.Figure()
    add_row_bars(
        figure,
        rows["value"],
        [_about(row, info) for row in rows.to_dict("records")],
        width=0.46,
        marker={
            "color": colour,
            "opacity": np.where(rows["small"], 0.5, 0.6),
            "pattern": {"shape": ["/" if small else "" for small in rows["small"]]},
        },
        error_x=whiskers(rows["value"], rows["low"], rows["high"], colour),
        customdata=rows["group"].tolist(),
        showlegend=False,
    )
    for y, row in zip(place, rows.to_dict("records"), strict=True):
        count = f"n = {row['triples']:,}" + (", small" if row["small"] else "")
        name = escape(shortened(row["group"], _ABOVE - len(count)))
        text = f"{name}  <b>{number(row['value'])}</b>  {count}"
        write_above(figure, y + 0.24, text, row["group"])
    if np.isfinite(overall):
        figure.add_vline(
            x=overall, layer="below", line={"dash": "dash", "width": 1.5, "color": GREY}
        )
    figure.update_xaxes(
        title=f"{info.label} {info.arrow}".strip() + _note(table), rangemode="tozero"
    )
    leave_rows_unnamed(figure, len(rows))
    message = (
        f"{info.label} by group, {rows['side'].iloc[0]}: "
        f"{of_each(rows['group'], rows['value'], rows['low'], rows['high'])}; "
        f"over all groups {number(overall)}."
    )
    return finish(figure, message, height=90 + 44 * len(rows), clickmode="event+select", top=8)


def side_heatmap(table: pd.DataFrame, info: Metric, order: list[str]) -> go.Figure:
    """Draw group × side, coloured by the metric; the better, the bluer; "*" marks small groups.

    :param table: of `kgdash.breakdowns.breakdown.breakdown`
    :param order: the groups from top to bottom; the first 25 are drawn
    """
    chosen, sides = order[:MOST_GROUPS], list(dict.fromkeys(table["side"]))
    cells = table.set_index(["group", "side"])
    grid = pd.MultiIndex.from_product([chosen, sides])
    shape = (len(chosen), len(sides))
    values = cells["value"].reindex(grid).to_numpy(dtype=float).reshape(shape)
    if not np.isfinite(values).any():
        return empty("the metric is not defined for these groups")
    small = cells["small"].reindex(grid, fill_value=False).to_numpy(dtype=bool).reshape(shape)
    about = cells.reset_index().set_index(["group", "side"], drop=False)
    texts = [
        [
            _about(about.loc[(group, side)].to_dict(), info) if (group, side) in cells.index else ""
            for side in sides
        ]
        for group in chosen
    ]
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=sides,
            y=-np.arange(len(chosen), dtype=float),
            colorscale=CELL_SCALE,
            reversescale=not info.increasing,
            # Where a metric has ends, so have its colours: the same value looks the same anywhere.
            **({"zmin": 0, "zmax": 1} if (info.values.left, info.values.right) == (0, 1) else {}),
            xgap=2,
            ygap=2,
            text=[
                [
                    "" if np.isnan(value) else number(value) + "*" * bool(is_small)
                    for value, is_small in zip(*row, strict=True)
                ]
                for row in zip(values, small, strict=True)
            ],
            texttemplate="%{text}",
            textfont={"color": "white", "size": 12},
            hovertext=texts,
            hovertemplate="%{hovertext}<extra></extra>",
            showscale=False,
        )
    )
    figure.update_xaxes(side="top", showgrid=False, fixedrange=True)
    name_rows(figure, [shortened(group, _BESIDE) for group in chosen])
    parts = [
        f"{side}: {of_each(chosen, column)}" for side, column in zip(sides, values.T, strict=True)
    ]
    message = f"{info.label} by group and side. {'. '.join(parts)}."
    return finish(figure, message, height=60 + 30 * len(chosen), top=30)


def shortened(text: str, most: int) -> str:
    """Cut a long name in the middle, a path at its beginning: its last part tells most."""
    if (named := end_first(text)) != text:
        return cut(named, most)
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[: most - 1 - half]}…{text[-half:]}"


def _note(table: pd.DataFrame) -> str:
    more = len(table) > MOST_GROUPS
    return f"<br>the first {MOST_GROUPS} of {len(table):,} groups" if more else ""


def _about(row: dict, info: Metric) -> str:
    interval = ""
    if not np.isnan(row["low"]):
        interval = f", interval {number(row['low'])} to {number(row['high'])}"
    return (
        f"{_wrapped(row['group'])}<br>{row['side']}: {info.label} {number(row['value'])}{interval}"
        f"<br>{row['triples']:,} triple{'s' * (row['triples'] != 1)}"
        f"{', a small group' if row['small'] else ''}"
        f"<br>tied {row['tied_share']:.1%}, largest tie {row['largest_tie']:,}"
    )


def _wrapped(text: str) -> str:
    parts = [text[start : start + 60] for start in range(0, len(text), 60)]
    return "<br>".join(escape(part) for part in parts)
