"""A choice of some of many names: relations, or types of entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.ui.runtime.visitors import MOST_CHOSEN

#: names that the browser gets; the others are typed. Streamlit looks for each that is chosen among
#: all, at each message and outside a page's turn
_OFFERED = 1_000


def relation_texts(graph: KnowledgeGraph) -> dict[str, str]:
    """Return the names of relations with the texts that show them, each another."""
    texts = graph.relation_lookup.distinct_labels(np.arange(graph.num_relations))
    return dict(zip(graph.relations, texts, strict=True))


def choose_names(
    label: str,
    texts: Mapping[str, str],
    key: str,
    default: Sequence[str] = (),
    help: str = "",
    in_address: bool = True,
) -> list[str]:
    """Show the choice and return the chosen names; of many, what was typed may be none of them.

    :param texts: names with the texts that show them
    :param default: names that are chosen at first
    :param in_address: whether what is chosen is kept in the URL
    """
    offered = list(dict.fromkeys([*default, *texts]))[:_OFFERED]
    if is_long := len(texts) > _OFFERED:
        help = f"{help} The first {_OFFERED:,} of {len(texts):,} are listed: type others whole."
    return st.multiselect(
        label,
        offered,
        default=list(default),
        format_func=lambda name: texts.get(name, name),
        key=key,
        bind="query-params" if in_address else None,
        accept_new_options=is_long,
        select_all=MOST_CHOSEN,
        max_selections=MOST_CHOSEN,
        placeholder="all; type to search",
        help=help.strip() or None,
    )
