"""What the page Sampled protocols shows: settings, the picture, the orders, all values."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from kgdash.charts.candidate_subsampling import protocol_dots
from kgdash.graph import KnowledgeGraph
from kgdash.ranking.metric_lookup import find_metric
from kgdash.studies.protocols.orders import ProtocolOrders
from kgdash.studies.protocols.protocols import EXACT, ProtocolSetting
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.choices import choose_filter, choose_number, choose_one, choose_split
from kgdash.ui.widgets.table import show_table


def choose_protocols(graph: KnowledgeGraph) -> tuple[ProtocolSetting, str]:
    """Show the settings; return them and the metric that is shown."""
    names = ProtocolSetting().metrics
    with settings():
        metric = choose_one(
            "Metric", names, "by_metric", format_func=lambda name: find_metric(name).short
        )
        negatives = choose_number(
            "Uniform negatives", (1, 10_000), 100, "negatives", "Drawn for each query."
        )
    with more_settings():
        split = choose_split(graph)
        filter = choose_filter(split)
        side = choose_one("Side", ["both", "head", "tail"], "protocol_side")
    return ProtocolSetting((negatives,), split=split, filter=filter, side=side), metric


def show_protocols(found: ProtocolOrders, metric: str, name: str) -> None:
    """Show each protocol's values beside those of all candidates."""
    rows = _sampled(found, metric)
    show_chart(protocol_dots(rows, find_metric(metric)), "protocols", f"{name}-{metric}")
    about = "Nothing was drawn: means and standard deviations follow from the exact ranks."
    if rows["run"].nunique() > 1:
        about += " Under each protocol the run that is best among all candidates is on top."
    st.caption(about)


def show_orders(found: ProtocolOrders, metric: str, name: str) -> None:
    """Show how each protocol orders the runs, and which pairs it flips; nothing if none does."""
    orders, flips = (
        table[table["metric"] == metric].drop(columns="metric")
        for table in (found.orders, found.flips)
    )
    if flips.empty:
        return
    st.header("Order of the runs")
    show_table(orders, "orders", f"{name}-orders", found.orders, tau="Kendall's τ ↑")
    st.subheader("Pairs that flip")
    show_table(
        flips,
        "flips",
        f"{name}-flips",
        found.flips,
        exact_better="better, all candidates",
        exact_worse="worse, all candidates",
        sampled_better="better, sampled",
        sampled_worse="worse, sampled",
    )


def show_values(found: ProtocolOrders, metric: str, name: str) -> None:
    """Show what each protocol gives, corrected too, against the exact value."""
    st.header("Expected and exact values")
    arrow = find_metric(metric).arrow
    rows = _sampled(found, metric)
    columns = ["run", "protocol", "value", "exact", "sd", "corrected", "corrected_sd", "candidates"]
    show_table(
        rows[columns],
        "values",
        f"{name}-values",
        found.values,
        exact=f"all candidates {arrow}".strip(),
        value=f"expected {arrow}".strip(),
        sd="SD over draws",
        corrected_sd=None,
        candidates="candidates, mean",
        run="run" if rows["run"].nunique() > 1 else None,
        protocol=st.column_config.TextColumn("protocol", width=160),
    )


def _sampled(found: ProtocolOrders, metric: str) -> pd.DataFrame:
    values = found.values
    return values[(values["metric"] == metric) & (values["protocol"] != EXACT.name)]
