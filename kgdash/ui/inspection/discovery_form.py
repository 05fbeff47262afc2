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
from kgdash.ui.widgets.names_choice import choose_names, relation_texts

#: triples beyond which a search takes minutes: the page then opens on one relation
_MANY = 10**9

_TYPES = {"seen": "seen there", "any": "any"}
_COUNTS = {"100": "100", "1000": "1,000", "10000": "10,000"}
_QUOTAS = {"none": "any number", "1": "1", "5": "5", "10": "10", "50": "50"}


def choose_discovery(run: Run) -> DiscoverySetting:
    """Show what is looked for, and by what it is ordered."""
    graph = run.graph
    has_valid = bool(len(graph.splits["valid"]))
    with settings():
        orders = ["probability", "score"] if has_valid else ["score"]
        by = choose_one(
            "Ordered by",
            orders,
            "new_by",
            help="Probability: the smaller of a triple's two, as answer for its tail and for its "
            "head. Scores of different relations may not compare: take few of each then.",
        )
        types = choose_one(
            "Heads and tails",
            list(_TYPES),
            "new_types",
            help="Seen there: only entities that a known triple of the relation has on that side. "
            "Any: all; queries that make no sense then often come first.",
            format_func=_TYPES.__getitem__,
        )
        relations = choose_names(
            "Relations",
            relation_texts(graph),
            "new_relations",
            _first_relations(run),
            "Without any: all. A large graph opens on its most frequent one, as all take minutes.",
        )
    with more_settings():
        k = int(choice("How many", _COUNTS, "new_count", "100"))
        quota = choice("At most of one relation", _QUOTAS, "new_quota", "none")
        loops = st.toggle(
            "An entity with itself",
            key="new_loops",
            bind="query-params",
            help="Many models find an entity the likeliest answer to a question about itself.",
        )
    most = None if quota == "none" else int(quota)
    try:
        return DiscoverySetting(k, by, types, most, tuple(relations), loops=loops)
    except KgdashError as error:
        return refuse(error)


def _first_relations(run: Run) -> list[str]:
    """Return the relations that the page opens with: none, which means all, if that is quick."""
    graph = run.graph
    if graph.num_entities**2 * graph.num_relations <= _MANY:
        return []
    return [graph.relations[int(np.bincount(graph.all_triples[:, 1]).argmax())]]
