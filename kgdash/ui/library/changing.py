"""Renaming and removing one's own runs, each after a question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.runs.bundled import default_run
from kgdash.runs.library import own_names, remove_run, rename_run, run_stamp
from kgdash.ui.library.message import say
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.run_picker import choose_run, chosen_run
from kgdash.ui.runtime.visitors import lets


def show_changing() -> None:
    """Let one of the user's runs be chosen, renamed and removed."""
    if not lets("change"):
        return
    names = own_names()
    if not names:
        st.caption("There is none of yours yet. Bundled runs can not be changed.")
        return
    name = st.selectbox("Your run", names, key="changed_run")
    with st.container(horizontal=True):
        for label, icon, ask in (("Rename", "edit", _ask_name), ("Remove", "delete", _ask_removal)):
            if st.button(f"{label} …", icon=f":material/{icon}:", key=label.lower()):
                try:
                    ask(name, run_stamp(name))
                except KgdashError as error:  # it was removed since
                    st.error(plain(str(error)), icon=":material/error:")


@st.dialog("Rename a run")
def _ask_name(old: str, stamp: tuple[int, int]) -> None:
    key = f"new name of {old}"
    st.text_input(f"New name of {plain(old)}", old, key=key)
    _answers("Rename", lambda: _rename(old, st.session_state[key].strip(), stamp))


@st.dialog("Remove a run")
def _ask_removal(name: str, stamp: tuple[int, int]) -> None:
    st.write(
        f"Delete {plain(name)} with its model and groupings? This can not be undone. Labels and "
        "tables in the cache stay."
    )
    _answers("Delete", lambda: _remove(name, stamp))


def _answers(label: str, act: Callable[[], Any]) -> None:
    with st.container(horizontal=True):
        if st.button(label, type="primary", on_click=_attempt, args=(act,)):
            st.rerun()
        if st.button("Cancel"):
            st.rerun()


def _attempt(act: Callable[[], str]) -> None:
    try:
        say(act())
    except KgdashError as error:
        say(str(error), done=False)


def _rename(old: str, new: str, stamp: tuple[int, int]) -> str:
    rename_run(old, new, stamp)
    if chosen_run() == old:
        choose_run(new)
    return f"{old} is now {new}."


def _remove(name: str, stamp: tuple[int, int]) -> str:
    remove_run(name, stamp)
    if chosen_run() == name:
        choose_run(default_run())
    return f"Removed {name}."
