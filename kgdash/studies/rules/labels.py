"""Which predictions of rules are true, which false, and which nobody has judged.

Defined in numbers.md#9-rules.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgdash.graph import KnowledgeGraph, triple_array
from kgdash.graph.known_triples import KnownTriples

FALSE, TRUE, UNLABELLED = 0, 1, -1


@dataclass(frozen=True)
class Labels:
    """What is known of triples outside train: by the held-out facts, by verified negatives.

    Without ``negatives`` every other triple is false in a closed world, and unlabelled otherwise.
    """

    facts: KnownTriples
    negatives: KnownTriples
    closed_world: bool

    @classmethod
    def of(
        cls, graph: KnowledgeGraph, negatives: np.ndarray | None = None, closed_world: bool = False
    ) -> Labels:
        """Collect what is known.

        :param negatives: triples that people found to be false: int64 ids, shape ``(n, 3)``; those
            that are facts are ignored
        :param closed_world: without negatives, what is no fact is false
        :raises KgdashError: if an id is out of range
        """
        given = np.empty((0, 3), np.int64) if negatives is None else triple_array(negatives, graph)
        return cls(graph.known(), graph.index(given), closed_world and negatives is None)

    def of_triples(self, triples: np.ndarray) -> np.ndarray:
        """Label triples, shape ``(n, 3)``: int8, `TRUE`, `FALSE` or `UNLABELLED`."""
        labels = np.full(len(triples), FALSE if self.closed_world else UNLABELLED, dtype=np.int8)
        if len(self.negatives):
            labels[self.negatives.contains(triples)] = FALSE
        labels[self.facts.contains(triples)] = TRUE
        return labels
