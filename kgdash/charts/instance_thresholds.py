"""What a threshold on a measure does: precision, recall, F1 and accuracy, at each and at one."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.separation import MEASURE_NAMES, is_raw
from kgdash.charts.style import GREY, empty, finish
from kgdash.statistics.estimate import number, percent

#: rate -> name, colour, line, symbol at the threshold
_RATES = {
    "precision": ("precision", "#2f7fd1", "solid", "circle"),
    "recall": ("recall", "#d9742b", "dash", "square"),
    "f1": ("F1", "#2e9d78", "dot", "diamond"),
    "accuracy": ("accuracy", "#9a6fd0", "dashdot", "x"),
}

#: steps drawn; more are finer than a screen
_MOST_STEPS = 1000


def rates_figure(
    curve: pd.DataFrame, threshold: float, at: pd.Series, measure: str = "relik"
) -> go.Figure:
    """Draw the rates at every threshold, on a log axis but for raw scores, and those at one.

    :param curve: ``threshold`` (ascending; the last is ∞), ``precision, recall, f1, accuracy``
    :param threshold: the one; ∞ where nothing is predicted true
    :param at: the rates there
    :param measure: one of `kgdash.charts.separation.MEASURE_NAMES`
    """
    finite = curve[np.isfinite(curve["threshold"])]
    if finite.empty:
        return empty("no instances to draw")
    if len(finite) > _MOST_STEPS:
        finite = finite.iloc[np.linspace(0, len(finite) - 1, _MOST_STEPS).round().astype(int)]
    figure = go.Figure()
    at_threshold = [threshold] if np.isfinite(threshold) else []  # ∞ lies on no axis
    for rate, (name, colour, dash, symbol) in _RATES.items():
        figure.add_scatter(
            x=finite["threshold"],
            y=finite[rate],
            mode="lines",
            name=name,
            # A threshold acts as the next higher value does.
            line={"color": colour, "width": 2, "shape": "vh", "dash": dash},
            legendgroup=rate,
            hovertemplate=f"{name} %{{y:.1%}}<br>threshold %{{x:.3g}}<extra></extra>",
        )
        figure.add_scatter(
            x=at_threshold,
            y=[at[rate]] * len(at_threshold),
            mode="markers",
            marker={"color": colour, "size": 11, "symbol": symbol},
            legendgroup=rate,
            showlegend=False,
            hovertemplate=f"{name} %{{y:.1%}} at {number(threshold)}<extra></extra>",
        )
    for place in at_threshold:
        figure.add_vline(x=place, line={"dash": "dash", "width": 1.5, "color": GREY})
    raw = is_raw(measure)
    if not raw:
        figure.update_xaxes(type="log", dtick=1, exponentformat="power")
    figure.update_xaxes(
        title=f"threshold on {MEASURE_NAMES.get(measure, measure)}"
        f" ({'linear' if raw else 'log'} scale)"
    )
    figure.update_yaxes(range=[-0.02, 1.04], tickformat=".0%")
    rates = ", ".join(f"{name} {percent(at[rate], 1)}" for rate, (name, *_) in _RATES.items())
    what = MEASURE_NAMES.get(measure, measure)
    return finish(figure, f"At a threshold on {what} of {number(threshold)}: {rates}.")
