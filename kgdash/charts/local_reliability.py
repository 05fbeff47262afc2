"""Figures of a subgraph: ReliK against reciprocal rank, and its means side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.breakdowns import shortened
from kgdash.charts.message import by_halves, of_each
from kgdash.charts.style import SIDE_COLOURS, empty, finish, log_axis, whiskers
from kgdash.files.html import escape
from kgdash.graph import triple_text
from kgdash.statistics.estimate import number

if TYPE_CHECKING:
    from kgdash.studies.reliability.local_comparison import Mean

#: points that a browser draws at once
_MOST = 10_000

#: characters of a name in a text for hovering, at most and at least, and of all together
_HOVERED, _FEW_HOVERED, _ALL_HOVERED = 60, 12, 2**20


def relik_scatter(triples: pd.DataFrame) -> go.Figure:
    """Draw reciprocal rank against ReliK, one point per evaluated triple, both axes log.

    Of more than 10,000 as many are drawn, evenly by ReliK.

    ``customdata`` of a point is the row number in ``triples``.

    :param triples: ``relik``, ``reciprocal_rank`` (NaN: not evaluated), ``split``, and for hovering
        ``head``, ``relation``, ``tail`` by what people read
    """
    rows = triples.assign(row=np.arange(len(triples)))
    rows = rows[rows["reciprocal_rank"].notna() & rows["relik"].notna()]
    if rows.empty:
        return empty("no evaluated triple inside this subgraph")
    evaluated = rows.sort_values("relik", kind="stable")
    rows = evaluated.iloc[np.unique(np.linspace(0, len(rows) - 1, _MOST).astype(np.int64))]
    rows["text"] = _facts(rows)
    figure = go.Figure()
    colours = {"test": SIDE_COLOURS["tail"], "valid": SIDE_COLOURS["relation"]}
    symbols = {"test": "circle", "valid": "square", "train": "diamond"}
    for split, part in rows.groupby("split", sort=True):
        figure.add_scatter(
            x=part["relik"],
            y=part["reciprocal_rank"],
            mode="markers",
            name=f"{split} ({(evaluated['split'] == split).sum():,})",
            marker={
                "color": colours.get(str(split), SIDE_COLOURS["head"]),
                "symbol": symbols.get(str(split), "circle"),
                "size": 8,
                "opacity": 0.7,
            },
            showlegend=True,
            customdata=part["row"].tolist(),
            text=part["text"],
            hovertemplate="%{text}<br>ReliK %{x:.3g}, reciprocal rank %{y:.3g}<extra></extra>",
        )
    for update, column, title in (
        (figure.update_xaxes, "relik", "ReliK (log scale)"),
        (figure.update_yaxes, "reciprocal_rank", "reciprocal rank, mean of head and tail (log)"),
    ):
        update(title=title, **log_axis(rows[column]))
    found = by_halves("ReliK", evaluated["relik"], "reciprocal rank", evaluated["reciprocal_rank"])
    message = f"Triples, reciprocal rank against ReliK: {found}."
    if len(rows) < len(evaluated):
        message += f" Drawn: {len(rows):,} of {len(evaluated):,}, evenly by ReliK."
    return finish(figure, message, height=420, clickmode="event+select")


def _facts(named: pd.DataFrame) -> list[str]:
    """Write facts for hovering: 64,000 names of a page each would take gigabytes."""
    most = max(_FEW_HOVERED, min(_HOVERED, _ALL_HOVERED // (3 * len(named))))
    parts = [named[part].astype(str).tolist() for part in ("head", "relation", "tail")]
    short = {name: escape(shortened(name, most)) for part in parts for name in set(part)}
    return [triple_text(*(short[name] for name in fact)) for fact in zip(*parts, strict=True)]


def local_bars(means: Mapping[str, Mean]) -> go.Figure:
    """Draw mean ReliK beside the MRRs of a subgraph, on one linear axis from 0 to 1.

    :param means: as `kgdash.studies.reliability.local_comparison.LocalComparison` has them
    """
    names = {
        "relik": "mean ReliK",
        "tail_mrr": "tail MRR",
        "head_mrr": "head MRR",
        "both_mrr": "both MRR",
        "relation_mrr": "relation MRR",
    }
    values = [means[name].value for name in names]
    error: dict[str, Any] | None = None
    if "relik_low" in means:
        low, high = ([means[f"relik_{end}"].value, *values[1:]] for end in ("low", "high"))
        error = whiskers(values, low, high)
    colours = [SIDE_COLOURS["head"], *[SIDE_COLOURS["tail"]] * (len(names) - 1)]
    figure = go.Figure()
    figure.add_bar(
        y=[f"{label}<br>n = {means[name].n:,}" for name, label in names.items()],
        x=values,
        orientation="h",
        marker={"color": colours},
        error_x=error,
        text=[number(v) for v in values],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.4g}<extra></extra>",
    )
    figure.update_xaxes(title="mean value", range=[0, 1.12])
    figure.update_yaxes(autorange="reversed")
    message = f"Means here: {of_each(names.values(), values)}."
    return finish(figure, message, height=420)
