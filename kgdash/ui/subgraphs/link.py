"""The way from any page to a subgraph on the page Local reliability."""

from __future__ import annotations

from typing import Any, NoReturn

import streamlit as st

from kgdash.ui.subgraphs.form import EVALUATED, METHODS

_PAGE = "pages/local.py"


def open_local(method: str, evaluated: str = "test", **choices: Any) -> NoReturn:
    """Leave for a subgraph on the page Local reliability; the choice of the run stays.

    The page left must have no widgets of these keys: Streamlit lets none set their address.

    :param method: "rwr" or "neighbourhood"
    :param evaluated: "test" or "all"
    :param choices: its other widgets by key: entity (name), size, direction, restart, seed, hops
    """
    names = {value: name for name, value in METHODS.items()}
    ways = {value: name for name, value in EVALUATED.items()}
    address = {"method": names[method], "evaluated": ways[evaluated]}
    address |= {key: str(value) for key, value in choices.items()}
    st.switch_page(_PAGE, query_params=address)
