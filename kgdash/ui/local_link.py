"""The way from any page to a subgraph on the page Local reliability."""

from __future__ import annotations

from typing import Any, NoReturn

import streamlit as st

from kgdash.ui.subgraph_form import EVALUATED, METHODS

_PAGE = "pages/local.py"

#: what tells, in the address, which run the pages work on
_RUN = ("run", "folder", "dataset")


def open_local(method: str, evaluated: str = "test", **choices: Any) -> NoReturn:
    """Leave for a subgraph on the page Local reliability.

    :param method: "rwr" or "neighbourhood"
    :param evaluated: "test" or "all"
    :param choices: its other widgets by key: entity (name), size, direction, restart, seed, hops
    """
    names = {value: name for name, value in METHODS.items()}
    ways = {value: name for name, value in EVALUATED.items()}
    address = {key: st.query_params[key] for key in _RUN if key in st.query_params}
    address |= {"method": names[method], "evaluated": ways[evaluated]}
    address |= {key: str(value) for key, value in choices.items()}
    st.switch_page(_PAGE, query_params=address)
