"""Back past the entry of the browser's history that no user made."""

from typing import Any

import streamlit as st

from kgdash.ui.runtime.navigation import MENU

#: page -> parameters of its address that no other page has
_ADDRESSES = {
    "inspect": ("head", "relation", "tail"),
    "local": ("method", "evaluated"),
}


def skip_stopover(page: Any) -> None:
    """Go further back if the browser's Back button led to a stopover before Inspect or Local.

    On the way there `st.switch_page` gives the address's parameters to the page that is left, as an
    entry of the browser's history that shows nobody's choices.

    :param page: that is about to run
    """
    here = page.url_path or "overview"
    if not any(here in pages for pages in MENU.values()):
        return
    for address, parameters in _ADDRESSES.items():
        if here != address and all(part in st.query_params for part in parameters):
            st.html("<script>window.history.back()</script>", unsafe_allow_javascript=True)
            st.stop()
