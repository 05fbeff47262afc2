"""Figures of the health of scores: their histogram, the gap by ties, the largest ties."""

import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.breakdowns import shortened
from kgdash.charts.message import bulk, of_each
from kgdash.charts.style import SIDE_COLOURS, add_row_bars, empty, finish, name_rows
from kgdash.files.html import escape
from kgdash.statistics.estimate import number

#: colours of true answers and of candidates: the two that differ most in lightness and hue
_KINDS = {"true": ("true answers", "#2f7fd1"), "candidates": ("candidates", "#d9742b")}

#: rows drawn; the tables have all of them
MOST_ROWS = 20

#: characters of a name beside its bar
_BESIDE = 30


def score_histogram(table: pd.DataFrame, log: bool = False) -> go.Figure:
    """Draw the shares of true answers' and of candidates' scores per bin, one over the other.

    Shares, since there are thousands of candidates per true answer; the label under the mouse has
    the counts.

    :param table: of `kgdash.health.of_run.ScoreHealth.histogram`
    """
    if not (table["true"].sum() or table["candidates"].sum()):
        return empty("no score is finite")
    figure = go.Figure()
    middle = (table["left"] + table["right"]) / 2
    for column, (name, colour) in _KINDS.items():
        share = table[f"{column}_share"]
        figure.add_bar(
            x=middle,
            y=share.where(share > 0) if log else share,
            width=table["right"] - table["left"],
            name=name,
            marker={"color": colour, "opacity": 0.6, "line": {"width": 0}},
            text=[
                f"{name}<br>{number(row.left)} to {number(row.right)}<br>"
                f"{getattr(row, column):,} scores, {getattr(row, f'{column}_share'):.3%}"
                for row in table.itertuples()
            ],
            textposition="none",
            hovertemplate="%{text}<extra></extra>",
        )
    figure.update_xaxes(title="score")
    figure.update_yaxes(
        title="share of scores" + (", log" if log else ""),
        tickformat=None if log else ".0%",
        type="log" if log else "linear",
    )
    if log:
        figure.update_yaxes(exponentformat="power", dtick=1)
    parts = [
        bulk(f"scores of {name}", table["left"], table["right"], table[column])
        for column, (name, _) in _KINDS.items()
    ]
    return finish(figure, f"Scores: {'; '.join(parts)}.", barmode="overlay", bargap=0)


def gap_bars(table: pd.DataFrame, side: str) -> go.Figure:
    """Draw the MRR of relations from their pessimistic to their optimistic value.

    :param table: of `kgdash.health.of_run.ScoreHealth.by_relation`: the widest gap first; the
        first 20 with a gap are drawn
    """
    rows = table[table["gap"] > 0].head(MOST_ROWS)
    if not len(rows):
        return empty("no relation's MRR depends on how ties count")
    figure = go.Figure()
    add_row_bars(
        figure,
        rows["gap"],
        [
            f"{escape(row.group)}<br>MRR {number(row.pessimistic)} to {number(row.optimistic)}"
            f"<br>gap {number(row.gap)}, {row.tied_share:.1%} of {row.count:,} ranks tied"
            f"<br>at most {row.largest_tie:,} equal scores"
            for row in rows.itertuples(index=False)
        ],
        base=rows["pessimistic"],
        width=0.6,
        marker={"color": SIDE_COLOURS[side], "opacity": 0.75},
        customdata=rows["group"].tolist(),
        showlegend=False,
    )
    more = int((table["gap"] > 0).sum()) - len(rows)
    note = f"<br>{more:,} more relations have a gap" if more else ""
    figure.update_xaxes(title=f"MRR, pessimistic to optimistic{note}")
    name_rows(figure, [shortened(group, _BESIDE) for group in rows["group"]], 0.6)
    message = f"Gap of the MRR by how ties count: {of_each(rows['group'], rows['gap'])}."
    return finish(figure, message, height=90 + 24 * len(rows), top=8, clickmode="event+select")


def tie_bars(table: pd.DataFrame) -> go.Figure:
    """Draw how many candidates tie with the true answers of the largest ties.

    :param table: of `kgdash.health.ties.tie_groups`, with names in place of ids; the first 20 rows
        are drawn. Bars carry the row's number as ``customdata``
    """
    rows = table.head(MOST_ROWS)
    if not len(rows):
        return empty("no true answer shares its score")
    names = [query_text(row) for row in rows.to_dict("records")]
    figure = go.Figure()
    add_row_bars(
        figure,
        rows["equal_scores"],
        [
            f"{escape(name)}<br>{row['side']} side: {row['equal_scores']:,} of "
            f"{row['candidates'] - 1:,} candidates tie with the true answer"
            for name, row in zip(names, rows.to_dict("records"), strict=True)
        ],
        width=0.6,
        marker={"color": [SIDE_COLOURS[side] for side in rows["side"]], "opacity": 0.75},
        customdata=list(range(len(rows))),
        showlegend=False,
    )
    ticks = {"dtick": 1} if rows["equal_scores"].max() < 5 else {}  # else there are halves
    figure.update_xaxes(title="tied candidates", rangemode="tozero", **ticks)
    name_rows(figure, [shortened(name, _BESIDE) for name in names], 0.6)
    message = f"Candidates that tie with the true answer: {of_each(names, rows['equal_scores'])}."
    return finish(figure, message, height=90 + 24 * len(rows), top=8, clickmode="event+select")


def query_text(row: dict) -> str:
    """Write the query of a row: head, relation, tail, with "?" for what is asked for."""
    head, tail = ("?" if row["side"] == side else str(row[side]) for side in ("head", "tail"))
    return f"{head}, {row['relation']}, {tail}"
