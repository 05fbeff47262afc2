"""What a click chose in a chart or a table, kept in the address."""

import streamlit as st


def chosen_in_address(name: str) -> str:
    """Return what the address says is chosen under a name; empty if nothing is.

    The field, which nobody sees, is the address: charts and tables can not be bound to it. In a
    widget's callback, `keep_in_address` sets it, without an entry in the browser's history.
    """
    with st.container(key=f"in_address_{name}"):
        return st.text_input(f"{name} in the address", key=name, bind="query-params").strip()


def is_first_look(name: str) -> bool:
    """Tell whether the page is shown for the first time since it was opened.

    :param name: of a choice in the address, before it is asked for
    """
    return name not in st.session_state


def keep_in_address(name: str, value: str) -> None:
    """Set what the address says is chosen under a name; only in a widget's callback."""
    st.session_state[name] = value
