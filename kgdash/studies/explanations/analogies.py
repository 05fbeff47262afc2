"""Similar entities that have the relation of a prediction, and what they have there.

Defined in numbers.md#27-why-this-answer.
"""

import numpy as np
import pandas as pd

from kgdash.runs import Run
from kgdash.scoring.entity_vectors import EntityVectors, entity_vectors

#: similar entities that are listed, and tails of each
ENTITIES, TAILS = 5, 5


def analogies(run: Run, triple: np.ndarray) -> pd.DataFrame | None:
    """Find the entities nearest to the head that have the relation in train, with their tails.

    :param triple: int64 ids, ``(3,)``
    :return: one row per entity, the nearest first: ``entity`` (int64 id), ``distance`` (float64),
        ``tails`` (tuple of ids, at most `TAILS`, the triple's own first), ``facts`` (int64: how
        many it has), ``same`` (bool: the triple's tail is among them); None if the model has no
        vectors that could be compared
    """
    vectors = entity_vectors(run.scorer)
    if vectors is None:
        return None
    head, relation, tail = triple.tolist()
    train = run.graph.split("train")
    facts = train[(train[:, 1] == relation) & (train[:, 0] != head)]
    rows = []
    for entity, distance in _nearest(vectors, head, np.unique(facts[:, 0])):
        tails = facts[facts[:, 0] == entity, 2]
        same = bool((tails == tail).any())
        shown = [tail, *tails[tails != tail].tolist()] if same else tails.tolist()
        rows.append((entity, distance, tuple(shown[:TAILS]), len(tails), same))
    return pd.DataFrame(rows, columns=["entity", "distance", "tails", "facts", "same"])


def _nearest(vectors: EntityVectors, head: int, among: np.ndarray) -> list[tuple[int, float]]:
    distances = vectors.distances_from(head)[among]
    order = np.argsort(distances, kind="stable")[:ENTITIES]
    return list(zip(among[order].tolist(), distances[order].tolist(), strict=True))
