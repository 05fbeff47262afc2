"""What shows entities and relations, and finding entities by a name, a label, or a part of one."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from kgdash.graph.knowledge_graph import KnowledgeGraph


def label_and_name(label: str, name: str) -> str:
    """Write what has a name for people: its label, and its name behind it where they differ."""
    return label if label == name else f"{label} ({name})"


def entity_text(graph: KnowledgeGraph, entity: int) -> str:
    """Write an entity as `label_and_name` does."""
    return label_and_name(graph.entity_labels[entity], graph.entities[entity])


def told_apart(texts: Mapping[str, str]) -> dict[str, str]:
    """Return names with the texts that show them, each another: a name itself where it has to be.

    What shows two names chooses one of them, whichever is meant.
    """
    taken = Counter(texts.values())
    taken.update(name for name, text in texts.items() if name != text)
    return {name: text if taken[text] == 1 else name for name, text in texts.items()}


def relation_texts(graph: KnowledgeGraph) -> list[str]:
    """Return what shows each relation: its label, or its name where another has the label."""
    return list(told_apart(dict(zip(graph.relations, graph.relation_labels, strict=True))).values())


def search_entities(graph: KnowledgeGraph, text: str, most: int = 8) -> list[int]:
    """Find entities, the likeliest first.

    One alone if the text is a name, a label that only one has, or both as `entity_text` writes
    them. Else those whose label or name holds the text, regardless of case: first where a label is
    the text, then where one begins with it, then the rest, each by degree.

    :return: ids, at most ``most``; none where nothing matches
    """
    text = text.strip()
    if not text:
        return []
    called = graph.entities_called(text)
    if len(called) != 1 and text.endswith(")") and " (" in text:
        behind = graph.entities_called(text[text.rindex(" (") + 2 : -1])
        called = [entity for entity in behind if entity_text(graph, entity) == text]
    if len(called) == 1:
        return called
    hits, place = graph.entity_lookup.holding(text)
    order = np.lexsort((hits, -graph.degrees[hits], place))
    return [int(entity) for entity in hits[order][:most]]
