"""Runs that one page asks besides its own: a server asks large ones once somebody wants it.

What visitors add may take minutes, on everybody's page of a bundled run.
"""

from collections.abc import Iterable

import streamlit as st

from kgdash.files.visitor import visitor
from kgdash.runs import Run
from kgdash.runs.call import Identity
from kgdash.ui.runtime.loaded_runs import is_small_run


def unasked(run: Run, names: Iterable[str], wanted: str) -> list[str]:
    """Return the names of those that nobody wants asked yet.

    :param wanted: the session's key of the run that `want` was called for
    """
    if visitor().is_local or is_wanted(run, wanted):
        return []
    return [name for name in names if not is_small_run(name)]


def is_wanted(run: Run, wanted: str) -> bool:
    """Tell whether all of them are to be asked."""
    return bool(st.session_state.get(wanted) == run.identity)


def want(wanted: str, identity: Identity) -> None:
    """Have all of them asked, as of a click."""
    st.session_state[wanted] = identity
