"""Figures of true against false instances: their values, their means, and how well they part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.style import GREY, empty, finish, number

#: label -> name, colour, fill, symbol, place above (+) or below (-) the middle of the group's row
LABELS = {
    True: ("true", "#2a78d6", "rgba(42,120,214,0.22)", "circle", 0.14),
    False: ("false", "#e07b39", "rgba(224,123,57,0.22)", "diamond-open", -0.18),
}

MEASURE_NAMES = {
    "relik": "ReliK",
    "relik_head": "ReliK of the answering triple",
    "reciprocal_rank": "reciprocal rank",
    "reciprocal_rank_head": "reciprocal rank of the answering triple",
}

#: colour and symbol of the measures in the figure of the AUCs, in order; both show where they meet
_MEASURES = (("#9a6fd0", "circle"), ("#2e9d78", "square-open"), ("#c2578f", "x"), (GREY, "cross"))

#: points drawn per group and label (boxes and means are of all), groups drawn per figure
_MOST_POINTS, _MOST_GROUPS = 150, 20

_NAME_LENGTH = 46


def values_figure(
    table: pd.DataFrame,
    measure: str = "relik",
    chains: str = "best",
    groups: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
) -> go.Figure:
    """Draw each instance's value on a log axis, with a box per group and label.

    Points carry ``customdata`` ``[instance, group]``, for selections; boxes are not selectable.

    :param table: the ``table`` of `kgdash.studies.instances.ScoredInstances`
    :param measure: one of `MEASURE_NAMES`
    :param chains: "best" or "mean"
    :param groups: which groups, from top to bottom (default: all, as they appear); 20 at most
    :param names: what to call the groups where not by themselves
    """
    chosen, note = _first(table["group"].unique() if groups is None else groups)
    column = f"{measure}_{chains}"
    rows = table[table["group"].isin(chosen)]
    if rows.empty:
        return empty("no instances to draw")
    row_of = {group: -place for place, group in enumerate(chosen)}
    figure = go.Figure()
    for label in LABELS:
        part = rows[rows["label"] == label]
        if len(part):
            _add_values(figure, part, label, column, row_of, names)
    figure.update_xaxes(
        type="log",
        dtick=1,
        exponentformat="power",
        title=_axis(measure, chains, "log scale") + note,
    )
    return _rows(figure, chosen, names, 80, clickmode="event+select")


def _add_values(
    figure: go.Figure,
    rows: pd.DataFrame,
    label: bool,
    column: str,
    row_of: Mapping[str, int],
    names: Mapping[str, str] | None,
) -> None:
    """Add the boxes and the points of one label."""
    name, colour, fill, symbol, offset = LABELS[label]
    figure.add_box(
        x=rows[column],
        y=rows["group"].map(row_of).astype(float) + offset,
        orientation="h",
        width=0.26,
        boxpoints=False,
        line={"color": colour, "width": 1.5},
        fillcolor=fill,
        hoverinfo="skip",
        showlegend=False,
    )
    drawn = _thinned(rows, column)
    figure.add_scatter(
        x=drawn[column],
        y=drawn["group"].map(row_of).astype(float) + offset + _jitter(len(drawn)),
        mode="markers",
        name=name,
        marker={"color": colour, "symbol": symbol, "size": 7, "opacity": 0.75},
        customdata=[[int(i), g] for i, g in zip(drawn["instance"], drawn["group"], strict=True)],
        text=[_about(row, column, names) for row in drawn.to_dict("records")],
        hovertemplate="%{text}<extra>" + name + "</extra>",
    )


def means_figure(
    separated: pd.DataFrame,
    measure: str = "relik",
    chains: str = "best",
    names: Mapping[str, str] | None = None,
) -> go.Figure:
    """Draw the mean of true and of false instances per group, with its interval.

    Points carry the group as ``customdata``.

    :param separated: a table of `kgdash.studies.separation.separation`; 20 groups at most
    :param measure: which measure it is of, for the axis
    :param chains: which choice of chains it is of, for the axis
    :param names: what to call the groups where not by themselves
    """
    chosen, note = _first(separated["group"])
    rows = separated[separated["group"].isin(chosen)]
    if rows.empty or not rows[["n_true", "n_false"]].to_numpy().any():
        return empty("no instances to draw")
    figure = go.Figure()
    for name, colour, _, symbol, offset in LABELS.values():
        mean, low, high = (rows[f"{end}_{name}"].to_numpy() for end in ("mean", "low", "high"))
        figure.add_scatter(
            x=mean,
            y=offset - np.arange(len(rows)),
            mode="markers",
            name=name,
            marker={"color": colour, "symbol": symbol, "size": 10},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": np.nan_to_num(high - mean),
                "arrayminus": np.nan_to_num(mean - low),
                "color": colour,
                "thickness": 2,
            },
            customdata=rows["group"],
            text=[
                f"{_called(group, names)}<br>mean {number(m)}, interval {number(a)} to {number(b)}"
                f"<br>{count} instance{'s' * (count != 1)}"
                for group, m, a, b, count in zip(
                    rows["group"], mean, low, high, rows[f"n_{name}"], strict=True
                )
            ],
            hovertemplate="%{text}<extra>" + name + "</extra>",
        )
    figure.update_xaxes(
        title=_axis(measure, chains, "mean and interval") + note, rangemode="tozero"
    )
    return _rows(figure, chosen, names, 56)


def auc_figure(
    separated: Mapping[str, pd.DataFrame], names: Mapping[str, str] | None = None
) -> go.Figure:
    """Draw the ROC-AUC per group, one mark per measure; 0.5 is chance.

    Points carry the group as ``customdata``.

    :param separated: measure -> table of `kgdash.studies.separation.separation`, all with the same
        groups in any order; the first one's order and first 20 groups are drawn
    :param names: what to call the groups where not by themselves
    """
    tables = list(separated.values())
    chosen, note = _first(tables[0]["group"] if tables else [])
    if not chosen or not any(table["roc_auc"].notna().any() for table in tables):
        return empty("no group has both true and false instances")
    figure = go.Figure()
    for (measure, table), (colour, symbol) in zip(separated.items(), _MEASURES, strict=False):
        rows = table.set_index("group").reindex(chosen)
        counts = rows[["n_true", "n_false"]].fillna(0).astype(int).to_numpy()
        figure.add_scatter(
            x=rows["roc_auc"],
            y=-np.arange(len(rows)),
            mode="markers",
            name=MEASURE_NAMES.get(measure, measure),
            marker={"color": colour, "symbol": symbol, "size": 11, "line": {"width": 2}},
            customdata=list(chosen),
            text=[
                f"{_called(group, names)}<br>ROC-AUC {number(auc)}, Cohen's d {number(effect)}"
                f"<br>{true} true, {false} false"
                for group, auc, effect, (true, false) in zip(
                    chosen, rows["roc_auc"], rows["cohens_d"], counts, strict=True
                )
            ],
            hovertemplate="%{text}<extra>" + MEASURE_NAMES.get(measure, measure) + "</extra>",
        )
    figure.add_vline(x=0.5, line={"dash": "dash", "width": 1.5, "color": GREY})
    figure.update_xaxes(
        title=f"ROC-AUC (0.5 is chance, 1 parts perfectly){note}", range=[-0.03, 1.03]
    )
    return _rows(figure, chosen, names, 54)


def _first(groups: Sequence[str]) -> tuple[list[str], str]:
    """Return the groups to draw, and what to say of the others."""
    distinct = list(dict.fromkeys(groups))
    left = len(distinct) > _MOST_GROUPS
    note = f"<br>the first {_MOST_GROUPS} of {len(distinct):,} groups" if left else ""
    return distinct[:_MOST_GROUPS], note


def _rows(
    figure: go.Figure,
    groups: Sequence[str],
    names: Mapping[str, str] | None,
    height: int,
    **layout: object,
) -> go.Figure:
    """Give each group a row, its name above: beside the row it would take a phone's whole width."""
    for place, group in enumerate(groups):
        figure.add_annotation(
            text=escape(_shorten(_name(group, names))),
            hovertext=_called(group, names),
            showarrow=False,
            xref="paper",
            x=0,
            xanchor="left",
            y=0.29 - place,
            yanchor="bottom",
        )
    figure.update_yaxes(
        range=[-len(groups) + 0.55, 0.7], showgrid=False, showticklabels=False, fixedrange=True
    )
    for place in range(1, len(groups)):
        figure.add_hline(y=0.6 - place, line={"width": 1, "color": "rgba(128,138,150,0.3)"})
    return finish(figure, height=120 + height * len(groups), **layout)


def _name(group: str, names: Mapping[str, str] | None) -> str:
    return str((names or {}).get(group, "all groups" if group == "all" else group))


def _called(group: str, names: Mapping[str, str] | None) -> str:
    return escape(_name(group, names))


def _shorten(text: str) -> str:
    """Keep both ends: the end of a rule says what it concludes."""
    half = (_NAME_LENGTH - 1) // 2
    return text if len(text) <= _NAME_LENGTH else f"{text[:half]}…{text[-half:]}"


def _axis(measure: str, chains: str, scale: str) -> str:
    return f"{MEASURE_NAMES.get(measure, measure)}, {chains} of the chains<br>({scale})"


def _about(row: dict, column: str, names: Mapping[str, str] | None) -> str:
    return (
        f"{escape(str(row['question']))} → {escape(str(row['answer']))}<br>"
        f"{_called(row['group'], names)}<br>{number(row[column])}, {row['chains']} "
        f"chain{'s' * (row['chains'] != 1)}; instance {row['instance']}"
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
    """Return offsets within the box's half height, the same every time."""
    return np.random.default_rng(0).uniform(-0.1, 0.1, count)
