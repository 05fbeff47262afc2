"""Charts of a run by name, for files and reports: what pages show, from the same tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from kgdash.breakdowns import GROUPINGS
from kgdash.charts.breakdowns import group_bars, side_heatmap
from kgdash.charts.metrics import loss_curve, metric_bars, rank_ecdf
from kgdash.errors import KgdashError, unknown_name
from kgdash.metrics import DEFAULT_KS
from kgdash.studies.evaluation import Evaluation


@dataclass(frozen=True)
class NamedChart:
    """What a chart shows, in a few words, and how it is drawn."""

    title: str
    draw: Callable[[Evaluation], go.Figure]


def draw_chart(name: str, of: Evaluation) -> go.Figure:
    """Draw a chart.

    :param name: one of `NAMED_CHARTS`
    :param of: whose tables it is drawn from
    :raises KgdashError: if there is no such chart
    """
    check_chart(name)
    return NAMED_CHARTS[name].draw(of)


def check_chart(name: str) -> None:
    """Refuse a chart that there is not.

    :raises KgdashError: naming all that there are
    """
    if name not in NAMED_CHARTS:
        error = unknown_name("chart", name, list(NAMED_CHARTS), "kgdash")
        raise KgdashError(f"{error}; there are {', '.join(NAMED_CHARTS)}")


def _bars(by: str) -> Callable[[Evaluation], go.Figure]:
    def draw(of: Evaluation) -> go.Figure:
        rows = in_order(of, by)
        return group_bars(rows, of.info, of.values[of.side][of.rank_type][of.metric])

    return draw


def _sides(by: str) -> Callable[[Evaluation], go.Figure]:
    return lambda of: side_heatmap(of.breakdown(by), of.info, in_order(of, by)["group"].tolist())


def in_order(of: Evaluation, by: str) -> pd.DataFrame:
    """Return the groups of the chosen side as the page shows them at first.

    Relations with the most triples first, others in their order.
    """
    rows = of.breakdown(by)
    rows = rows[rows["side"] == of.side]
    if by == "relation":
        rows = rows.sort_values("triples", ascending=False, kind="stable")
    return rows.reset_index(drop=True)


#: name -> chart
NAMED_CHARTS = {
    "metrics": NamedChart(
        "One metric by side and rank type", lambda of: metric_bars(of.values, of.info)
    ),
    "ranks": NamedChart(
        "Distribution of ranks", lambda of: rank_ecdf(of.ranks, of.rank_type, DEFAULT_KS)
    ),
    "losses": NamedChart("Training loss", lambda of: loss_curve(of.run.training.get("losses", []))),
    **{
        f"breakdown-by-{by.replace('_', '-')}": NamedChart(f"By {by.replace('_', ' ')}", _bars(by))
        for by in GROUPINGS
    },
    **{
        f"sides-by-{by.replace('_', '-')}": NamedChart(
            f"By {by.replace('_', ' ')} and side", _sides(by)
        )
        for by in GROUPINGS
    },
}
