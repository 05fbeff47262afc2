"""Figures of several runs side by side: a metric per run, per group, per seed."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.breakdowns import MOST_GROUPS, shortened
from kgdash.charts.message import of_each, with_message
from kgdash.charts.style import (
    GREY,
    SIDE_COLOURS,
    add_row_bars,
    empty,
    finish,
    leave_rows_unnamed,
    name_rows,
    whiskers,
    write_above,
)
from kgdash.files.html import escape
from kgdash.ranking.metric import Metric
from kgdash.statistics.estimate import number, percent

#: up to so many runs, cells are wide enough for values on a phone
ROOMY = 4

#: first → last position, dark enough throughout for white figures
_POSITIONS = [[0.0, "#1e5fb4"], [1.0, "#6d7480"]]

#: characters of a name beside a row, and of a run's above a column
BESIDE, _ABOVE = 22, 14

#: characters above a bar, as a phone is wide
_ABOVE_BARS = 40


def metric_dots(table: pd.DataFrame, info: Metric) -> go.Figure:
    """Draw one metric of every run, a mark per side, and the intervals of both sides pooled.

    :param table: rows of one metric and rank type of `kgdash.studies.comparison.comparison.overall`
        with ``low`` and ``high``, if there are intervals (NaN for none)
    """
    table = table.assign(**{end: np.nan for end in ("low", "high") if end not in table})
    if not table["value"].notna().any():
        return empty("the metric is not defined for these runs")
    runs = list(dict.fromkeys(table["run"]))
    place = {run: -float(number) for number, run in enumerate(runs)}
    figure = go.Figure()
    for side, rows in table.groupby("side", sort=False):
        figure.add_scatter(
            x=rows["value"],
            y=[place[run] for run in rows["run"]],
            mode="markers",
            name=str(side),
            marker={
                "color": SIDE_COLOURS[str(side)],
                "size": 12,
                "symbol": "diamond" if side == "both" else "circle",
            },
            error_x=whiskers(rows["value"], rows["low"], rows["high"]) if side == "both" else None,
            text=[_about(row, info) for row in rows.to_dict("records")],
            hovertemplate="%{text}<extra></extra>",
        )
    figure.update_xaxes(title=f"{info.label} {info.arrow}".strip())
    _name_rows(figure, runs)
    parts = [
        f"{side}: {of_each(rows['run'], *(rows[each] for each in ('value', 'low', 'high')))}"
        for side, rows in table.groupby("side", sort=False)
    ]
    message = f"{info.label} of {len(runs)} runs. {'. '.join(parts)}."
    return finish(figure, message, height=110 + 42 * len(runs))


def position_heatmap(table: pd.DataFrame, info: Metric, order: list[str]) -> go.Figure:
    """Draw group × run: each cell holds the value and the run's position, which colours it.

    Where there are more than four runs, cells hold the position alone, for want of room.

    :param table: rows of one side of `kgdash.studies.comparison.comparison.by_group`
    :param order: the groups from top to bottom; the first 25 are drawn
    """
    chosen, runs = order[:MOST_GROUPS], list(dict.fromkeys(table["run"]))
    cells = table.set_index(["group", "run"])
    grid = pd.MultiIndex.from_product([chosen, runs])
    shape = (len(chosen), len(runs))
    if not cells["value"].reindex(grid).notna().any():
        return empty("the metric is not defined for these groups")
    rows = cells.reindex(grid)
    positions = rows["position"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    roomy = len(runs) <= ROOMY
    texts = [
        "" if np.isnan(place) else f"{number(value)}<br>" * roomy + f"{place:.0f}."
        for value, place in zip(rows["value"], positions, strict=True)
    ]
    abouts = [
        "" if np.isnan(row["value"]) else _about(row, info)
        for row in rows.reset_index(names=["group", "run"]).to_dict("records")
    ]
    small = table.groupby("group")["small"].first()
    names = [shortened(group, BESIDE) + "*" * bool(small[group]) for group in chosen]
    cells = HeatmapCells(positions.reshape(shape), texts, abouts)
    first = rows[positions == 1].index.get_level_values(1).value_counts()
    message = (
        f"{info.label} of runs by group: of {len(chosen)} groups, first is "
        f"{', '.join(f'{run} in {first.get(run, 0)}' for run in runs)}. "
        f"{runs[0]}: {of_each(chosen, rows.xs(runs[0], level=1)['value'])}."
    )
    figure = run_heatmap(cells, names, runs, _POSITIONS, (1, len(runs)))
    return with_message(figure, message)


@dataclass(frozen=True)
class HeatmapCells:
    """What a cell per row and run is coloured by, says, and says on hovering.

    ``values``: float64, ``(rows, runs)``, NaN for no colour; ``texts``, ``abouts``: row after row.
    """

    values: np.ndarray
    texts: list[str]
    abouts: list[str]


def run_heatmap(
    cells: HeatmapCells,
    names: list[str],
    runs: list[str],
    scale: list[list[object]],
    ends: tuple[float, float],
) -> go.Figure:
    """Draw a cell per row and run; the message is its caller's to give.

    :param names: of the rows, from top to bottom
    :param runs: above the columns
    :param scale: colours from the first of ``ends`` to the second, dark enough for white text
    :param ends: of the values
    """
    lying = len(runs) < ROOMY
    names_above = [escape(shortened(run, _ABOVE)) for run in runs]
    texts, abouts = (
        np.array(each, dtype=object).reshape(cells.values.shape)
        for each in (cells.texts, cells.abouts)
    )
    figure = go.Figure(
        go.Heatmap(
            z=cells.values,
            x=list(range(len(runs))),
            y=-np.arange(len(names), dtype=float),
            zmin=ends[0],
            zmax=ends[1],
            colorscale=scale,
            xgap=2,
            ygap=2,
            text=texts,
            texttemplate="%{text}",
            textfont={"color": "white", "size": 12},
            hovertext=abouts,
            hovertemplate="%{hovertext}<extra></extra>",
            showscale=False,
        )
    )
    figure.update_xaxes(
        side="top",
        tickvals=list(range(len(runs))),
        # In two lines, so that names do not run into each other on a phone.
        ticktext=[name.replace("-", "-<br>", int(lying)) for name in names_above],
        tickangle=0 if lying else -90,
        showgrid=False,
        fixedrange=True,
    )
    name_rows(figure, names)
    return finish(figure, "", height=100 + 40 * len(names), top=60)


def seed_dots(table: pd.DataFrame, spread: pd.DataFrame, info: Metric) -> go.Figure:
    """Draw what each seed makes of a metric, per side, and mean ± standard deviation.

    :param table: rows of one metric, rank type and configuration of
        `kgdash.studies.comparison.comparison.overall`
    :param spread: the same rows of `kgdash.studies.comparison.seeds.seed_spread`
    """
    if not table["value"].notna().any():
        return empty("the metric is not defined for these runs")
    sides = spread["side"].tolist()
    figure = go.Figure()
    for place, row in enumerate(spread.to_dict("records")):
        side, rows = row["side"], table[table["side"] == row["side"]]
        colour = SIDE_COLOURS[side]
        figure.add_scatter(
            x=rows["value"],
            y=[-place + 0.2] * len(rows),
            mode="markers",
            marker={"color": colour, "size": 9, "opacity": 0.7},
            text=[_about(of_run, info) for of_run in rows.to_dict("records")],
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        )
        deviation = row["standard_deviation"]
        figure.add_scatter(
            x=[row["mean"]],
            y=[-place - 0.1],
            error_x={"type": "data", "array": [np.nan_to_num(deviation)], "thickness": 2.5},
            mode="markers",
            marker={"color": colour, "size": 13, "symbol": "diamond"},
            text=[f"{side}: {number(row['mean'])} ± {number(deviation)}, {row['seeds']} seeds"],
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        )
    figure.update_xaxes(title=f"{info.label} {info.arrow}".strip())
    _name_rows(figure, sides)
    parts = [
        f"{row['side']} {number(row['mean'])} ± {number(row['standard_deviation'])}"
        for row in spread.to_dict("records")
    ]
    message = f"{info.label} over seeds, mean ± standard deviation: {', '.join(parts)}."
    return finish(figure, message, height=90 + 60 * len(sides))


def _name_rows(figure: go.Figure, names: list[str]) -> None:
    name_rows(figure, [shortened(name, BESIDE) for name in names])


def _about(row: dict, info: Metric) -> str:
    place = "" if pd.isna(row["position"]) else f", position {row['position']:.0f}"
    where = f"{escape(str(row['group']))}<br>" if "group" in row else f"{row['side']}: "
    return f"{escape(str(row['run']))}<br>{where}{info.label} {number(row['value'])}{place}"


def ambiguity_bars(table: pd.DataFrame, overall: float) -> go.Figure:
    """Draw the share of queries in conflict per group with its interval; small ones are hatched.

    :param table: of `kgdash.studies.agreement.agreement_report.agreement_by`, from top to bottom;
        the first 25 are drawn
    :param overall: the share over all queries, a dashed line
    """
    rows = table.head(MOST_GROUPS)
    if rows.empty:
        return empty("no query is in any of these groups")
    figure, colour = go.Figure(), SIDE_COLOURS["both"]
    counts = [
        f"n = {n:,}{', small' * s}" for n, s in zip(rows["queries"], rows["small"], strict=True)
    ]
    add_row_bars(
        figure,
        rows["ambiguity"],
        [
            f"{escape(row['group'])}<br>{percent(row['ambiguity'], 1)} in conflict{_from_to(row)}"
            f"<br>{row['queries']:,} queries"
            for row in rows.to_dict("records")
        ],
        width=0.46,
        marker={
            "color": colour,
            "opacity": 0.6,
            "pattern": {"shape": ["/" if small else "" for small in rows["small"]]},
        },
        error_x=whiskers(rows["ambiguity"], rows["low"], rows["high"], colour),
        showlegend=False,
    )
    for at, (row, count) in enumerate(zip(rows.to_dict("records"), counts, strict=True)):
        name = escape(shortened(row["group"], _ABOVE_BARS - len(count)))
        write_above(
            figure, 0.24 - at, f"{name}  <b>{percent(row['ambiguity'])}</b>  {count}", row["group"]
        )
    figure.add_vline(x=overall, layer="below", line={"dash": "dash", "width": 1.5, "color": GREY})
    more = len(table) > MOST_GROUPS
    note = f"<br>the first {MOST_GROUPS} of {len(table):,} groups" * more
    figure.update_xaxes(
        title=f"queries in conflict{note}", tickformat=".0%", rangemode="tozero", fixedrange=True
    )
    leave_rows_unnamed(figure, len(rows))
    message = (
        "Share of queries in conflict by group: "
        f"{of_each(rows['group'], rows['ambiguity'], rows['low'], rows['high'])}; "
        f"of all queries {overall:.3g}."
    )
    return finish(figure, message, height=90 + 44 * len(rows), top=8)


def _from_to(row: dict) -> str:
    return (
        ""
        if np.isnan(row["low"])
        else f", interval {percent(row['low'], 1)} to {percent(row['high'], 1)}"
    )
