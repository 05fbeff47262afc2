"""Figures of triple classification: curves, scores with the threshold, calibration, ReliK."""

from collections.abc import Mapping, Sequence
from itertools import cycle

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.message import bulk, of_each
from kgdash.charts.separation import LABELS
from kgdash.charts.style import GREY, RUN_LOOKS, empty, finish, log_axis, whiskers
from kgdash.files.html import escape
from kgdash.statistics.estimate import number, percent

#: way of calibration -> colour and symbol; both tell
_CALIBRATIONS = {
    "none": ("#7a8794", "x"),
    "platt": ("#2f7fd1", "circle"),
    "isotonic": ("#d9742b", "diamond-open"),
}
#: way of calibration -> what people read
CALIBRATION_NAMES = {"none": "sigmoid of the score", "platt": "Platt", "isotonic": "isotonic"}

#: corners of a curve drawn; more are finer than a screen
_MOST_CORNERS = 1500

_CURVE, _POINT = "#2f7fd1", "#d9742b"


def roc_figure(curve: pd.DataFrame, confusion: dict[str, int]) -> go.Figure:
    """Draw the ROC curve, and where the thresholds put the model.

    :param curve: of `kgdash.studies.classification.curves.roc_curve`
    :param confusion: of `kgdash.studies.classification.scores.confusion`
    """
    if curve.empty:
        return empty("a ROC curve needs true and false triples")
    false, true = _rates(confusion)
    figure = go.Figure()
    _add_guessing(figure, [0, 1], [0, 1])
    _add_curve(figure, curve, "false_positive_rate", "true_positive_rate", "ROC curve")
    _add_point(figure, false, true)
    figure.update_xaxes(
        title="false triples predicted true ↓", range=[-0.02, 1.02], tickformat=".0%"
    )
    figure.update_yaxes(
        title="true triples predicted true ↑", range=[-0.02, 1.04], tickformat=".0%"
    )
    message = (
        f"ROC curve: the thresholds predict {percent(true, 1)} of true and {percent(false, 1)} of "
        "false triples true. Along the curve, "
        f"{_along(curve, 'true_positive_rate', 'false_positive_rate')}."
    )
    return finish(figure, message)


def pr_figure(curve: pd.DataFrame, confusion: dict[str, int]) -> go.Figure:
    """Draw the precision-recall curve, and where the thresholds put the model.

    :param curve: of `kgdash.studies.classification.curves.precision_recall_curve`
    """
    if curve.empty:
        return empty("a precision-recall curve needs true and false triples")
    right, wrong = confusion["true_positive"], confusion["false_positive"]
    true = right + confusion["false_negative"]
    share = true / sum(confusion.values())
    figure = go.Figure()
    _add_guessing(figure, [0, 1], [share, share])
    _add_curve(figure, curve, "recall", "precision", "precision-recall curve")
    if right + wrong:
        _add_point(figure, right / true, right / (right + wrong))
    figure.update_xaxes(title="recall ↑", range=[-0.02, 1.02], tickformat=".0%")
    figure.update_yaxes(title="precision ↑", range=[-0.02, 1.04], tickformat=".0%")
    message = (
        f"Precision-recall curve: the thresholds reach recall {percent(right / true, 1)} at "
        f"precision {percent(right / max(right + wrong, 1), 1)}; guessing has {percent(share, 1)}. "
        "Along the curve, "
        f"{_along(curve, 'precision', 'recall')}."
    )
    return finish(figure, message)


def labelled_histogram(table: pd.DataFrame, threshold: float | None = None) -> go.Figure:
    """Draw the scores of true and of false triples, one over the other, with the threshold.

    :param table: of `kgdash.studies.classification.curves.score_histogram`
    :param threshold: drawn if there is one and it is finite
    """
    if not table[["true", "false"]].to_numpy().any():
        return empty("no score is finite")
    figure = go.Figure()
    for style in LABELS.values():
        name, colour = style.name, style.colour
        figure.add_bar(
            x=(table["left"] + table["right"]) / 2,
            y=table[name],
            width=table["right"] - table["left"],
            name=f"{name} triples",
            marker={"color": colour, "opacity": 0.6, "line": {"width": 0}},
            text=[
                f"{name} triples<br>{number(left)} to {number(right)}<br>{count:,} triples"
                for left, right, count in zip(
                    table["left"], table["right"], table[name], strict=True
                )
            ],
            textposition="none",
            hovertemplate="%{text}<extra></extra>",
        )
    if threshold is not None and np.isfinite(threshold):
        figure.add_scatter(
            x=[threshold, threshold],
            y=[0, table[["true", "false"]].to_numpy().max()],
            mode="lines",
            name=f"threshold {number(threshold)}",
            line={"dash": "dash", "width": 2, "color": GREY},
            hoverinfo="skip",
        )
    figure.update_xaxes(title="score")
    figure.update_yaxes(title="triples", rangemode="tozero")
    parts = [
        bulk(f"{name} triples", table["left"], table["right"], table[name])
        for name in ("true", "false")
    ]
    if threshold is not None and np.isfinite(threshold):
        parts.append(f"threshold {number(threshold)}")
    message = f"Scores: {'; '.join(parts)}."
    return finish(figure, message, barmode="overlay", bargap=0)


def calibration_figure(bins: pd.DataFrame) -> go.Figure:
    """Draw the reliability diagram: predicted probability against the share of true triples.

    :param bins: of `kgdash.studies.classification.calibration.calibration_tables`
    """
    named = bins.assign(name=bins["calibration"].map(CALIBRATION_NAMES))
    looks = {CALIBRATION_NAMES[name]: look for name, look in _CALIBRATIONS.items()}
    return _reliability_diagram(named, looks, "Calibration")


def calibrations_figure(bins: Mapping[str, pd.DataFrame]) -> go.Figure:
    """Draw the reliability diagrams of several runs in one, each after Platt's calibration.

    :param bins: of `kgdash.studies.classification.calibration.calibration_tables`, by run
    """
    tables = [
        table[table["calibration"] == "platt"].assign(name=run) for run, table in bins.items()
    ]
    looks = dict(zip(bins, cycle(RUN_LOOKS), strict=False))
    return _reliability_diagram(pd.concat(tables), looks, "Calibration after Platt")


def confidence_figure(bins: Mapping[str, pd.DataFrame]) -> go.Figure:
    """Draw the confidence of first candidates against the share of them that is right.

    :param bins: of `kgdash.studies.probability.calibration_report.diagram`, by the name of a way
    """
    table = pd.concat([rows.assign(name=name) for name, rows in bins.items()])
    looks = dict(zip(bins, cycle(RUN_LOOKS), strict=False))
    return _reliability_diagram(table, looks, "Confidence", "queries", "share of answers right")


def _reliability_diagram(
    bins: pd.DataFrame,
    looks: Mapping[str, tuple[str, str]],
    title: str,
    unit: str = "triples",
    share: str = "share of true triples",
) -> go.Figure:
    """Draw predicted probability against what came true, a line per ``name``.

    :param looks: colour and symbol by name
    :param unit: what is counted, and ``share``: what the y axis shows
    """
    figure = go.Figure()
    _add_guessing(figure, [0, 1], [0, 1], "as predicted")
    for name, rows in bins.groupby("name", sort=False):
        colour, symbol = looks[str(name)]
        figure.add_scatter(
            x=rows["predicted"],
            y=rows["observed"],
            mode="lines+markers",
            name=escape(str(name)),
            line={"color": colour, "width": 1.5},
            marker={"color": colour, "symbol": symbol, "size": 9},
            error_y=whiskers(rows["observed"], rows["low"], rows["high"], colour, thickness=1.5),
            text=[
                f"{escape(str(name))}<br>predicted {percent(row.predicted, 1)}<br>"
                f"true {percent(row.observed, 1)}, interval {percent(row.low, 1)} to "
                f"{percent(row.high, 1)}<br>{count:,} {unit}"
                for row, count in zip(rows.itertuples(), rows["count"], strict=True)
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    figure.update_xaxes(title="predicted probability", range=[-0.03, 1.03], tickformat=".0%")
    figure.update_yaxes(title=share, range=[-0.03, 1.03], tickformat=".0%")
    parts = [
        f"{name}: of {unit} predicted true with p, so many are: "
        + ", ".join(
            f"{percent(row.predicted)} → {percent(row.observed)}" for row in rows.itertuples()
        )
        for name, rows in bins.groupby("name", sort=False)
    ]
    return finish(figure, f"{title}. {'. '.join(parts)}.", height=400)


def relik_accuracy_figure(table: pd.DataFrame) -> go.Figure:
    """Draw how often triples are classified right per quantile of ReliK, on a log axis of ReliK.

    :param table: of `kgdash.studies.classification.accuracy_by_relik.accuracy_by_relik`
    """
    figure = go.Figure()
    for name, label, colour, symbol in (
        ("recall", "true triples predicted true", "#2a78d6", "circle"),
        ("accuracy", "true and corrupted ones classified right", "#2e9d78", "square-open"),
    ):
        rows = table[table[name].notna()]
        if rows.empty:
            continue
        figure.add_scatter(
            x=rows["relik"],
            y=rows[name],
            mode="lines+markers",
            name=label,
            line={"color": colour, "width": 1.5},
            marker={"color": colour, "symbol": symbol, "size": 10},
            error_y=whiskers(
                rows[name], rows[f"{name}_low"], rows[f"{name}_high"], colour, thickness=1.5
            ),
            text=[
                f"{label}: {percent(row[name], 1)}<br>interval {percent(row[f'{name}_low'], 1)} to "
                f"{percent(row[f'{name}_high'], 1)}<br>ReliK {number(row['relik_least'])} to "
                f"{number(row['relik_most'])}<br>{row['true']:,} true triples"
                for row in rows.to_dict("records")
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    title = "mean ReliK of the quantile (log scale)"
    figure.update_xaxes(title=title, **log_axis(table["relik"]))
    figure.update_yaxes(title="classified right ↑", tickformat=".0%", range=[None, 1.02])
    right = of_each([f"ReliK {number(x)}:" for x in table["relik"]], table["recall"])
    return finish(figure, f"Share of true triples predicted true, by ReliK: {right}.")


def _add_curve(figure: go.Figure, curve: pd.DataFrame, x: str, y: str, name: str) -> None:
    rows = curve
    if len(curve) > _MOST_CORNERS:
        rows = curve.iloc[np.linspace(0, len(curve) - 1, _MOST_CORNERS).round().astype(int)]
    figure.add_scatter(
        x=rows[x],
        y=rows[y],
        mode="lines",
        name=name,
        line={"color": _CURVE, "width": 2.5, "shape": "linear"},
        text=[number(score) if np.isfinite(score) else "∞" for score in rows["threshold"]],
        hovertemplate=f"threshold %{{text}}<br>{x.replace('_', ' ')} %{{x:.1%}}"
        f"<br>{y.replace('_', ' ')} %{{y:.1%}}<extra></extra>",
    )


def _along(curve: pd.DataFrame, y: str, x: str) -> str:
    """Say y at a quarter, half and three quarters of x."""
    order = np.argsort(curve[x].to_numpy(), kind="stable")
    xs, ys = curve[x].to_numpy()[order], curve[y].to_numpy()[order]
    found = [f"{percent(np.interp(at, xs, ys))} at {percent(at)}" for at in (0.25, 0.5, 0.75)]
    return f"{y.replace('_', ' ')} is {', '.join(found)} {x.replace('_', ' ')}"


def _add_point(figure: go.Figure, x: float, y: float) -> None:
    figure.add_scatter(
        x=[x],
        y=[y],
        mode="markers",
        name="by the threshold",
        marker={"color": _POINT, "size": 13, "symbol": "diamond"},
        hovertemplate="by the threshold: %{x:.1%}, %{y:.1%}<extra></extra>",
    )


def _add_guessing(
    figure: go.Figure, x: Sequence[float], y: Sequence[float], name: str = "guessing"
) -> None:
    line = {"color": GREY, "dash": "dash", "width": 1.5}
    figure.add_scatter(x=x, y=y, mode="lines", name=name, line=line, hoverinfo="skip")


def _rates(confusion: dict[str, int]) -> tuple[float, float]:
    """Return the shares of false and of true triples that are predicted true."""
    false = confusion["false_positive"] + confusion["true_negative"]
    true = confusion["true_positive"] + confusion["false_negative"]
    return confusion["false_positive"] / false, confusion["true_positive"] / true
