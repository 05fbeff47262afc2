"""The upload of a file of entity types."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.graph.entity_types import EntityTypes, read_entity_types
from kgdash.runs.call import Reading
from kgdash.ui.runtime.computed import try_computing
from kgdash.ui.runtime.result_cache import file_key


def uploaded_types(graph: KnowledgeGraph, key: str) -> EntityTypes | None:
    """Show the uploader and read what is in it, or return None while there is nothing.

    :param key: of the widget
    :raises KgdashError: as `kgdash.graph.entity_types.read_entity_types`
    """
    upload = st.file_uploader(
        "Entity types",
        type=["tsv", "txt", "csv", "gz"],
        key=key,
        help="Two columns, entity (name or label) and type, one pair a line; tab-separated, or "
        "comma-separated in a .csv file. An entity may have several types.",
    )
    if upload is None:
        return None
    content = upload.getvalue()
    types = try_computing(
        "Reading types",
        (graph.identity, "types", *file_key(upload.name, content)),
        Reading(read_entity_types, Path(upload.name), graph, content),
    )
    if types.unknown:
        st.caption(f"{types.unknown:,} lines name no entity of this graph.")
    return types
