"""Metrics among fewer candidates: in the metric guide, and by sampled protocols."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.message import along, of_each
from kgdash.charts.style import (
    GREY,
    RUN_LOOKS,
    finish,
    log_ticks,
    whiskers,
    write_above,
)
from kgdash.files.html import escape
from kgdash.ranking.metric import Metric
from kgdash.ranking.metric_lookup import find_metric
from kgdash.statistics.estimate import number

_LINES = {
    "mrr": ("#2f7fd1", "solid"),
    "hits@10": ("#d9742b", "solid"),
    "adjusted mrr": ("#2f7fd1", "dot"),
    "adjusted hits@10": ("#d9742b", "dot"),
    "amri": ("#2e9d78", "dot"),
}

#: rows that a protocol's name takes above those of its runs
_LABEL = 1.5


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


def protocol_dots(table: pd.DataFrame, info: Metric) -> go.Figure:
    """Draw what each protocol says of each run, and by a grey mark what all candidates say.

    Within a protocol the run that is best among all candidates is on top.

    :param table: rows of one metric of `kgdash.studies.protocols.orders.ProtocolOrders.values`,
        without those of all candidates; protocols are drawn in their order, from top to bottom
    """
    protocols, runs = (list(dict.fromkeys(table[each])) for each in ("protocol", "run"))
    exact = table.drop_duplicates("run").set_index("run")["exact"]
    order = exact.sort_values(ascending=not info.increasing, kind="stable").index
    step = len(runs) + _LABEL
    top = {protocol: -step * block for block, protocol in enumerate(protocols)}
    place = {run: -float(row) for row, run in enumerate(order)}
    table = table.assign(y=table["protocol"].map(top) + table["run"].map(place))
    figure = go.Figure()
    figure.add_scatter(
        x=table[["exact", "value"]].assign(end=np.nan).to_numpy().reshape(-1),
        y=table["y"].repeat(3),
        mode="lines",
        line={"color": GREY, "width": 1.5},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=table["exact"],
        y=table["y"],
        mode="markers",
        name="all candidates",
        marker={"color": GREY, "symbol": "line-ns-open", "size": 13, "line": {"width": 3}},
        hovertemplate="all candidates: %{x:.3g}<extra></extra>",
    )
    for run, (colour, symbol) in zip(runs, RUN_LOOKS, strict=False):
        rows = table[table["run"] == run]
        low, high = rows["value"] - rows["sd"], rows["value"] + rows["sd"]
        drawn = rows["sd"] > 0
        figure.add_scatter(
            x=rows["value"],
            y=rows["y"],
            mode="markers",
            name=escape(str(run)),
            marker={"color": colour, "symbol": symbol, "size": 9},
            error_x=whiskers(rows["value"], low.where(drawn), high.where(drawn), colour, 1.5),
            text=[
                f"{escape(str(run))}<br>{each.protocol}: {info.short} {number(each.value)} "
                f"± {number(each.sd)}<br>all candidates: {number(each.exact)}"
                for each in rows.itertuples()
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    for protocol, y in top.items():
        write_above(figure, y + 0.45, escape(protocol), protocol)
    figure.update_xaxes(title=f"expected {info.short} {info.arrow}".strip())
    count = step * len(protocols)
    figure.update_yaxes(
        range=[_LABEL - count, _LABEL + 0.3], showgrid=False, showticklabels=False, fixedrange=True
    )
    parts = [
        f"{run}: {number(exact[run])} among all candidates, "
        f"{of_each(protocols, table.loc[table['run'] == run, 'value'])}"
        for run in order
    ]
    message = f"Expected {info.short} by protocol. {'. '.join(parts)}."
    return finish(figure, message, height=round(120 + 20 * count + 8 * len(runs)))
