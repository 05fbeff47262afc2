"""The knowledge graph: read from files, its splits and names, its neighbourhoods and communities.

Imports: files. Start at `knowledge_graph.py`.
"""

from kgdash.graph.knowledge_graph import (
    DIRECTIONS,
    FILTERS,
    IDS,
    SPLITS,
    KnowledgeGraph,
    default_filter,
    triple_array,
    triple_text,
)

__all__ = [
    "DIRECTIONS",
    "FILTERS",
    "IDS",
    "SPLITS",
    "KnowledgeGraph",
    "default_filter",
    "triple_array",
    "triple_text",
]
