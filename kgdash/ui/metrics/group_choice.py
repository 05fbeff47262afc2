"""Which group of Breakdowns is shown: that of the last click, which the address keeps."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.breakdowns.breakdown import SMALL
from kgdash.charts.breakdowns import group_bars
from kgdash.ranking.metric import Metric
from kgdash.ui.widgets.address import chosen_in_address, is_first_look, keep_in_address
from kgdash.ui.widgets.chart import clicked_point
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.selection import selected_point, selected_row
from kgdash.ui.widgets.table import number_columns, value_bar, written

#: of the address, and of the group that stands beside the bars
_NAME, _BESIDE = "group", "group_beside_the_bars"

#: so little of a gap is not shown
_BLURRED = 1e-3


def choose_bar(
    groups: pd.DataFrame, info: Metric, overall: float, key: str, name: str
) -> str | None:
    """Show groups as bars; return the one that was clicked, or that the address named at first.

    :param groups: of `kgdash.breakdowns.breakdown.breakdown`, of one side
    :param overall: value of all groups
    :param key: of the chart
    :param name: of its files
    """
    opened = is_first_look(_NAME)
    named = chosen_in_address(_NAME)
    if opened:
        st.session_state[_BESIDE] = named
    clicked_point(drawn(group_bars, groups, info, overall), key, name, partial(_take_bar, key))
    group = st.session_state[_BESIDE]
    return group if group in groups["group"].to_numpy() else None


def _take_bar(key: str) -> None:
    group = str(selected_point(st.session_state[key]) or "")
    st.session_state[_BESIDE] = group
    keep_in_address(_NAME, group)


def choose_group(
    groups: pd.DataFrame, beside: str | None, info: Metric, rank_type: str, key: str
) -> str | None:
    """Show all groups as a table, that beside the bars ticked; return the one that is selected.

    :param groups: as of `choose_bar`
    """
    listed = groups.drop(columns="side").assign(tied_share=100 * groups["tied_share"])
    listed["small"] = ["small" if is_small else "" for is_small in groups["small"]]
    ticked = np.flatnonzero(groups["group"] == beside).tolist()
    key = "_".join([key, *map(str, ticked)])  # another table at a click on a bar
    event = st.dataframe(
        written(listed),
        hide_index=True,
        placeholder="–",
        column_config=_columns(listed, rank_type)
        | {"group": st.column_config.TextColumn("group", width="medium", pinned=True)}
        | value_bar(info, rank_type),
        on_select=partial(_take_row, key, groups["group"].tolist()),
        selection_mode="single-row",
        selection_default={"selection": {"rows": ticked}},
        key=key,
    )
    row = selected_row(event)
    return None if row is None else str(groups["group"][row])


def _columns(listed: pd.DataFrame, rank_type: str) -> dict[str, Any]:
    """Name eight columns; where equal scores blur nothing, what they do is left to the menu."""
    later = ["count", "optimistic", "pessimistic", "largest_tie"]
    if not listed["gap"].max() >= _BLURRED:
        later += ["gap", "tied_share"]
    names = {"value": rank_type, "tied_share": "tied %", "small": f"under {SMALL}"}
    return number_columns(listed, **(names | dict.fromkeys(later)))


def _take_row(key: str, groups: list[str]) -> None:
    row = selected_row(st.session_state[key])
    keep_in_address(_NAME, st.session_state[_BESIDE] if row is None else str(groups[row]))
