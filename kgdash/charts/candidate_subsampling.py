"""Charts of the metric guide."""

import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.message import along
from kgdash.charts.style import finish, log_ticks
from kgdash.ranking.metric_lookup import find_metric

_LINES = {
    "mrr": ("#2f7fd1", "solid"),
    "hits@10": ("#d9742b", "solid"),
    "adjusted mrr": ("#2f7fd1", "dot"),
    "adjusted hits@10": ("#d9742b", "dot"),
    "amri": ("#2e9d78", "dot"),
}


def candidates_lines(table: pd.DataFrame) -> go.Figure:
    """Draw metrics against the number of candidates.

    :param table: of `kgdash.ranking.candidate_subsampling.expected_metrics`, with k = 10
    """
    figure, parts = go.Figure(), []
    for metric, (colour, dash) in ((find_metric(name), line) for name, line in _LINES.items()):
        figure.add_scatter(
            x=table["candidates"],
            y=table[metric.key],
            name=metric.short,
            mode="lines+markers",
            line={"color": colour, "dash": dash},
            hovertemplate=f"{metric.short} %{{y:.3f}} of %{{x:,.0f}} candidates<extra></extra>",
        )
        parts.append(along(metric.short, "n =", table["candidates"], table[metric.key]))
    low, high = table["candidates"].min(), table["candidates"].max()
    values, texts = log_ticks(low, high) if high > low else ([high], [f"{high:g}"])
    figure.update_xaxes(
        title="candidates per query (mean)", type="log", tickvals=values, ticktext=texts
    )
    figure.update_yaxes(title="value to expect", rangemode="tozero")
    return finish(figure, f"Metrics to expect of n candidates per query: {'; '.join(parts)}.")
