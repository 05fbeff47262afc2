"""Finding entities by what people type: a name, a label, or a part of one."""

from kgdash.errors import KgdashError
from kgdash.graph.knowledge_graph import KnowledgeGraph


def entity_text(graph: KnowledgeGraph, entity: int) -> str:
    """Write an entity for people: its label, and its name behind it where they differ."""
    name, label = graph.entities[entity], graph.entity_labels[entity]
    return label if label == name else f"{label} ({name})"


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
    candidates = [text]
    if text.endswith(")") and " (" in text:
        candidates.append(text[text.rindex(" (") + 2 : -1])
    for candidate in candidates:
        try:
            found = graph.entity_id(candidate)
        except KgdashError:
            continue
        if candidate is text or entity_text(graph, found) == text:
            return [found]
    wanted = text.casefold()
    hits = []
    for entity, (name, label) in enumerate(zip(graph.entities, graph.entity_labels, strict=True)):
        folded = label.casefold()
        if wanted in folded or wanted in name.casefold():
            place = 0 if folded == wanted else 1 if folded.startswith(wanted) else 2
            hits.append((place, -int(graph.degrees[entity]), entity))
    return [entity for *_, entity in sorted(hits)[:most]]
