"""The component in Python: show a drawing, and learn what was clicked."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from kgdash.charts.graph_drawing import FACTS, GraphDrawing
from kgdash.ui.widgets.drawn import drawn

FOLDER = Path(__file__).parent

#: put together in this order: each uses those before it
_SCRIPTS = ("pens", "scale", "model", "graph", "matrix", "view")

#: what an edge, and what a cell is named by
_COLUMNS = {"edge": ["head", "relation", "tail"], "pair": ["head", "tail"]}

#: of a number in an address: Python refuses to read thousands
_DIGITS = 19

#: choices that the address keeps
_CHOICES = {"view": ("graph", "matrix"), "facts": FACTS}


@dataclass(frozen=True)
class Selection:
    """What is chosen in a drawing: a ``node`` (entity id), or facts: ``rows`` of its triples.

    Rows of one fact are of an edge, else those of a cell of the matrix. ``expand`` is the entity,
    by id, whose neighbours the user has just asked for.
    """

    node: int | None = None
    rows: tuple[int, ...] = ()
    expand: int | None = None


def show_graph(drawing: GraphDrawing, key: str, expandable: bool = False) -> Selection:
    """Draw entities and facts as a graph or a matrix, and return what is chosen there.

    As long as the drawing is the same, a rerun changes nothing in it: zoom, dragged entities and
    focus stay. The choices of view and of facts stand in the address as ``{key}_view`` and
    ``{key}_facts``, and what is chosen as ``{key}_picked``: the drawing writes it there itself,
    without an entry in the browser's history, and begins with it.

    :param key: of the widget
    :param expandable: a double click on an entity asks for its neighbours
    """
    picked = f"{key}_picked"
    data = drawn(GraphDrawing.payload, drawing) | {"expandable": expandable, "address": picked}
    data["picked"] = _item(st.query_params.get(picked, ""))
    for name, choices in _CHOICES.items():
        if st.query_params.get(f"{key}_{name}") in choices:
            data[name] = st.query_params[f"{key}_{name}"]
    found = _component()(
        key=key,
        data=data,
        on_selected_change=_nothing,
        on_view_change=lambda: _keep(key, "view"),
        on_facts_change=lambda: _keep(key, "facts"),
        on_expand_change=_nothing,
    )
    return selection_of(found.get("selected"), drawing, found.get("expand"))


def selection_of(item: Any, drawing: GraphDrawing, expand: Any = None) -> Selection:
    """Read what the component sent; what this drawing does not hold is as nothing.

    :param item: None, or what is chosen: ``{"kind": "node", "id": entity}``, ``{"kind": "edge",
        "id": "head relation tail"}`` or ``{"kind": "pair", "id": "head tail"}``, ids all
    :param expand: an entity id or None
    """
    entities = set(drawing.entities.tolist())
    asked = expand if expand in entities else None
    kind, chosen = (item.get("kind"), item.get("id")) if isinstance(item, Mapping) else (None, None)
    if kind == "node":
        return Selection(node=chosen if chosen in entities else None, expand=asked)
    columns = _COLUMNS.get(str(kind))
    if columns is None:
        return Selection(expand=asked)
    named = drawing.triples[columns].astype(str).agg(" ".join, axis=1)
    return Selection(rows=tuple(np.flatnonzero(named == chosen).tolist()), expand=asked)


def _item(text: str) -> dict[str, Any] | None:
    """Read what an address says is chosen, as `selection_of` takes it; whether it is there or not.

    :param text: "node 12", "edge 3 0 7", "pair 3 7"
    """
    kind, _, named = text.partition(" ")
    if kind == "node" and named.isdecimal() and len(named) < _DIGITS:
        return {"kind": kind, "id": int(named)}
    return {"kind": kind, "id": named} if kind in _COLUMNS else None


def scripts() -> str:
    """Return the component's JavaScript."""
    return "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS)


@cache
def _component() -> Any:
    return st.components.v2.component(
        "kgdash_graph",
        html=(FOLDER / "view.html").read_text(encoding="utf-8"),
        css=(FOLDER / "view.css").read_text(encoding="utf-8"),
        js=scripts(),
    )


def _keep(key: str, name: str) -> None:
    held = st.session_state.get(key)
    chosen = held.get(name) if isinstance(held, Mapping) else None
    if chosen in _CHOICES[name]:
        st.query_params[f"{key}_{name}"] = chosen


def _nothing() -> None:
    """Take note: without a callback, Streamlit reports no value."""
