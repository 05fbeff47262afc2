"""Charts of metrics, rank distributions and training losses."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.message import along, of_each
from kgdash.charts.style import RANK_TYPE_PATTERNS, SIDE_COLOURS, empty, finish
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.ranking.metric import Metric
from kgdash.ranking.metrics import MetricsTable, pooled
from kgdash.statistics.estimate import number, percent

#: rank types whose values differ by a smaller share tell the same
_EQUAL = 1e-3

#: epochs drawn; more are finer than a screen, and a record may name millions
_EPOCHS = 2_000

#: ranks drawn of each tenfold range; more are finer than a screen
_PER_DECADE = 150


def metric_bars(values: MetricsTable, info: Metric) -> go.Figure:
    """Draw one metric over side × rank type; where ties play no role, over the sides alone.

    :param values: of `kgdash.ranking.metrics.metrics`
    """
    figure = go.Figure()
    tied = _ties_matter(values, info)
    for rank_type in RANK_TYPES if tied else ["realistic"]:
        heights = [values.value(info.key, side, rank_type) for side in values.sides]
        figure.add_bar(
            x=values.sides,
            y=heights,
            name=rank_type,
            text=[number(h) for h in heights],
            textposition="outside",
            textangle=-90 if tied else 0,
            cliponaxis=False,
            marker={
                "color": [SIDE_COLOURS[side] for side in values.sides],
                "pattern": {"shape": RANK_TYPE_PATTERNS[rank_type], "solidity": 0.35},
                "opacity": 1.0 if rank_type == "realistic" else 0.75,
            },
            hovertemplate=f"%{{x}}, {rank_type}: %{{y:.6g}}<extra></extra>",
        )
    figure.update_yaxes(
        title=f"{info.label} {info.arrow}".strip(),
        range=_with_room(values.frame.loc[info.key].tolist()),
    )
    note = "" if tied else "<br>ties play no role: all rank types agree to 0.1%"
    figure.update_xaxes(title=f"side of the prediction{note}")
    parts = [
        f"{side}: {of_each(RANK_TYPES, [values.value(info.key, side, t) for t in RANK_TYPES])}"
        for side in values.sides
    ]
    return finish(figure, f"{info.label}. {'. '.join(parts)}.", barmode="group", showlegend=tied)


def _ties_matter(values: MetricsTable, info: Metric) -> bool:
    """Tell whether a metric differs by 0.1% or more between rank types, on any side."""
    for side in values.sides:
        each = np.array([values.value(info.key, side, kind) for kind in RANK_TYPES])
        finite = each[np.isfinite(each)]
        if len(finite) and np.ptp(finite) > _EQUAL * np.abs(finite).max():
            return True
    return False


def _with_room(heights: Sequence[float]) -> list[float] | None:
    """Return an axis from 0 that leaves room for a text beyond each bar, None if Plotly may choose.

    Plotly's own range ends at the bars, and their texts then lie over the legend.
    """
    finite = [h for h in heights if np.isfinite(h)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    room = 0.2 * (high - low)
    return [low - room * (low < 0), high + room * (high > 0)] if room else None


def rank_ecdf(ranks: pd.DataFrame, rank_type: str, ks: Sequence[int] = ()) -> go.Figure:
    """Draw the share of ranks ≤ r against r (log axis): Hits@k for every k at once.

    Exact at each rank that is drawn: all up to 50, then some hundred in each tenfold range.

    :param ranks: a table of ranks
    :param rank_type: which of the ranks
    :param ks: marked by dotted lines
    """
    if not len(ranks):
        return empty("no ranks to draw")
    figure = go.Figure()
    for side, rows in pooled(ranks):
        values, counts = np.unique(rows[rank_type].to_numpy(dtype=float), return_counts=True)
        drawn = np.append(np.diff(np.floor(_PER_DECADE * np.log10(values))) > 0, True)
        figure.add_scatter(
            x=values[drawn],
            y=(np.cumsum(counts) / len(rows))[drawn],
            name=side,
            mode="lines",
            line={
                "shape": "hv",
                "color": SIDE_COLOURS[side],
                "width": 2,
                "dash": "dot" if side == "both" else "solid",
            },
            hovertemplate=f"{side}: %{{y:.1%}} of ranks ≤ %{{x:,.6~g}}<extra></extra>",
        )
    for k in ks:
        figure.add_vline(x=k, line={"dash": "dot", "width": 1, "color": "rgba(128,138,150,0.6)"})
    figure.update_xaxes(type="log", title=f"{rank_type} rank r (log scale)", dtick=1)
    figure.update_yaxes(title="share of ranks ≤ r", range=[0, 1.02], tickformat=".0%")
    parts = [
        f"{side}: "
        + ", ".join(f"{percent((rows[rank_type] <= k).mean())} ≤ {k}" for k in (1, 10, 100))
        for side, rows in pooled(ranks)
    ]
    return finish(figure, f"Share of {rank_type} ranks up to r. {'; '.join(parts)}.")


def loss_curve(losses: Sequence[float]) -> go.Figure:
    """Draw the training loss per epoch."""
    if not losses:
        return empty("this run keeps no losses")
    figure = go.Figure()
    drawn = _thinned(len(losses))
    figure.add_scatter(
        x=drawn + 1,
        y=np.asarray(losses, dtype=float)[drawn].tolist(),
        mode="lines",
        line={"color": SIDE_COLOURS["head"], "width": 2},
        hovertemplate="epoch %{x}: %{y:.4g}<extra></extra>",
    )
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(title="training loss")
    run = along("Training loss", "epoch", np.arange(1, len(losses) + 1), losses)
    return finish(figure, f"{run}.", height=280)


def _thinned(count: int) -> np.ndarray:
    """Return which of so many points of a line are drawn: int64, the first and the last among."""
    return np.unique(np.linspace(0, count - 1, min(count, _EPOCHS)).round().astype(np.int64))


def training_curves(
    losses: Sequence[float], checks: Sequence[tuple[int, float]], epochs: int
) -> go.Figure:
    """Draw the loss after each epoch, and the MRR on valid where it was looked at.

    :param losses: one per epoch so far
    :param checks: pairs of an epoch (≥ 1) and the MRR after it, in [0, 1]
    :param epochs: how many there will be: as wide is the figure
    """
    if not len(losses):
        return empty("no epoch has ended yet")
    figure = go.Figure()
    lines = (
        ("loss ↓", np.arange(1, len(losses) + 1), losses, "lines", "both", "y"),
        (
            "MRR on valid ↑",
            [epoch for epoch, _ in checks],
            [mrr for _, mrr in checks],
            "lines+markers",
            "head",
            "y2",
        ),
    )
    for name, x, y, mode, colour, axis in lines:
        drawn = _thinned(len(y))
        figure.add_scatter(
            x=np.asarray(x)[drawn],
            y=np.asarray(y, dtype=float)[drawn].tolist(),
            mode="lines+markers" if len(y) == 1 else mode,
            name=name,
            line={"color": SIDE_COLOURS[colour], "width": 2},
            marker={"size": 4},
            yaxis=axis,
            hovertemplate=f"{name}, epoch %{{x}}: %{{y:.3g}}<extra></extra>",
        )
    figure.update_xaxes(title="epoch", range=[0.5, max(epochs, 2) + 0.5])
    runs = [along(name, "epoch", x, y) for name, x, y, *_ in lines if len(y)]
    finish(figure, f"{'; '.join(runs)}.", height=200, showlegend=True)
    axes = {
        axis: {"rangemode": "tozero", "tickfont": {"color": SIDE_COLOURS[colour]}, "nticks": 5}
        for *_, colour, axis in lines
    }
    # MRR's scale has no lines of its own across the figure.
    right = {"overlaying": "y", "side": "right", "showgrid": False, "tickmode": "auto"}
    return figure.update_layout(yaxis=axes["y"], yaxis2=axes["y2"] | right)
