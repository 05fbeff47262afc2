"""The cards at the top of the page Metrics: filtered values, and the raw ones beneath."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgdash.ranking.metric import Metric
from kgdash.statistics.estimate import number
from kgdash.ui.widgets.card import show_card


def show_cards(
    slot: Any,
    guide: Mapping[str, Metric],
    k: int,
    values: Mapping[str, float],
    raw: Mapping[str, float] | None = None,
    awaited: bool = False,
) -> None:
    """Fill a slot of the page with one card per metric.

    :param slot: of `st.empty`; filled anew once the raw values are there
    :param guide: of `kgdash.ranking.metric_lookup.metric_records`
    :param k: of Hits@k
    :param values: by metric
    :param raw: the same of raw ranks, to be shown beneath, if there are any
    :param awaited: keep their place
    """
    keys = (
        "inverse_harmonic_mean_rank",
        f"hits_at_{k}",
        "arithmetic_mean_rank",
        "adjusted_arithmetic_mean_rank_index",
    )
    beneath = {key: number(raw[key]) if raw else "…" for key in keys if raw or awaited}
    with slot.container(horizontal=True):
        for key in keys:
            info = guide[key]
            show_card(
                f"{info.label} {info.arrow}",
                number(values[key]),
                f"raw {beneath[key]}" if key in beneath else None,
            )
