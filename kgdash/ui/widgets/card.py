"""One number on a card: what it is, its value, and a line beneath."""

from __future__ import annotations

import streamlit as st

from kgdash.ranking.glossary import explained


def show_card(
    label: str, value: str | int, beneath: str | None = None, help: str | None = None
) -> None:
    """Show a number on a card.

    :param label: what it is
    :param value: as it is shown
    :param beneath: an interval, or what it is of
    :param help: shown on hovering, after what the glossary says of the label
    """
    about = explained(label, help)
    st.metric(label, value, beneath, delta_color="off", delta_arrow="off", border=True, help=about)
