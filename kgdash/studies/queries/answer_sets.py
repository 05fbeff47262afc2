"""Answers of logical queries: sets of entities, for whole batches of queries at once.

Defined in numbers.md#8-queries.
"""

from functools import reduce

import numpy as np

from kgdash.progress import Beat, unheard
from kgdash.studies.queries.adjacency import Adjacency
from kgdash.studies.queries.blocks import query_blocks
from kgdash.studies.queries.query_types import QueryType

#: queries evaluated at once
_AT_ONCE = 512


def answer_sets(
    facts: Adjacency,
    kind: QueryType,
    anchors: np.ndarray,
    relations: np.ndarray,
    most: int | None = None,
    beat: Beat = unheard,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find all answers of queries of one type.

    Entities are followed, not paths: what is reached in many ways is followed once.

    :param facts: of `Adjacency.both_ways`; its splits say on which part of a graph to answer
    :param anchors: int64, shape ``(n, branches)``
    :param relations: int64, shape ``(n, kind.num_relations)``, backwards ones as id + |R|
    :param most: a query that reaches more entities than this after any step, in any branch, is
        given up; None for no such cap
    :param beat: called now and then; may raise to end it
    :return: ``owner`` (which query each answer is of, int64, ascending), ``answers`` (int64,
        ascending within a query, each once), and which queries were given up (bool, shape
        ``(n,)``; they have no answers here)
    :raises KgdashError: if an id is out of range
    """
    owner, answers = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    given_up = np.zeros(len(anchors), dtype=bool)
    for at in query_blocks(facts, kind, anchors, relations, _AT_ONCE):
        beat()
        block = slice(at.start, at.stop)
        evaluation = _Evaluation(facts, anchors[block], relations[block], most)
        of, found = np.divmod(evaluation.answers(kind), facts.num_entities)
        kept = ~evaluation.given_up[of]
        owner.append(of[kept] + at.start)
        answers.append(found[kept])
        given_up[block] = evaluation.given_up
    return np.concatenate(owner), np.concatenate(answers), given_up


class _Evaluation:
    """One batch of queries. Sets of entities are sorted integers: query * |E| + entity."""

    def __init__(
        self, facts: Adjacency, anchors: np.ndarray, relations: np.ndarray, most: int | None
    ) -> None:
        self.facts, self.anchors, self.relations = facts, anchors, relations
        self.most = facts.num_entities if most is None else most
        self.given_up = np.zeros(len(anchors), dtype=bool)

    def answers(self, kind: QueryType) -> np.ndarray:
        ends = []
        for branch, columns in enumerate(kind.branch_columns):
            start = np.arange(len(self.anchors)) * self.facts.num_entities
            ends.append(reduce(self.step, columns, start + self.anchors[:, branch]))
        join = _union if kind.join == "or" else _intersection
        joined = self.within_cap(reduce(join, ends))
        return reduce(self.step, kind.after_columns, joined)

    def step(self, entities: np.ndarray, column: int) -> np.ndarray:
        """Follow a relation from all entities of all queries."""
        query, entity = np.divmod(entities, self.facts.num_entities)
        if self.most < self.facts.num_entities:  # what reaches more is never written out
            ahead = self.facts.count(entity, self.relations[query, column])
            self.given_up[query[ahead > self.most]] = True
            kept = ~self.given_up[query]
            query, entity = query[kept], entity[kept]
        place, reached = self.facts.follow(entity, self.relations[query, column])
        return self.within_cap(_distinct(query[place] * self.facts.num_entities + reached))

    def within_cap(self, entities: np.ndarray) -> np.ndarray:
        query = entities // self.facts.num_entities
        self.given_up |= np.bincount(query, minlength=len(self.anchors)) > self.most
        return entities[~self.given_up[query]]


def _distinct(entities: np.ndarray) -> np.ndarray:
    # NumPy's unique hashes first, which takes several times as long as sorting here.
    entities.sort()
    return entities[np.diff(entities, prepend=-1) > 0]


def _union(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return _distinct(np.concatenate([one, other]))


def _intersection(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    few, many = sorted((one, other), key=len)
    if not len(few):
        return few
    return few[many[np.minimum(np.searchsorted(many, few), len(many) - 1)] == few]
