"""Whose ids the arrays of OBL2021 hold: the graph's, or the numbers that entities are named by."""

import numpy as np

from kgdash.errors import KgdashError, check_name
from kgdash.graph import KnowledgeGraph
from kgdash.studies.obl2021.top_ten import NOBODY

#: the graph's ids, or the numbers that are the entities' names
ID_KINDS = ("graph", "names")


def entity_numbers(graph: KnowledgeGraph) -> np.ndarray:
    """Return the numbers that the entities are named by, as OBL2021's own files name them.

    :return: int64, shape ``(|E|,)``: of each id the number
    :raises KgdashError: if a name is no number ≥ 0, or two names are the same number
    """
    wrong = [n for n in graph.entities if not (n.isascii() and n.isdigit() and len(n) < 10)]
    if wrong:
        raise KgdashError(
            f"expected entities that are named by numbers; found {wrong[0]!r} in graph "
            f"{graph.name}: use the graph's own ids"
        )
    numbers = np.array([int(name) for name in graph.entities], dtype=np.int64)
    if len(np.unique(numbers)) < len(numbers):
        raise KgdashError(f"two entities of graph {graph.name} are named by the same number")
    return numbers


def check_ids(graph: KnowledgeGraph, ids: str) -> None:
    """Refuse a kind of ids that this graph does not have.

    :raises KgdashError: if ``ids`` is none of `ID_KINDS`, or entities are not named by numbers
    """
    check_name("kind of ids", ids, ID_KINDS, "OBL2021")
    if ids == "names":
        entity_numbers(graph)


def as_written(array: np.ndarray, graph: KnowledgeGraph, ids: str) -> np.ndarray:
    """Turn ids of the graph into those that a file shall hold; `NOBODY` stays.

    :param ids: one of `ID_KINDS`
    :raises KgdashError: if ``ids`` is another, or entities are not named by numbers
    """
    check_ids(graph, ids)
    if ids == "graph":
        return array
    return np.where(array == NOBODY, NOBODY, entity_numbers(graph)[array])
