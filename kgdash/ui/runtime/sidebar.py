"""The sidebar: the run on top, the page's settings under it, the less important ones folded."""

from __future__ import annotations

from typing import Any

import streamlit as st

_SLOTS, _MORE, _SHOWN = "sidebar_slots", "sidebar_more", "settings_shown"


def lay_out_sidebar() -> Any:
    """Divide the sidebar anew for this run of the app; return the part for the choice of the run.

    From the top: the run, settings, more settings, the footer.
    """
    st.session_state[_SLOTS] = [st.sidebar.container() for _ in range(4)]
    st.session_state.pop(_MORE, None)
    st.session_state[_SHOWN] = {}
    return st.session_state[_SLOTS][0]


def settings() -> Any:
    """Return where a page's important settings stand, to be used as a context."""
    return st.session_state[_SLOTS][1]


def more_settings() -> Any:
    """Return where a page's other settings stand, folded, to be used as a context."""
    if _MORE not in st.session_state:
        slot = st.session_state[_SLOTS][2]
        st.session_state[_MORE] = slot.expander("More settings", icon=":material/tune:")
    return st.session_state[_MORE]


def note_setting(name: str, value: str) -> None:
    """Keep a setting of this page, as saved files name it."""
    st.session_state.setdefault(_SHOWN, {})[name] = value


def noted_settings() -> str:
    """Return the kept settings of this page: "split test · filter train"."""
    return " · ".join(f"{name} {value}" for name, value in st.session_state.get(_SHOWN, {}).items())


def footer() -> Any:
    """Return the end of the sidebar, to be used as a context."""
    return st.session_state[_SLOTS][3]
