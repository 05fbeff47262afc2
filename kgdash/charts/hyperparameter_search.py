"""Figures of a search: its trials side by side, the best so far, and which parameters mattered."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution

from kgdash.charts.message import along
from kgdash.charts.style import GREY, RELIABILITY_SCALE, SIDE_COLOURS, empty, finish, log_ticks
from kgdash.files.html import escape
from kgdash.statistics.estimate import number, percent

#: of axes that Plotly draws outside the page's theme: it can be read on white and on near-black
_TEXT = "#717d8a"

_STATES = {
    "finished": {"color": SIDE_COLOURS["head"], "symbol": "circle", "size": 9},
    "pruned": {"color": SIDE_COLOURS["tail"], "symbol": "circle-open", "size": 9},
    "failed": {"color": "#c8401a", "symbol": "x", "size": 9},
    "interrupted": {"color": SIDE_COLOURS["both"], "symbol": "x-thin-open", "size": 9},
}

VALUE = "MRR on valid"

#: characters of a reason in a text for hovering, at most, and of those of all trials together
_REASON, _ALL_REASONS = 300, 2**18


def best_so_far(trials: pd.DataFrame) -> go.Figure:
    """Draw each trial's value, and the best so far as a line; failed ones stand at zero.

    :param trials: of `kgdash.hpo.study_file.StudyFile`
    """
    ended = trials[trials["state"].isin(list(_STATES))]
    if not len(ended):
        return empty("no trial has ended yet")
    figure, most = go.Figure(), min(_REASON, _ALL_REASONS // len(ended))
    figure.add_scatter(
        x=ended["trial"],
        y=ended["best_so_far"],
        mode="lines",
        line={"shape": "hv", "width": 2, "color": GREY},
        name="best so far",
        hoverinfo="skip",
    )
    for state, marker in _STATES.items():
        rows = ended[ended["state"] == state]
        if len(rows):
            figure.add_scatter(
                x=rows["trial"],
                y=rows["value"].fillna(0),
                mode="markers",
                marker=marker,
                name=state,
                cliponaxis=False,
                text=[_about(row, most) for row in rows.to_dict("records")],
                hovertemplate="%{text}<extra></extra>",
            )
    figure.update_xaxes(title="trial")
    figure.update_yaxes(title=f"{VALUE} ↑", rangemode="tozero")
    states = ", ".join(f"{n} {state}" for state, n in ended["state"].value_counts().items())
    done = ended[ended["best_so_far"].notna()]
    best = along(VALUE, "trial", done["trial"], done["best_so_far"]) if len(done) else "–"
    return finish(figure, f"Trials: {states}. The best so far: {best}.", height=340)


def parallel_coordinates(
    trials: pd.DataFrame, parameters: Mapping[str, BaseDistribution]
) -> go.Figure:
    """Draw each trial with a value as a line over its parameters, coloured by the value.

    Parameters that were searched on a log scale have one here; a parameter that a trial does not
    have is drawn at "–".

    :param trials: of `kgdash.hpo.study_file.StudyFile`
    :param parameters: their distributions, by column of ``trials``, in the order of the axes
    """
    rows = trials[trials["value"].notna()]
    if not len(rows):
        return empty("no trial has a value yet")
    short = {name: name.rpartition(".")[2] for name in parameters}
    several = [name for name, count in Counter(short.values()).items() if count > 1]
    axes = [
        _axis(name if short[name] in several else short[name], rows[name], parameters[name])
        for name in parameters
    ]
    # The best line is drawn last, and the last axis tells what the colours say.
    values, finished = rows["value"].to_numpy(), (rows["state"] == "finished").to_numpy()
    order = np.lexsort((-np.arange(len(rows)), values, finished))  # of equals the first is best
    axes.append({"label": VALUE, "values": values, **_linear(values.min(), values.max())})
    # Pruned trials are far below the others, which should not all look alike for that.
    low = values[finished].min(initial=values.max())
    figure = go.Figure(
        go.Parcoords(
            dimensions=[{**axis, "values": np.asarray(axis["values"])[order]} for axis in axes],
            line={
                "color": values[order],
                "colorscale": RELIABILITY_SCALE,
                "cmin": low,
                "cmax": values.max(),
            },
            labelfont={"color": _TEXT, "size": 12},
            tickfont={"color": _TEXT, "size": 11},
            rangefont={"color": "rgba(0,0,0,0)", "size": 1},
            unselected={"line": {"color": GREY, "opacity": 0.15}},
            labelangle=-18,
            labelside="top",
        )
    )
    top = rows.iloc[order[-1]]
    best = ", ".join(f"{short[name]} {top[name]}" for name in parameters)
    message = (
        f"{len(rows)} trials, {VALUE} from {number(values.min())} to {number(values.max())}. "
        f"The best: {best}."
    )
    margin = {"l": 56, "r": 44, "t": 72, "b": 24}
    return finish(figure, message, height=400, margin=margin)


def importance_bars(shares: pd.Series) -> go.Figure:
    """Draw the share of each parameter, largest on top.

    :param shares: of `kgdash.hpo.importance.importances`
    """
    if not len(shares):
        return empty("too few finished trials to tell which parameters mattered")
    shown = shares[::-1]
    figure = go.Figure(
        go.Bar(
            x=shown,
            y=[escape(name) for name in shown.index],
            orientation="h",
            marker={"color": SIDE_COLOURS["relation"]},
            text=[*map(percent, shown)],
            hovertemplate="%{y}: %{x:.1%}<extra></extra>",
        )
    )
    figure.update_xaxes(title="share of the importance", tickformat=".0%", rangemode="tozero")
    figure.update_yaxes(showgrid=False)
    found = ", ".join(f"{name} {percent(share)}" for name, share in shares.items())
    message = f"Share of the importance: {found}."
    return finish(figure, message, height=90 + 34 * len(shown), top=8)


def _axis(name: str, column: pd.Series, distribution: Any) -> dict[str, Any]:
    label = {"label": escape(name.replace("_", " ").replace(".", " "))}
    missing = column.isna().to_numpy()
    if isinstance(distribution, CategoricalDistribution):
        names = [str(choice) for choice in distribution.choices]
        # By text for choices of several types, by number where gaps made 16 a 16.0.
        known: dict[Any, int] = {text: place for place, text in enumerate(names)}
        known |= {choice: place for place, choice in enumerate(distribution.choices)}
        values = column.map(known, na_action="ignore").to_numpy(dtype=float, na_value=np.nan)
        axis = _span(0, len(names) - 1) | {
            "tickvals": list(range(len(names))),
            "ticktext": [escape(text) for text in names],
        }
    else:
        low, high = float(distribution.low), float(distribution.high)
        values = column.to_numpy(dtype=float, na_value=np.nan)
        if distribution.log:
            ticks, texts = log_ticks(low, high)
            values = np.log10(values)
            axis = _span(np.log10(low), np.log10(high)) | {
                "tickvals": np.log10(ticks).tolist(),
                "ticktext": texts,
            }
        elif isinstance(distribution, IntDistribution):
            axis = _whole(int(low), int(high), distribution.step)
        else:
            axis = _linear(low, high)
    if missing.any():
        low, high = axis["range"]
        nowhere = low - 0.12 * (high - low)
        values = np.where(missing, nowhere, values)
        axis["range"] = [nowhere, high]
        axis["tickvals"] = [nowhere, *axis["tickvals"]]
        axis["ticktext"] = ["–", *axis["ticktext"]]
    return {**label, "values": values, **axis}


def _linear(low: float, high: float) -> dict[str, Any]:
    """Put about five ticks at round numbers."""
    axis = _span(low, high)
    low, high = axis["range"]
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    apart = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    ticks = np.arange(math.ceil(low / apart), math.floor(high / apart) + 1) * apart
    return axis | {"tickvals": ticks.tolist(), "ticktext": [f"{tick:.4g}" for tick in ticks]}


def _whole(low: int, high: int, step: int) -> dict[str, Any]:
    """Put ticks where there are values, at most about six."""
    apart = step * max(1, -(-(high - low) // (5 * step)))
    ticks = list(range(low, high + 1, apart))
    return _span(low, high) | {"tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]}


def _span(low: float, high: float) -> dict[str, Any]:
    return {"range": [low, high] if high > low else [low - 0.5, high + 0.5]}


def _about(row: dict[str, Any], most: int) -> str:
    text = f"trial {row['trial']}, {row['state']}"
    if row["value"] == row["value"]:
        text += f"<br>{VALUE} {number(row['value'])}"
        text += f" after {row['epochs']} epochs" if row["epochs"] == row["epochs"] else ""
    reason = str(row["reason"])[:most]
    parts = [reason[start : start + 60] for start in range(0, len(reason), 60)]
    return "<br>".join([text, *(escape(part) for part in parts)])
