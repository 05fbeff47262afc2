"""Figures of true against false instances: how well measures part them, and their means."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.group_rows import first_groups, group_label, group_name, group_rows
from kgdash.charts.message import of_each
from kgdash.charts.style import GREY, empty, whiskers
from kgdash.statistics.auc_by_counts import is_told
from kgdash.statistics.estimate import number


@dataclass(frozen=True)
class LabelStyle:
    """How instances of a label are drawn: ``offset`` is from the middle of the group's row up."""

    name: str
    colour: str
    fill: str
    symbol: str
    offset: float


LABELS = {
    True: LabelStyle("true", "#2a78d6", "rgba(42,120,214,0.22)", "circle", 0.14),
    False: LabelStyle("false", "#e07b39", "rgba(224,123,57,0.22)", "diamond-open", -0.18),
}

MEASURE_NAMES = {
    "relik": "ReliK",
    "relik_answer": "ReliK of the answering triple",
    "reciprocal_rank": "reciprocal rank",
    "reciprocal_rank_answer": "reciprocal rank of the answering triple",
    "score": "raw score",
    "score_answer": "raw score of the answering triple",
}

#: colour and symbol of the measures in the figure of the AUCs, in order; both show where they meet
_MEASURES = (("#9a6fd0", "circle"), ("#2e9d78", "square-open"), ("#c2578f", "x"), (GREY, "cross"))


def is_raw(measure: str) -> bool:
    """Tell whether a measure is the model's own score, which no log axis takes."""
    return measure.startswith("score")


def measure_axis(measure: str, aggregate: str, note: str) -> str:
    """Return the title of an axis of a measure."""
    return f"{MEASURE_NAMES.get(measure, measure)}, {aggregate} over groundings<br>({note})"


def means_figure(
    separated: pd.DataFrame,
    measure: str = "relik",
    aggregate: str = "max",
    names: Mapping[str, str] | None = None,
) -> go.Figure:
    """Draw the mean of true and of false instances per group, with its interval.

    Points carry the group as ``customdata``.

    :param separated: a table of `kgdash.studies.instances.separation.separation`; 20 groups at most
    :param measure: which measure it is of, for the axis
    :param aggregate: which aggregate it is of, for the axis
    :param names: what to call the groups where not by themselves
    """
    chosen, note = first_groups(separated["group"])
    rows = separated[separated["group"].isin(chosen)]
    if rows.empty or not rows[["n_true", "n_false"]].to_numpy().any():
        return empty("no instances to draw")
    figure = go.Figure()
    for style in LABELS.values():
        name, colour = style.name, style.colour
        mean, low, high = (rows[f"{end}_{name}"].to_numpy() for end in ("mean", "low", "high"))
        figure.add_scatter(
            x=mean,
            y=style.offset - np.arange(len(rows)),
            mode="markers",
            name=name,
            marker={"color": colour, "symbol": style.symbol, "size": 10},
            error_x=whiskers(mean, low, high, colour, 2, 3),
            customdata=rows["group"],
            text=[
                f"{group_label(group, names)}<br>"
                f"mean {number(m)}, interval {number(a)} to {number(b)}"
                f"<br>{count} instance{'s' * (count != 1)}"
                for group, m, a, b, count in zip(
                    rows["group"], mean, low, high, rows[f"n_{name}"], strict=True
                )
            ],
            hovertemplate="%{text}<extra>" + name + "</extra>",
        )
    figure.update_xaxes(
        title=measure_axis(measure, aggregate, "mean and interval") + note,
        rangemode="normal" if is_raw(measure) else "tozero",
    )
    parts = [
        f"{style.name} "
        + of_each(
            [group_name(group, names) for group in rows["group"]],
            *(rows[f"{end}_{style.name}"] for end in ("mean", "low", "high")),
        )
        for style in LABELS.values()
    ]
    message = f"Mean {MEASURE_NAMES.get(measure, measure)}. {'. '.join(parts)}."
    return group_rows(figure, message, chosen, names, 64)


def auc_figure(
    separated: Mapping[str, pd.DataFrame], names: Mapping[str, str] | None = None
) -> go.Figure:
    """Draw the ROC-AUC per group, one mark with its interval per measure; 0.5 is chance.

    Where the number of groundings alone gives another AUC, a line across the row stands there.
    Points carry the group as ``customdata``.

    :param separated: measure -> table of `separation`, all with the same
        groups in any order; the first one's order and first 20 groups are drawn
    :param names: what to call the groups where not by themselves
    """
    tables = list(separated.values())
    chosen, note = first_groups(tables[0]["group"] if tables else [])
    if not chosen or not any(table["roc_auc"].notna().any() for table in tables):
        return empty("no group has both true and false instances")
    figure = go.Figure()
    # One below the other, so that intervals do not cover one another.
    places = np.linspace(0.17, -0.23, len(tables)) if len(tables) > 1 else np.zeros(1)
    for place, (measure, table), (colour, symbol) in zip(
        places, separated.items(), _MEASURES, strict=False
    ):
        rows = table.set_index("group").reindex(chosen)
        name = MEASURE_NAMES.get(measure, measure)
        auc, low, high = (rows[c].to_numpy() for c in ("roc_auc", "auc_low", "auc_high"))
        figure.add_scatter(
            x=auc,
            y=place - np.arange(len(rows)),
            mode="markers",
            name=name,
            marker={
                "color": colour,
                "symbol": symbol,
                "size": 10,
                "line": {"width": 2, "color": colour},
            },
            error_x=whiskers(auc, low, high, colour, 2, 3),
            customdata=list(chosen),
            text=[_about(row, names) for row in rows.reset_index().to_dict("records")],
            hovertemplate="%{text}<extra>" + name + "</extra>",
        )
    figure.add_vline(x=0.5, line={"dash": "dash", "width": 1.5, "color": GREY})
    more = _add_chance(figure, tables[0].set_index("group").reindex(chosen), names)
    figure.update_xaxes(
        title=f"ROC-AUC (0.5 is chance, 1 parts perfectly){note}", range=[-0.03, 1.03]
    )
    parts = [
        f"{MEASURE_NAMES.get(measure, measure)}: "
        + of_each(
            [group_name(group, names) for group in chosen],
            *(
                table.set_index("group").reindex(chosen)[c]
                for c in ("roc_auc", "auc_low", "auc_high")
            ),
        )
        for measure, table in separated.items()
    ]
    message = f"ROC-AUC, where 0.5 is chance. {'. '.join([*parts, *more])}."
    return group_rows(figure, message, chosen, names, 64)


def _add_chance(
    figure: go.Figure, rows: pd.DataFrame, names: Mapping[str, str] | None
) -> list[str]:
    """Mark in each group what the number of groundings alone gives, and put it into words.

    :param rows: of the drawn groups, by group
    :return: nothing where it is 0.5 in all of them
    """
    chance = rows["auc_chance"].to_numpy()
    if not any(map(is_told, chance)):
        return []
    label = "number of groundings alone"
    figure.add_scatter(
        x=chance,
        y=-0.03 - np.arange(len(rows)),
        mode="markers",
        name=label,
        marker={"symbol": "line-ns", "size": 26, "line": {"width": 2, "color": GREY}},
        customdata=list(rows.index),
        text=[
            f"{group_label(group, names)}<br>about {number(value)}"
            for group, value in zip(rows.index, chance, strict=True)
        ],
        hovertemplate="%{text}<extra>" + label + "</extra>",
    )
    return [f"{label}: {of_each([group_name(group, names) for group in rows.index], chance)}"]


def _about(row: dict, names: Mapping[str, str] | None) -> str:
    true, false = (int(np.nan_to_num(row[count])) for count in ("n_true", "n_false"))
    return (
        f"{group_label(row['group'], names)}<br>ROC-AUC {number(row['roc_auc'])}, interval "
        f"{number(row['auc_low'])} to {number(row['auc_high'])}<br>average precision "
        f"{number(row['average_precision'])}, chance {number(row['share_true'])}<br>Cohen's d "
        f"{number(row['cohens_d'])}, Cliff's delta {number(row['cliffs_delta'])}<br>"
        f"{true:,} true, {false:,} false"
    )
