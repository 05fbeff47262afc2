"""Negatives out of positives: one end of a known triple is replaced, not by a known one.

Defined in numbers.md#7-triple-classification.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kgdash.graph import KnowledgeGraph
from kgdash.graph.known_triples import SIDES, KnownTriples
from kgdash.graph.sorted_slices import distinct, distinct_rows, expand_slices

#: candidates drawn before those of a query are listed; few queries have so few free ones
_TRIES = 6

#: columns of random numbers that `corrupt` takes: a coin, the tries, a draw out of the list
DRAWS = _TRIES + 2

#: queries whose known answers are listed at once
_BLOCK = 1024


@dataclass(frozen=True)
class Candidates:
    """Who may replace an end: entities per group.

    ``keys`` is ``group * |E| + entity``, int64, ascending and distinct.
    """

    keys: np.ndarray
    num_groups: int
    num_entities: int

    @cached_property
    def starts(self) -> np.ndarray:
        """Return where each group starts in ``keys``, and the end: int64, ``(groups + 1,)``."""
        return np.searchsorted(self.keys, np.arange(self.num_groups + 1) * self.num_entities)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Return how many candidates each group has: int64, ``(groups,)``."""
        return np.diff(self.starts)

    def at(self, group: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return the entity at a place of each group: int64, ``(n,)``."""
        return self.keys[self.starts[group] + place] - group * self.num_entities

    def places(self, group: np.ndarray, entity: np.ndarray) -> np.ndarray:
        """Return the place of each entity in its group, -1 where it is no candidate."""
        key = group * self.num_entities + entity
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(self.keys[at] == key, at - self.starts[group], -1)


def all_entities(graph: KnowledgeGraph) -> Candidates:
    """Return all entities as one group."""
    return Candidates(np.arange(graph.num_entities), 1, graph.num_entities)


def type_constrained_entities(graph: KnowledgeGraph, side: str) -> Candidates:
    """Return per relation the entities that are head, or tail, of a known triple of it.

    Type-constrained negatives (Krompaß, Baier and Tresp 2015) under the local closed-world
    assumption: what a relation was seen with stands for its domain and range.
    """
    entities, relations = graph.all_triples[:, SIDES[side][1]], graph.all_triples[:, 1]
    keys = distinct(relations * graph.num_entities + entities)
    return Candidates(keys, graph.num_relations, graph.num_entities)


def corrupt(
    known: KnownTriples,
    positives: np.ndarray,
    draws: np.ndarray,
    candidates: dict[str, Candidates],
    group: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Replace one end of each positive so that the triple is not known.

    A coin picks the end. The new entity is uniform among the end's candidates that make no known
    triple; where there is none, the other end is replaced.

    :param known: F, which no negative may be in; holds the positives
    :param positives: int64, shape ``(n, 3)``
    :param draws: independent uniform numbers in [0, 1), shape ``(n, DRAWS)``
    :param group: of the candidates, for each positive: int64, ``(n,)``
    :return: the negatives, int64 ``(n, 3)``, and where there is one, bool ``(n,)``
    """
    negatives, found = positives.copy(), np.zeros(len(positives), dtype=bool)
    heads_first = draws[:, 0] < 0.5
    for head, late in ((True, False), (False, False), (True, True), (False, True)):
        side = "head" if head else "tail"
        rows = np.flatnonzero(~found & (heads_first == (head != late)))
        entities = _replacements(
            known, positives[rows], draws[rows], side, candidates[side], group[rows]
        )
        there = entities >= 0
        negatives[rows[there], SIDES[side][1]] = entities[there]
        found[rows] = there
    return negatives, found


def _replacements(
    known: KnownTriples,
    triples: np.ndarray,
    draws: np.ndarray,
    side: str,
    candidates: Candidates,
    group: np.ndarray,
) -> np.ndarray:
    """Draw for each triple a candidate that makes no known triple: int64, -1 if there is none."""
    entities, column = np.full(len(triples), -1), SIDES[side][1]
    pending = np.flatnonzero(candidates.sizes[group] > 0)
    for attempt in range(1, _TRIES + 1):
        tried = triples[pending]
        place = (draws[pending, attempt] * candidates.sizes[group[pending]]).astype(np.int64)
        tried[:, column] = candidates.at(group[pending], place)
        free = ~known.contains(tried)
        entities[pending[free]] = tried[free, column]
        pending = pending[~free]
    for start in range(0, len(pending), _BLOCK):
        rows = pending[start : start + _BLOCK]
        entities[rows] = _out_of_the_free(
            known, triples[rows], draws[rows, -1], side, candidates, group[rows]
        )
    return entities


def _out_of_the_free(
    known: KnownTriples,
    triples: np.ndarray,
    draw: np.ndarray,
    side: str,
    candidates: Candidates,
    group: np.ndarray,
) -> np.ndarray:
    """Draw as `_replacements`, from the known answers of each query, without a further try."""
    queries, first, query, _ = distinct_rows(
        np.column_stack([triples[:, SIDES[side][0]], group])  # their answers are listed once
    )
    owner, answers = known.known_answers(triples[first], side)
    taken = candidates.places(queries[owner, -1], answers)
    owner, taken = owner[taken >= 0], taken[taken >= 0]
    counts = np.bincount(owner, minlength=len(queries))
    free = (candidates.sizes[queries[:, -1]] - counts)[query]
    place = (draw * free).astype(np.int64)
    # Taken places ascend: the j-th one (from 0) stands before the free one that is wanted if it
    # leaves no more than that many free places before itself.
    before = taken - expand_slices(np.zeros_like(counts), counts)[1]
    width = candidates.num_entities + 1
    reached = np.searchsorted(owner * width + before, query * width + place, side="right")
    place += reached - (np.cumsum(counts) - counts)[query]
    entities = np.full(len(triples), -1)
    there = free > 0
    entities[there] = candidates.at(group[there], place[there])
    return entities
