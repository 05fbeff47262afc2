"""Queries in blocks that take bounded memory, however many facts an entity has."""

from collections.abc import Iterator
from functools import reduce

import numpy as np

from kgdash.errors import KgdashError
from kgdash.studies.queries.adjacency import Adjacency
from kgdash.studies.queries.query_types import QueryType

#: facts that the queries of a block may follow in one step: some 70 bytes each
_FACTS = 2**23


def query_blocks(
    facts: Adjacency, kind: QueryType, anchors: np.ndarray, relations: np.ndarray, most: int
) -> Iterator[range]:
    """Cut queries, in their order, into blocks whose steps do not follow too many facts.

    A block of more than one query follows at most 2²³ facts in a step. That is reckoned: a step by
    a relation follows at most all its facts, and at most those of its entity that has most from
    each entity that was reached.

    :param facts: of `Adjacency.both_ways`
    :param anchors: int64, shape ``(n, branches)``
    :param relations: int64, shape ``(n, kind.num_relations)``
    :param most: queries of a block, ≥ 1
    :raises KgdashError: if an id is out of range
    """
    _check_ids(facts, anchors, relations)
    cost = _most_facts(facts, kind, anchors, relations)
    start = 0
    while start < len(cost):
        spent = np.cumsum(cost[start : start + most])
        stop = start + max(1, int(np.searchsorted(spent, _FACTS, side="right")))
        yield range(start, stop)
        start = stop


def _most_facts(
    facts: Adjacency, kind: QueryType, anchors: np.ndarray, relations: np.ndarray
) -> np.ndarray:
    """Reckon how many facts each query follows at most in one step: int64, ``(n,)``."""
    cost = np.zeros(len(anchors), dtype=np.int64)

    def on(reached: np.ndarray, column: int) -> np.ndarray:
        relation = relations[:, column]
        followed = np.minimum(facts.of_relation[relation], reached * facts.widest[relation])
        np.maximum(cost, followed, out=cost)
        return np.minimum(followed, facts.num_entities)

    ends = []
    for branch, (first, *others) in enumerate(kind.branch_columns):
        reached = facts.count(anchors[:, branch], relations[:, first])
        np.maximum(cost, reached, out=cost)
        ends.append(reduce(on, others, reached))
    met = reduce(np.add if kind.join == "or" else np.minimum, ends)
    reduce(on, kind.after_columns, met)
    return cost


def _check_ids(facts: Adjacency, anchors: np.ndarray, relations: np.ndarray) -> None:
    for what, ids, count in (
        ("anchors", anchors, facts.num_entities),
        ("relations (each also backwards)", relations, facts.num_relations),
    ):
        if ids.size and not 0 <= ids.min() <= ids.max() < count:
            raise KgdashError(
                f"{what} of queries have ids from 0 to {count - 1:,} in this graph; found "
                f"{ids.min():,} to {ids.max():,}"
            )
