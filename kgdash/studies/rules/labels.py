"""Which predictions of rules are true, which false, and which nobody has judged.

Defined in numbers.md#9-rules.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph, triple_array
from kgdash.graph.known_triples import KnownTriples

FALSE, TRUE, UNLABELLED = 0, 1, -1


@dataclass(frozen=True)
class Labels:
    """What is known of triples outside train: by a user, by the held-out facts, by negatives.

    A user's judgement goes before the rest. Without ``negatives`` every other triple is false in a
    closed world, and unlabelled otherwise.
    """

    facts: KnownTriples
    closed_world: bool
    negatives: KnownTriples
    judged_true: KnownTriples
    judged_false: KnownTriples

    @classmethod
    def of(
        cls,
        graph: KnowledgeGraph,
        negatives: np.ndarray | None = None,
        judged: pd.DataFrame | None = None,
        closed_world: bool = False,
    ) -> Labels:
        """Collect what is known.

        :param negatives: triples that people found to be false: int64 ids, shape ``(n, 3)``; those
            that are facts are ignored
        :param judged: a user's judgements: ``head, relation, tail`` (ids) and ``label`` (bool)
        :param closed_world: without negatives, what is no fact is false
        :raises KgdashError: if an id is out of range or a triple is judged both true and false
        """
        none = graph.index(np.empty((0, 3), dtype=np.int64))
        true = false = none
        if judged is not None and len(judged):
            ids = triple_array(judged[["head", "relation", "tail"]].to_numpy(), graph)
            label = judged["label"].to_numpy(dtype=bool)
            true, false = graph.index(ids[label]), graph.index(ids[~label])
            if (both := false.contains(ids[label])).any():
                row = graph.with_names(judged[label][both]).iloc[0]
                raise KgdashError(
                    f"({row['head']}, {row['relation']}, {row['tail']}) is judged both true and "
                    "false; keep one of the two"
                )
        given = none if negatives is None else graph.index(triple_array(negatives, graph))
        return cls(graph.known(), closed_world and negatives is None, given, true, false)

    def of_triples(self, triples: np.ndarray) -> np.ndarray:
        """Label triples, shape ``(n, 3)``: int8, `TRUE`, `FALSE` or `UNLABELLED`."""
        labels = np.full(len(triples), FALSE if self.closed_world else UNLABELLED, dtype=np.int8)
        for known, label in (
            (self.negatives, FALSE),
            (self.facts, TRUE),
            (self.judged_false, FALSE),
            (self.judged_true, TRUE),
        ):
            if len(known):
                labels[known.contains(triples)] = label
        return labels
