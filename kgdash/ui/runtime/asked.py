"""A question before work that takes long: it begins only when somebody asks for it."""

from collections.abc import Hashable

import streamlit as st


def is_asked(about: Hashable, text: str, button: str, quiet: bool = False) -> bool:
    """Tell whether somebody asked for some work; until then say what it takes, with a button.

    :param about: what it is of: asked of one thing, it is not asked of another
    :param text: Markdown
    :param button: its label, by which the page remembers what was asked
    :param quiet: in small type, as fits beside a page
    """
    key = f"asked: {button}"
    if st.session_state.get(key) == about:
        return True
    slot = st.empty()
    with slot.container(gap="xsmall"):
        if quiet:
            st.caption(text)
        else:
            st.info(text, icon=":material/schedule:")
        if not st.button(button, icon=":material/play_arrow:"):
            return False
    slot.empty()
    st.session_state[key] = about
    return True
