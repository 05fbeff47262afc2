"""Figure of a training while it runs: the loss by epoch, and the MRR on validation so far."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from kgdash.charts.message import along
from kgdash.charts.style import SIDE_COLOURS, empty, finish


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
        figure.add_scatter(
            x=x,
            y=list(y),
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
