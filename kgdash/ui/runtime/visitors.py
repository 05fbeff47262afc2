"""Who a session is of; asked at every step, since Streamlit runs callbacks before any page."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kgdash.files.visitor import NOBODY, RIGHTS, Visitor, ask_who, visitor, working_for
from kgdash.serving.access import admitted, local_visitor
from kgdash.serving.settings import SETTING, ServerSettings, read_settings

#: of a connection's scope (ASGI): the folder of who made it, where the door knows
OWNER = "kgdash_owner"

#: key of the button that offers to log in, where one is out
LOG_IN_BUTTON = "log_in"

#: options that somebody may choose in one field, which Streamlit looks for one by one among all
MOST_CHOSEN = 500

#: of a connection's scope: tells whether the log-in that made it still counts
IS_IN = "kgdash_is_in"


def server_settings() -> ServerSettings | None:
    """Return the settings that ``$KGDASH_SERVER`` names, read once; None: this machine is served.

    :raises KgdashError: as `read_settings`
    """
    named = os.environ.get(SETTING)
    return _read(named) if named else None


@lru_cache(maxsize=1)
def _read(named: str) -> ServerSettings:
    with working_for(Visitor()):  # they say who anybody is
        return read_settings(Path(named))


def session_visitor() -> Visitor:
    """Return whose session this thread serves; `NOBODY` where log-in is asked for and is not there.

    So is every thread that serves no session.
    """
    settings = server_settings()
    if settings is None:
        return Visitor()
    if settings.login is None:
        return local_visitor(settings)
    if get_script_run_ctx(suppress_warning=True) is None or not st.user.get("is_logged_in"):
        return NOBODY
    return admitted(st.user.to_dict(), settings) or NOBODY


ask_who(session_visitor)


def admit() -> None:
    """End the page's run with an offer to log in, unless the visitor may open the dashboard."""
    if visitor() != NOBODY:
        return
    st.title("Log in")
    if st.user.get("is_logged_in"):
        st.info("Your log-in has ended, or may not open this dashboard.")
    st.button("Log in", type="primary", on_click=st.login, key=LOG_IN_BUTTON)
    st.stop()


def stay_admitted() -> None:
    """Begin the page anew, with an offer to log in, where the log-in has ended meanwhile."""
    if session_visitor() == NOBODY:
        st.rerun()


def show_log_out() -> None:
    """Show who is logged in, and the way out; nothing where nobody logs in."""
    name = visitor().name
    if name:
        with st.container(key="logged_in", gap="xsmall"):
            st.text(f"Logged in as {name}")  # as Markdown, an address would become a link
            st.button(
                "Log out", "log_out", on_click=st.logout, icon=":material/logout:", type="tertiary"
            )


def lets(right: str) -> bool:
    """Tell whether the visitor has a right; else say in a line that they have it not.

    :param right: one of `kgdash.files.visitor.RIGHTS`
    """
    if visitor().may(right):
        return True
    st.caption(f":material/lock: You may not {RIGHTS[right]} here.")
    return False
