"""One message that outlives the run of the page in which something was done."""

from __future__ import annotations

import streamlit as st

from kgdash.ui.runtime.markdown import plain

_SAID = "said_of_runs"


def say(text: str, done: bool = True) -> None:
    """Have a message shown by the next run of the page.

    :param done: whether it is of something done, else of something refused
    """
    st.session_state[_SAID] = (text, done)


def show_said() -> None:
    """Show the message, once."""
    if _SAID in st.session_state:
        text, done = st.session_state.pop(_SAID)
        if done:
            st.success(plain(text), icon=":material/check:")
        else:
            st.error(plain(text), icon=":material/error:")
