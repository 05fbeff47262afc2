"""Figures of two runs against each other: differences, wins, and how their ranks go together."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.breakdowns import MOST_GROUPS, shortened
from kgdash.charts.message import of_each
from kgdash.charts.style import (
    DENSITY,
    GREY,
    SIDE_COLOURS,
    add_row_bars,
    empty,
    finish,
    leave_rows_unnamed,
    whiskers,
    write_above,
)
from kgdash.files.html import escape
from kgdash.statistics.estimate import Estimate, number, percent, with_interval
from kgdash.statistics.multiple_testing import LEVEL, told_apart

#: of the run that comes first, of neither, of the second
_A, _EQUAL, _B = SIDE_COLOURS["head"], "#8a96a3", SIDE_COLOURS["tail"]

#: characters above a row, as a phone is wide
_ABOVE = 44

_TICKS = (1, 2, 5, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)


def pair_forest(tests: pd.DataFrame) -> go.Figure:
    """Draw the difference of every pair of runs with its interval.

    Coloured where `told_apart` says so, by which run is better.

    :param tests: as of `kgdash.studies.comparison.comparison_verdict.comparison_verdict`
    """
    rows = [
        {
            "name": f"{row['a']} − {row['b']}",
            "sure": sure,
            "note": f"p {number(float(np.maximum(row['p_holm'], row['p_shared'])))}",
            **{key: row[key] for key in ("difference", "low", "high")},
        }
        for row, sure in zip(tests.to_dict("records"), told_apart(tests), strict=True)
    ]
    return _forest(rows, "difference of MRR (first − second)")


def community_forest(table: pd.DataFrame, a: str, b: str) -> go.Figure:
    """Draw the difference per community with its interval; coloured where that leaves 0 out.

    :param table: of `community_differences`; where there are more than 25, the
        first and the last are drawn
    :param a: name of the first run
    :param b: name of the second
    """
    half = MOST_GROUPS // 2
    shown = table if len(table) <= MOST_GROUPS else pd.concat([table[:half], table[-half:]])
    rows = [
        {
            "name": row["name"],
            "sure": bool(row["low"] > 0 or row["high"] < 0) and not row["small"],
            "note": f"n = {row['triples']:,}{', small' * row['small']}",
            **{key: row[key] for key in ("difference", "low", "high")},
        }
        for row in shown.to_dict("records")
    ]
    return _forest(rows, f"difference of MRR: {escape(a)} − {escape(b)}")


def rank_density(grid: pd.DataFrame, a: str, b: str) -> go.Figure:
    """Draw how often ranks by one run meet ranks by the other; the best are at the top right.

    :param grid: of `kgdash.studies.comparison.run_pairs.rank_grid`
    :param a: name of the run on the x axis
    :param b: name of the run on the y axis
    """
    if not len(grid):
        return empty("there are no ranks")
    edges = {
        run: np.unique(np.concatenate([grid[f"low_{run}"], grid[f"high_{run}"]]))
        for run in ("a", "b")
    }
    counts = np.full((len(edges["b"]) - 1, len(edges["a"]) - 1), np.nan)
    at = {run: np.searchsorted(edges[run], grid[f"low_{run}"]) for run in ("a", "b")}
    counts[at["b"], at["a"]] = grid["count"]
    texts = np.full(counts.shape, "", dtype=object)
    texts[at["b"], at["a"]] = [
        f"{escape(a)}: rank {_span(row['low_a'], row['high_a'])}<br>"
        f"{escape(b)}: rank {_span(row['low_b'], row['high_b'])}<br>{row['count']:,.0f} ranks"
        for row in grid.to_dict("records")
    ]
    figure = go.Figure(
        go.Heatmap(
            z=np.log10(counts),
            x=-np.log10(edges["a"]),
            y=-np.log10(edges["b"]),
            colorscale=DENSITY,
            hovertext=texts,
            hovertemplate="%{hovertext}<extra></extra>",
            hoverongaps=False,
            colorbar=_count_bar(float(np.nanmax(counts))),
        )
    )
    least = -np.log10(max(edges["a"][-1], edges["b"][-1]))
    figure.add_scatter(
        x=[least, 0],
        y=[least, 0],
        mode="lines",
        line={"dash": "dash", "color": GREY, "width": 1.5},
        hoverinfo="skip",
        showlegend=False,
    )
    ticks = [t for t in _TICKS if -np.log10(t) >= least]
    axis = {
        # Amid the cell of rank t, which reaches from there to t + 1.
        "tickvals": [-np.log10(t * (t + 1)) / 2 for t in ticks],
        "ticktext": [f"1/{t:,}" if t > 1 else "1" for t in ticks],
        "range": [least, 0],
        "showgrid": False,
        "tickangle": 0,
    }
    figure.update_xaxes(title=f"reciprocal rank by {escape(a)}", **axis)
    figure.update_yaxes(title=f"by {escape(b)}", **axis)
    counts, low_a, low_b = (grid[column] for column in ("count", "low_a", "low_b"))
    shares = [float(counts[first].sum() / counts.sum()) for first in (low_a < low_b, low_a > low_b)]
    message = (
        f"Ranks by two runs: {a} ranks {percent(shares[0])} better, {b} {percent(shares[1])}, the "
        "others about alike."
    )
    return finish(figure, message, height=460, top=12)


def win_bars(table: pd.DataFrame, labels: list[str], a: str, b: str) -> go.Figure:
    """Draw, per relation, the shares of triples that either run ranks better.

    :param table: rows of one side of `relation_sign_tests`, from top to bottom; the
        first 25 are drawn
    :param labels: of all relations
    :param a: name of the first run
    :param b: name of the second
    """
    rows = table.head(MOST_GROUPS)
    if not len(rows):
        return empty("there are no relations to show")
    place = -np.arange(len(rows), dtype=float)
    names = [labels[relation] for relation in rows["relation"]]
    figure = go.Figure()
    for column, name, colour in (
        ("wins", f"{a} better", _A),
        ("ties", "equal", _EQUAL),
        ("losses", f"{b} better", _B),
    ):
        add_row_bars(
            figure,
            rows[column] / rows["triples"],
            [
                f"{escape(shortened(label, 60))}<br>{escape(name)}: {count:,} of {triples:,}"
                f"<br>sign test p {number(p)}"
                for label, count, triples, p in zip(
                    names, rows[column], rows["triples"], rows["p_holm"], strict=True
                )
            ],
            width=0.42,
            name=escape(name),
            marker={"color": colour},
        )
    for y, label, row in zip(place, names, rows.to_dict("records"), strict=True):
        counts = f"{row['wins']:,} : {row['ties']:,} : {row['losses']:,}"
        sure = "  <b>p < 0.05</b>" if row["p_holm"] < LEVEL else ""
        name = escape(shortened(label, _ABOVE - len(counts)))
        write_above(figure, y + 0.22, f"{name}  {counts}{sure}", label)
    figure.update_xaxes(range=[0, 1], tickformat=".0%", title="share of triples")
    leave_rows_unnamed(figure, len(rows))
    figure.update_layout(legend_traceorder="normal")
    message = (
        f"Share of triples that {a} ranks better, by relation: "
        f"{of_each(names, rows['wins'] / rows['triples'])}; {b}: "
        f"{of_each(names, rows['losses'] / rows['triples'])}."
    )
    return finish(figure, message, height=110 + 42 * len(rows), barmode="stack")


def _forest(rows: list[dict], title: str) -> go.Figure:
    if not rows:
        return empty("there is nothing to compare")
    place = -np.arange(len(rows), dtype=float)
    difference, low, high = (
        np.array([row[key] for row in rows], dtype=float) for key in ("difference", "low", "high")
    )
    sure = np.array([row["sure"] for row in rows])
    colours = np.where(sure, np.where(difference > 0, _A, _B), _EQUAL)
    figure = go.Figure()
    for colour in (_A, _B, _EQUAL):
        at = colours == colour
        if not at.any():
            continue
        figure.add_scatter(
            x=difference[at],
            y=place[at],
            mode="markers",
            marker={"color": colour, "size": 10},
            error_x=whiskers(difference[at], low[at], high[at], colour),
            text=[
                f"{escape(shortened(row['name'], 60))}<br>"
                f"{with_interval(Estimate(row['difference'], row['low'], row['high'], 1))}"
                f"<br>{row['note']}"
                for row, here in zip(rows, at, strict=True)
                if here
            ],
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        )
    for y, row in zip(place, rows, strict=True):
        note = f"  <b>{number(row['difference'])}</b>  {row['note']}"
        room = max(12, _ABOVE - len(note) + 7)
        text = f"{escape(shortened(row['name'], room))}{note}"
        write_above(figure, y + 0.22, text, row["name"])
    figure.add_vline(x=0, layer="below", line={"dash": "dash", "width": 1.5, "color": GREY})
    figure.update_xaxes(title=title)
    leave_rows_unnamed(figure, len(rows))
    found = of_each([row["name"] for row in rows], difference, low, high)
    return finish(figure, f"Difference of MRR: {found}.", height=90 + 42 * len(rows), top=8)


def _count_bar(most: float) -> dict[str, object]:
    powers = list(range(int(np.floor(np.log10(max(most, 1)))) + 1))
    return {
        "title": {"text": "ranks"},
        "tickvals": powers,
        "ticktext": [f"{10**power:,}" for power in powers],
        "thickness": 12,
    }


def _span(low: float, high: float) -> str:
    return f"{low:,.0f}" if high == low + 1 else f"{low:,.0f}–{high - 1:,.0f}"
