"""Charts of confounders of ReliK: each factor, and what remains without them."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.message import of_each
from kgdash.charts.style import GREY, SIDE_COLOURS, empty, finish, name_rows, whiskers
from kgdash.statistics.estimate import number
from kgdash.statistics.multiple_testing import direction

#: names of factors, as users read them
FACTOR_LABELS = {
    "head_degree": "degree of the head",
    "tail_degree": "degree of the tail",
    "entity_degree": "mean degree of both",
    "frequency": "frequency of the relation",
    "cardinality": "cardinality",
    "pattern": "pattern",
}

#: of what rises with ReliK, of what falls, of what may be chance
_RISES, _FALLS, _CHANCE = SIDE_COLOURS["head"], SIDE_COLOURS["tail"], "#8a96a3"

#: Spearman and Pearson, the plain coefficient and the partial one
_COLOURS = {"spearman": SIDE_COLOURS["head"], "pearson": SIDE_COLOURS["relation"]}
_SYMBOLS = {"spearman": "ρ", "pearson": "r"}


def factor_forest(tests: pd.DataFrame) -> go.Figure:
    """Draw Spearman's ρ of ReliK with each count, with its interval.

    Coloured where interval and corrected p-value tell it from 0. Points carry the factor as
    ``customdata``.

    :param tests: of `kgdash.studies.correlation.confounders.factor_tests`
    """
    rows = tests[(tests["measure"] == "spearman") & tests["value"].notna()]
    if not len(rows):
        return empty("degree and frequency are the same everywhere")
    ways = {1: _RISES, -1: _FALLS, 0: _CHANCE}
    colours = [ways[direction(row)] for row in rows.to_dict("records")]
    texts = [
        f"{FACTOR_LABELS[row.factor]}<br>ρ {number(row.value)} ({number(row.low)} to "
        f"{number(row.high)})<br>p (Holm) {number(row.p_holm)}, n = {row.triples:,}"
        for row in rows.itertuples()
    ]
    figure = _dots(rows, colours, texts, "factors", rows["factor"].tolist())
    name_rows(figure, [FACTOR_LABELS[factor] for factor in rows["factor"]], 0.55)
    _zero(figure, "Spearman's ρ with ReliK")
    names = [FACTOR_LABELS[factor] for factor in rows["factor"]]
    found = of_each(names, rows["value"], rows["low"], rows["high"])
    message = f"Spearman's ρ of ReliK with {found}."
    return finish(figure, message, height=100 + 52 * len(rows), clickmode="event+select")


def partial_forest(table: pd.DataFrame) -> go.Figure:
    """Draw the coefficients of ReliK with ranks, plain and with controls taken out.

    Open where interval and corrected p-value do not tell them from 0.

    :param table: of `kgdash.studies.correlation.confounders.triple_partials`, or of
        `kgdash.studies.correlation.subgraph_confounders.subgraph_partials`: a row per task too
    """
    rows = table[table["value"].notna()]
    if not len(rows):
        return empty("nothing is left to correlate")
    names = list(dict.fromkeys(_row_name(row) for row in table.to_dict("records")))
    figure = go.Figure()
    for number_, (coefficient, part) in enumerate(rows.groupby("coefficient", sort=False)):
        places = [-names.index(_row_name(row)) for row in part.to_dict("records")]
        offset = 0.14 - 0.28 * number_
        figure.add_scatter(
            x=part["value"],
            y=np.array(places, dtype=float) + offset,
            error_x=whiskers(part["value"], part["low"], part["high"], _COLOURS[str(coefficient)]),
            mode="markers",
            name=f"{str(coefficient).capitalize()}'s {_SYMBOLS[str(coefficient)]}",
            marker={
                "color": _COLOURS[str(coefficient)],
                "size": 11,
                "symbol": [
                    "circle" if direction(row) else "circle-open" for row in part.to_dict("records")
                ],
                "line": {"width": 2, "color": _COLOURS[str(coefficient)]},
            },
            text=[
                f"{_row_name(row)}<br>{row['coefficient']}: {number(row['value'])} "
                f"({number(row['low'])} to {number(row['high'])})<br>p (Holm) "
                f"{number(row['p_holm'])}, n = {row['rows']:,}"
                for row in part.to_dict("records")
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    name_rows(figure, names, 0.55)
    _zero(figure, "correlation of ReliK with the reciprocal rank")
    parts = [
        f"{coefficient}: "
        + of_each(
            [_row_name(row) for row in part.to_dict("records")],
            *(part[each] for each in ("value", "low", "high")),
        )
        for coefficient, part in rows.groupby("coefficient", sort=False)
    ]
    message = f"Correlation of ReliK with the reciprocal rank. {'. '.join(parts)}."
    return finish(figure, message, height=110 + 44 * len(names))


def _row_name(row: dict[str, Any]) -> str:
    taken = "plain" if row["controls"] == "none" else f"without {row['controls']}"
    task = str(row.get("task", "")).removesuffix("_mrr")
    return f"{task}: {taken}" if task else taken


def _dots(
    rows: pd.DataFrame, colours: list[str], texts: list[str], name: str, data: list[str]
) -> go.Figure:
    figure = go.Figure()
    place = -np.arange(len(rows), dtype=float)
    for colour in dict.fromkeys(colours):
        at = np.array([each == colour for each in colours])
        figure.add_scatter(
            x=rows["value"][at],
            y=place[at],
            error_x=whiskers(rows["value"][at], rows["low"][at], rows["high"][at], colour),
            mode="markers",
            name=name,
            marker={"color": colour, "size": 13},
            customdata=[each for each, mine in zip(data, at, strict=True) if mine],
            text=[each for each, mine in zip(texts, at, strict=True) if mine],
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        )
    return figure


def _zero(figure: go.Figure, title: str) -> None:
    figure.add_vline(x=0, line={"color": GREY, "width": 1.5})
    figure.update_xaxes(title=title)
