"""One number on a card: what it is, its value, and a line beneath."""

from __future__ import annotations

import streamlit as st

#: what a card of mean ReliK says on hovering
ABOUT_RELIK = (
    "ReliK of a triple: ½ (1/rank among the negatives of its head + 1/rank among those of its "
    "tail). 1: it beats them all. 0.1: about ten negatives of each end get a higher score."
)


def show_card(
    label: str, value: str | int, beneath: str | None = None, help: str | None = None
) -> None:
    """Show a number on a card.

    :param label: what it is
    :param value: as it is shown
    :param beneath: an interval, or what it is of
    :param help: shown on hovering
    """
    st.metric(label, value, beneath, delta_color="off", delta_arrow="off", border=True, help=help)
