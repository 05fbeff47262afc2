"""Runs that Inspect asks besides its own: a server asks large ones once somebody wants it."""

from collections.abc import Sequence

import streamlit as st

from kgdash.runs import Run
from kgdash.runs.call import Identity
from kgdash.ui.runtime.loaded_runs import quick_runs


def not_wanted(run: Run, names: Sequence[str], wanted: str) -> list[str]:
    """Return the names of those that nobody wants asked yet.

    :param wanted: the session's key of the run that `want` was called for
    """
    if is_wanted(run, wanted):
        return []
    quick = quick_runs(run, names)
    return [name for name in names if name not in quick]


def is_wanted(run: Run, wanted: str) -> bool:
    """Tell whether all of them are to be asked."""
    return bool(st.session_state.get(wanted) == run.identity)


def want(wanted: str, identity: Identity) -> None:
    """Have all of them asked, as of a click."""
    st.session_state[wanted] = identity
