"""Back past the entry of the browser's history that no user made."""

from typing import Any

import streamlit as st

#: parameter of Local's address that says that another page led there
STOPOVER = "opened"

#: page -> parameters of its address that no other page has
_ADDRESSES = {"inspect": ("head", "relation", "tail"), "local": (STOPOVER,)}


def skip_stopover(page: Any) -> None:
    """Go further back if the browser's Back button led to a stopover before Inspect or Local.

    On the way there `st.switch_page` gives the address's parameters to the page that is left, as an
    entry of the browser's history that shows nobody's choices.

    :param page: that is about to run
    """
    for address, parameters in _ADDRESSES.items():
        if page.url_path != address and all(part in st.query_params for part in parameters):
            st.html("<script>window.history.back()</script>", unsafe_allow_javascript=True)
            st.stop()
