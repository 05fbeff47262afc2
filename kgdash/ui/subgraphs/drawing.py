"""The drawing of a subgraph on a page: where its entities stay, and what is added to it."""

from collections.abc import Hashable

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.charts.graph_layout import Layout, layout_of
from kgdash.graph import IDS
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.ui.runtime.computed import computed
from kgdash.ui.widgets.drawn import digest

#: neighbours that one click adds
_NEIGHBOURS = 12

_ADDED, _PLACED = "added_entities", "placed_entities"


def stable_layout(run: Run, entities: np.ndarray, triples: pd.DataFrame, key: tuple) -> Layout:
    """Place entities; those that stood in the session's last drawing of the run stay there.

    They are placed anew if less than half of them did.

    :param triples: ``head, tail`` (ids), ``relik``
    :param key: what the drawing depends on, the run's identity first
    """
    held, before, used = st.session_state.get(_PLACED, (None, None, None))
    if held == run.identity and used == key:
        return before
    known = held == run.identity and np.isin(entities, list(before.positions)).mean() >= 0.5
    joined = triples[["head", "tail", "relik"]]
    kept = (before,) if known else ()
    placed = computed(
        "Drawing", (*key, "layout", *map(digest, kept)), Call(layout_of, entities, joined, *kept)
    )
    st.session_state[_PLACED] = (run.identity, placed, key)
    return placed


def added_entities(key: tuple[Hashable, ...]) -> tuple[int, ...]:
    """Return what was added to the drawing with this key, in the order of clicks."""
    held, added = st.session_state.get(_ADDED, (None, ()))
    return added if held == key else ()


def neighbours(run: Run, entity: int, inside: np.ndarray) -> list[int]:
    """Return the first neighbours of an entity, those of most known triples first.

    :param inside: entities that are drawn already, and left out
    """
    near = run.graph.adjacency("either")[[entity]].indices
    new = np.setdiff1d(near, inside)
    return new[np.argsort(-run.graph.degrees[new], kind="stable")][:_NEIGHBOURS].tolist()


def add_entities(new: list[int], key: tuple[Hashable, ...]) -> None:
    """Add neighbours of an entity to the drawing with this key."""
    if not new:
        st.toast("All its neighbours are in the drawing already.", icon=":material/info:")
    st.session_state[_ADDED] = (key, (*added_entities(key), *new))


def with_added(run: Run, triples: pd.DataFrame, entities: np.ndarray) -> pd.DataFrame:
    """Add the known triples between entities that the table lacks, with their exact ReliK.

    :param triples: of a `LocalComparison`
    :param entities: ids, those of the table among them
    :return: the rows of the table, then the others: without ranks
    """
    inside = run.graph.known().inside(entities)
    there = run.graph.index(triples[IDS].to_numpy())
    rows = inside[~there.contains(inside)]
    if not len(rows):
        return triples
    relik = computed(
        "ReliK of what was added",
        (run.identity, "added", rows.tobytes()),
        Call(run.relik, triples=rows),
    )
    ranks = {f"{side}_rank": f"relik_{side}_rank" for side in ("head", "tail")}
    more = relik.rename(columns=ranks).assign(split=run.graph.split_of(rows))
    if "relik_low" in triples:
        more = more.assign(relik_low=more["relik"], relik_high=more["relik"])
    return pd.concat([triples, more], ignore_index=True)
