"""The triple that is inspected, one of whose sides may be left open."""

from dataclasses import dataclass

import numpy as np

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.graph.known_triples import SIDES

#: what stands for an open side
OPEN = "?"


@dataclass(frozen=True)
class InspectedTriple:
    """Ids of head, relation and tail; one of them, the open side, may be None."""

    head: int | None
    relation: int | None
    tail: int | None

    @property
    def parts(self) -> tuple[int | None, int | None, int | None]:
        """Return head, relation and tail."""
        return self.head, self.relation, self.tail

    @property
    def open_side(self) -> str | None:
        """Return the side that is open, or None."""
        return next((side for side, (_, at) in SIDES.items() if self.parts[at] is None), None)

    @property
    def sides(self) -> tuple[str, ...]:
        """Return the sides that have candidates: the open one, else all."""
        return ("tail", "head", "relation") if self.open_side is None else (self.open_side,)

    @property
    def row(self) -> np.ndarray:
        """Return the ids, int64, shape ``(1, 3)``; 0 where a side is open."""
        return np.array([[part or 0 for part in self.parts]], dtype=np.int64)

    def names(self, graph: KnowledgeGraph) -> list[str | None]:
        """Return the names of head, relation and tail; None where a side is open."""
        of = (graph.entities, graph.relations, graph.entities)
        return [
            None if part is None else names[part]
            for part, names in zip(self.parts, of, strict=True)
        ]

    def labels(self, graph: KnowledgeGraph) -> list[str | None]:
        """Return the distinct labels of head, relation and tail; None where a side is open."""
        of = (graph.entity_lookup, graph.relation_lookup, graph.entity_lookup)
        return [
            None if part is None else lookup.distinct_label(part)
            for part, lookup in zip(self.parts, of, strict=True)
        ]


def find_triple(graph: KnowledgeGraph, head: str, relation: str, tail: str) -> InspectedTriple:
    """Find a triple by names or labels; it need not be known.

    :param head: a name, a label, or "?" to leave the side open; ``relation``, ``tail`` likewise
    :raises KgdashError: on an unknown or ambiguous name, or more than one open side
    """
    if (head, relation, tail).count(OPEN) > 1:
        raise KgdashError(
            f"expected at most one open side ({OPEN}); found {head} {relation} {tail}"
        )
    return InspectedTriple(
        None if head == OPEN else graph.entity_id(head),
        None if relation == OPEN else graph.relation_id(relation),
        None if tail == OPEN else graph.entity_id(tail),
    )
