"""The best new triples of one relation.

A triple is at most as probable as its query's first candidate. So one pass over all scores gives
each head's softmax; only heads whose first candidate reaches what is best so far are looked at
again, and only their candidates are asked how probable they are as tails.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.memory import memory_budget
from kgdash.graph import KnowledgeGraph
from kgdash.graph.known_triples import triple_keys
from kgdash.progress import Progress
from kgdash.runs import Run
from kgdash.studies.discovery.best import Best
from kgdash.studies.discovery.relation_scores import UnknownScores
from kgdash.studies.probability.answer_queries import INFINITE
from kgdash.studies.probability.calibration import Calibration

#: heads that are looked at first, and how many times as many each time after
_FIRST, _MORE = 96, 4

#: bytes that a triple takes while it is among the best, or found
BYTES_EACH = 128

#: values, keys and scores, best first, as `Best.result` returns them
Found = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class RelationSearch:
    """What is looked for under one relation.

    ``heads``, ``tails``: the only ends, int64, ascending (None: all entities); ``known``: the
    splits whose triples are no candidates; ``fitted``: of probabilities (None: by score); ``most``:
    how many; ``least``: the value that they reach; ``loops``: whether an entity with itself is one.
    """

    relation: int
    heads: np.ndarray
    tails: np.ndarray | None
    known: tuple[str, ...]
    fitted: Calibration | None
    most: int
    least: float
    loops: bool

    def __len__(self) -> int:
        """Return how many heads there are."""
        return len(self.heads)

    def best_of(self, scores: UnknownScores, graph: KnowledgeGraph, progress: Progress) -> Found:
        """Search.

        :param scores: of what is not ``known``
        :raises KgdashError: on NaN; by probability also on infinite scores
        """
        search = _Search(self, scores, graph, Best(self.most, self.least))
        if self.fitted is None:
            search.by_score(progress)
        else:
            search.by_probability(self.fitted, progress)
        return search.best.result()


def search_relation(run: Run, part: RelationSearch, progress: Progress) -> Found:
    """Search on a worker, which goes on with the next relation of the run."""
    # Scorers are told apart by which object they are, which their protocol does not say.
    scores = _scores(run.scorer, run.graph.known(part.known))  # type: ignore[arg-type]
    return part.best_of(scores, run.graph, progress)


#: what is laid out for all relations is kept from part to part
_scores = lru_cache(maxsize=1)(UnknownScores)


@dataclass(frozen=True)
class _Search:
    part: RelationSearch
    scores: UnknownScores
    graph: KnowledgeGraph
    best: Best

    def by_score(self, progress: Progress) -> None:
        def take(row: np.ndarray, column: np.ndarray, score: np.ndarray) -> None:
            triples = self._triples(row, column)
            if not self.part.loops:
                apart = triples[:, 0] != triples[:, 2]
                triples, score = triples[apart], score[apart]
            self.best.add(score.astype(np.float64), self._keys(triples), score)

        rows = self.scores.rows("tail", self.part.relation, self.part.heads, self.part.tails)
        rows.above(lambda a, b: _reached(np.full(b - a, self.best.least)), take, progress)

    def by_probability(self, fitted: Calibration, progress: Progress) -> None:
        beta = fitted.beta_under("tail", self.part.relation)
        high, norm = self.scores.rows("tail", self.part.relation, self.part.heads).normalisers(
            beta, progress
        )
        _refuse_infinite(high)
        as_head = _HeadSoftmax(self.scores, self.part.relation, fitted, self.graph.num_entities)
        with np.errstate(invalid="ignore"):
            first = np.where(np.isneginf(high), -np.inf, beta * high - norm)
        order = np.argsort(-first, kind="stable")
        order = order[~np.isneginf(first[order])]
        columns = self.graph.num_entities if self.part.tails is None else len(self.part.tails)
        most = max(1, memory_budget() // 4 // (BYTES_EACH * max(1, columns)))
        start, size = 0, min(_FIRST, most)
        while start < len(order):
            chosen = order[start : start + size]
            chosen = np.sort(chosen[first[chosen] >= self.best.least])
            if not len(chosen):
                break
            for row, column, score in self._reaching(chosen, beta, norm):
                triples = self._triples(row, column)
                value = beta * score.astype(np.float64) - norm[row]
                inside = value >= self.best.least
                if not self.part.loops:
                    inside &= triples[:, 0] != triples[:, 2]
                triples, value, score = triples[inside], value[inside], score[inside]
                value = np.minimum(value, as_head.log_p(triples, score))
                self.best.add(value, self._keys(triples), score)
            start, size = start + size, min(size * _MORE, most)

    def _reaching(
        self, chosen: np.ndarray, beta: float, norm: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return those of some heads' candidates that are probable enough as tails.

        :return: numbers of the head, of the tail, and scores
        """
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        rows = self.scores.rows(
            "tail", self.part.relation, self.part.heads[chosen], self.part.tails
        )
        least = (self.best.least + norm[chosen]) / beta
        rows.above(
            lambda a, b: _reached(least[a:b]),
            lambda row, column, score: found.append((chosen[row], column, score)),
        )
        return found

    def _triples(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        tail = column if self.part.tails is None else self.part.tails[column]
        return np.stack([self.part.heads[row], np.full(len(row), self.part.relation), tail], axis=1)

    def _keys(self, triples: np.ndarray) -> np.ndarray:
        return triple_keys(triples, self.graph.num_entities, self.graph.num_relations)


class _HeadSoftmax:
    """log p of triples as candidates for the head; each tail's softmax is summed up when asked."""

    def __init__(
        self, scores: UnknownScores, relation: int, fitted: Calibration, entities: int
    ) -> None:
        self._scores, self._relation = scores, relation
        self._beta = fitted.beta_under("head", relation)
        self._norm = np.full(entities, np.nan)

    def log_p(self, triples: np.ndarray, score: np.ndarray) -> np.ndarray:
        if not len(triples):
            return np.empty(0)
        tails = np.unique(triples[:, 2])
        new = tails[np.isnan(self._norm[tails])]
        if len(new):
            rows = self._scores.rows("head", self._relation, new)
            high, self._norm[new] = rows.normalisers(self._beta)
            _refuse_infinite(high)
        own = self._scores.as_heads(triples, score)
        return self._beta * own - self._norm[triples[:, 2]]


def _refuse_infinite(high: np.ndarray) -> None:
    """Refuse scores that have no probability.

    :raises KgdashError: if one of the greatest scores is infinite
    """
    if np.isposinf(high).any():
        raise KgdashError(INFINITE)


def _reached(least: np.ndarray) -> np.ndarray:
    """Return float32 bounds that are not above some float64 ones."""
    near = least.astype(np.float32)
    return np.where(near > least, np.nextafter(near, np.float32(-np.inf)), near)
