"""A true and a false answer of each query (numbers.md#8-queries)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from kgdash.graph.sorted_slices import distinct
from kgdash.progress import Beat, unheard
from kgdash.studies.queries.adjacency import Adjacency
from kgdash.studies.queries.answer_sets import answer_sets
from kgdash.studies.queries.blocks import query_blocks
from kgdash.studies.queries.query_types import AskedQueries, joined

#: queries answered at once while some are still wanted
_AT_ONCE = 1024


@dataclass(frozen=True)
class AnswerPairs:
    """Queries with a hard true answer and a false one each, int64 ``(n,)``.

    Of the queries looked at: ``not_held`` hard answers do not hold in F; ``no_true`` queries have
    none that does, ``no_false`` have no entity that is no answer. These queries are left out.
    """

    asked: AskedQueries
    true: np.ndarray
    false: np.ndarray
    not_held: int
    no_true: int
    no_false: int


def answer_pairs(
    ranges: Ranges,
    asked: AskedQueries,
    most: int | None,
    rng: np.random.Generator,
    beat: Beat = unheard,
) -> AnswerPairs:
    """Draw a hard answer that holds in F and an entity that does not answer for each query.

    :param ranges: of F
    :param most: of so many queries, a random choice; None for all, in their order
    :param beat: called now and then; may raise to end it
    """
    wanted = len(asked) if most is None else min(most, len(asked))
    order = np.arange(len(asked)) if wanted == len(asked) else rng.permutation(len(asked))
    found = [_pairs(ranges, asked.take([]), rng)]
    queries = asked.kind, asked.anchors[order], asked.relations[order]
    for block in query_blocks(ranges.facts, *queries, _AT_ONCE):
        beat()
        missing = wanted - sum(len(pairs.true) for pairs in found)
        if not missing:
            break
        found.append(_pairs(ranges, asked.take(order[block]), rng, missing))
    return AnswerPairs(
        joined([pairs.asked for pairs in found]),
        np.concatenate([pairs.true for pairs in found]),
        np.concatenate([pairs.false for pairs in found]),
        *(sum(getattr(p, of) for p in found) for of in ("not_held", "no_true", "no_false")),
    )


def _pairs(
    ranges: Ranges, asked: AskedQueries, rng: np.random.Generator, most: int = 0
) -> AnswerPairs:
    facts, count = ranges.facts, len(asked)
    owner, answers, _ = answer_sets(facts, asked.kind, asked.anchors, asked.relations)
    width, ends = facts.num_entities, np.searchsorted(owner, np.arange(count + 1))
    held = np.isin(asked.owner * width + asked.answers, owner * width + answers)
    true = _one_of_each(
        asked.owner[held & asked.hard], asked.answers[held & asked.hard], count, rng
    )
    false = np.full(count, -1)
    for query in np.flatnonzero(true >= 0):
        last = asked.relations[query, list(asked.kind.last_columns)]
        own = answers[ends[query] : ends[query + 1]]
        false[query] = ranges.false_answer(own, last.tolist(), rng)
    kept = np.flatnonzero(false >= 0)[:most]
    return AnswerPairs(
        asked.take(kept),
        true[kept],
        false[kept],
        int((asked.hard & ~held).sum()),
        int((true < 0).sum()),
        int(((true >= 0) & (false < 0)).sum()),
    )


def _one_of_each(
    owner: np.ndarray, values: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw one value of each owner; -1 where an owner has none."""
    drawn = np.full(count, -1)
    mixed = rng.permutation(len(owner))
    drawn[owner[mixed]] = values[mixed]
    return drawn


@dataclass(frozen=True)
class Ranges:
    """The entities that each relation, forwards or backwards, leads to."""

    facts: Adjacency
    starts: np.ndarray
    entities: np.ndarray

    @classmethod
    def of(cls, facts: Adjacency) -> Ranges:
        """Read the ranges off facts of `Adjacency.both_ways`."""
        # What a relation leads to is where its inverse starts.
        entity, relation = np.divmod(distinct(facts.keys), facts.num_relations)
        leads = cls._inverse(relation, facts)
        order = np.argsort(leads, kind="stable")
        starts = np.searchsorted(leads[order], np.arange(facts.num_relations + 1))
        return cls(facts, starts, entity[order])

    @staticmethod
    def _inverse(relations: np.ndarray, facts: Adjacency) -> np.ndarray:
        return (relations + facts.num_relations // 2) % facts.num_relations

    def range(self, relation: int) -> np.ndarray:
        """Return the entities that a relation leads to, ascending."""
        return self.entities[self.starts[relation] : self.starts[relation + 1]]

    def contains(self, entities: np.ndarray, relations: np.ndarray) -> np.ndarray:
        """Tell for each entity, ``(n,)``, whether it is in the range of its relation."""
        return self.facts.count(entities, self._inverse(relations, self.facts)) > 0

    def false_answer(
        self, answers: np.ndarray, last: Sequence[int], rng: np.random.Generator
    ) -> int:
        """Draw an entity that is no answer, from the nearest of three circles that has one.

        :param answers: all answers in F, distinct
        :param last: the relations that lead to the answer
        :return: -1 if every entity is an answer
        """
        ranges = [self.range(relation) for relation in last]
        for circle in (
            lambda: reduce(np.intersect1d, ranges),
            lambda: reduce(np.union1d, ranges),
            lambda: np.arange(self.facts.num_entities),
        ):
            left = np.setdiff1d(circle(), answers, assume_unique=True)
            if len(left):
                return int(left[rng.integers(len(left))])
        return -1
