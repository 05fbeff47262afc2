"""The settings of the page New facts."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kgdash.errors import KgdashError
from kgdash.runs import Run
from kgdash.studies.discovery.discovery import DiscoverySetting
from kgdash.ui.runtime.computed import refuse
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.choices import choice, choose_one

#: triples beyond which a search takes minutes: the page then opens on one relation
_MANY = 10**9

_TYPES = {"any": "any entity", "seen": "seen with the relation"}
_COUNTS = {"100": "100", "1000": "1,000", "10000": "10,000"}
_QUOTAS = {"none": "any number", "1": "1", "5": "5", "10": "10", "50": "50"}


def choose_discovery(run: Run) -> DiscoverySetting:
    """Show what is looked for, and by what it is ordered."""
    graph = run.graph
    has_valid = bool(len(graph.splits["valid"]))
    with settings():
        orders = ["probability", "score"] if has_valid else ["score"]
        by = choose_one("Ordered by", orders, "order")
        types = choose_one("Heads and tails", list(_TYPES), "types", format_func=_TYPES.__getitem__)
        relations = st.multiselect(
            "Relations",
            list(graph.relations),
            default=_first_relations(run),
            format_func=dict(zip(graph.relations, graph.relation_labels, strict=True)).__getitem__,
            key="relations",
            bind="query-params",
            help="None: all. On a large graph the page opens on the most frequent one; all of them "
            "take minutes.",
        )
    with more_settings():
        k = int(choice("How many", _COUNTS, "count", "100"))
        quota = choice("At most of one relation", _QUOTAS, "quota", "none")
    most = None if quota == "none" else int(quota)
    try:
        return DiscoverySetting(k, by, types, most, tuple(relations))
    except KgdashError as error:
        return refuse(error)


def _first_relations(run: Run) -> list[str]:
    """Return the relations that the page opens with: none, which means all, if that is quick."""
    graph = run.graph
    if graph.num_entities**2 * graph.num_relations <= _MANY:
        return []
    return [graph.relations[int(np.bincount(graph.all_triples[:, 1]).argmax())]]
