"""The way from any page to a subgraph on the page Local reliability."""

from __future__ import annotations

from typing import Any, NoReturn

import streamlit as st

from kgdash.graph import DIRECTIONS
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.runtime.stopover import STOPOVER
from kgdash.ui.subgraphs.form import EVALUATED, METHODS
from kgdash.ui.widgets.entity_choice import entity_address

_PAGE = "pages/local.py"

#: what the widgets of that page say at first
_FIRST = {
    "method": next(iter(METHODS)),
    "evaluated": next(iter(EVALUATED)),
    "direction": DIRECTIONS[0],
    "size": 60,
    "hops": 1,
    "restart": 0.2,
    "seed": 0,
}


def open_local(method: str, evaluated: str = "test", **choices: Any) -> NoReturn:
    """Leave for a subgraph on the page Local reliability; the choice of the run stays.

    The page left must have no widgets of these keys: Streamlit lets none set their address.

    :param method: "rwr" or "neighbourhood"
    :param evaluated: "test" or "all"
    :param choices: its other widgets by key: entity (name), size, direction, restart, seed, hops
    """
    names = {value: name for name, value in METHODS.items()}
    ways = {value: name for name, value in EVALUATED.items()}
    address = {"method": names[method], "evaluated": ways[evaluated]} | choices
    # What is as at first leaves the address again, each as an entry of the browser's history.
    address = {key: str(value) for key, value in address.items() if value != _FIRST.get(key)}
    if "entity" in address:
        address |= entity_address(current_run().graph, address.pop("entity"), "entity")
    st.switch_page(_PAGE, query_params=address | {STOPOVER: "1"})
