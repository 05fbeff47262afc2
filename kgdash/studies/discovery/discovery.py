"""The best of all triples that are not known, by probability or by score.

Defined in numbers.md#29-new-facts. A triple is at most as probable as its query's first candidate.
So, under each relation, one pass over all scores gives each head's softmax; only heads whose first
candidate reaches what is best so far are looked at again, and only their candidates are asked how
probable they are as tails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from kgdash.engine.memory import memory_budget
from kgdash.errors import KgdashError, check_name
from kgdash.files.table_cache import cached_table
from kgdash.graph import SPLITS, KnowledgeGraph
from kgdash.graph.known_triples import KnownTriples
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.studies.discovery.best import Best
from kgdash.studies.discovery.relation_scores import UnknownScores
from kgdash.studies.probability.answer_queries import INFINITE
from kgdash.studies.probability.calibration import Calibration, fit_calibration

#: what triples are ordered by
BY = {
    "probability": "the smaller of its probabilities as tail and as head",
    "score": "the model's score, as a tail",
}

#: which entities may be ends
TYPES = {
    "any": "all entities",
    "seen": "entities that a known triple of the relation has on that side",
}

#: heads that are looked at first, and how many times as many each time after
_FIRST, _MORE = 96, 4

#: bytes that a triple takes while it is among the best, or found
_EACH = 128

#: raise when the meaning of a stored table changes
_VERSION = 1


@dataclass(frozen=True)
class DiscoverySetting:
    """Which triples are looked for.

    ``k``: how many, ≥ 1; ``by``: of `BY`; ``types``: of `TYPES`; ``per_relation``: most of one
    relation (None: any number); ``relations``: names or labels of the only ones (empty: all);
    ``known``: the splits whose triples are no candidates; ``loops``: whether triples of an entity
    with itself are.
    """

    k: int = 1000
    by: str = "probability"
    types: str = "any"
    per_relation: int | None = None
    relations: tuple[str, ...] = ()
    known: tuple[str, ...] = SPLITS
    loops: bool = True

    def __post_init__(self) -> None:
        """Check all that does not depend on a graph.

        :raises KgdashError: if a choice is unknown or a number out of range
        """
        check_name("order", self.by, BY, "kgdash")
        check_name("choice of types", self.types, TYPES, "kgdash")
        for split in self.known:
            check_name("split", split, SPLITS, "the known triples")
        most = memory_budget() // _EACH
        for name, value in (("k", self.k), ("triples per relation", self.per_relation)):
            if value is not None and not 1 <= value <= most:
                raise KgdashError(
                    f"expected {name} between 1 and {most:,} (what $KGDASH_MEMORY holds); found "
                    f"{value:,}"
                )


def discover(run: Run, setting: DiscoverySetting, progress: Progress = silent) -> pd.DataFrame:
    """Find the best triples that are not known; kept on disk.

    :return: best first, equal ones by the ids of head, relation and tail: ``head, relation, tail``
        (int64 ids), ``score`` (float64, as a candidate for the tail); by probability also
        ``softmax`` (float64 in [0, 1], the smaller of both sides') and ``probability`` (the same,
        by the isotonic map); fewer than ``k`` where there are no more
    :raises KgdashError: on an unknown relation; on NaN; by probability also on infinite scores, and
        without validation triples
    """
    graph = run.graph
    relations = sorted({graph.relation_id(name) for name in setting.relations})
    chosen = relations or list(range(graph.num_relations))
    first, second = phases(progress, [1.0, 9.0] if setting.by == "probability" else [0.0, 1.0])
    fitted = fit_calibration(run, progress=first) if setting.by == "probability" else None
    known = tuple(split for split in SPLITS if split in setting.known)
    key = {"kind": "discovery", "discovery": _VERSION, **run.table_key(graph.all_triples)}
    key |= asdict(setting) | {"relations": relations, "known": known}
    about = run.table_about("discovery", graph.all_triples, filter="+".join(known))
    search = _Search(run, setting, fitted, graph.known(known))
    return cached_table(key, lambda: search.table(chosen, second), about, second)


@dataclass(frozen=True)
class _Search:
    run: Run
    setting: DiscoverySetting
    fitted: Calibration | None
    known: KnownTriples

    def table(self, relations: Sequence[int], progress: Progress) -> pd.DataFrame:
        scores = UnknownScores(self.run.scorer, self.known)
        best, graph = Best(self.setting.k), self.run.graph
        ends = seen_ends(graph, self.known) if self.setting.types == "seen" else None
        everyone = np.arange(graph.num_entities)
        reports = phases(progress, [1.0] * len(relations))
        for relation, report in zip(relations, reports, strict=True):
            heads, tails = (everyone, None) if ends is None else ends[relation]
            if not len(heads):
                continue
            most = min(self.setting.k, self.setting.per_relation or self.setting.k)
            own = _OfRelation(
                scores, relation, graph, heads, tails, Best(most, best.least), self.setting.loops
            )
            if self.fitted is None:
                own.by_score(report)
            else:
                own.by_probability(self.fitted, report)
            best.add(*own.best.result())
        return self._named(*best.result())

    def _named(self, value: np.ndarray, key: np.ndarray, score: np.ndarray) -> pd.DataFrame:
        pair, tail = np.divmod(key, self.run.graph.num_entities)
        head, relation = np.divmod(pair, self.run.graph.num_relations)
        table = pd.DataFrame({"head": head, "relation": relation, "tail": tail, "score": score})
        if self.fitted is not None:
            value = np.minimum(value, 0.0)
            table["softmax"], table["probability"] = np.exp(value), self.fitted.isotonic(value)
        return table


@dataclass(frozen=True)
class _OfRelation:
    """The search under one relation. ``heads``, ``tails``: the only ends; None: all entities."""

    scores: UnknownScores
    relation: int
    graph: KnowledgeGraph
    heads: np.ndarray
    tails: np.ndarray | None
    best: Best
    loops: bool

    def by_score(self, progress: Progress) -> None:
        def take(row: np.ndarray, column: np.ndarray, score: np.ndarray) -> None:
            triples = self._triples(row, column)
            if not self.loops:
                apart = triples[:, 0] != triples[:, 2]
                triples, score = triples[apart], score[apart]
            self.best.add(score.astype(np.float64), self._keys(triples), score)

        rows = self.scores.rows("tail", self.relation, self.heads, self.tails)
        rows.above(lambda a, b: _reached(np.full(b - a, self.best.least)), take, progress)

    def by_probability(self, fitted: Calibration, progress: Progress) -> None:
        beta = fitted.beta_under("tail", self.relation)
        high, norm = self.scores.rows("tail", self.relation, self.heads).normalisers(beta, progress)
        refuse_infinite(high)
        as_head = _HeadSoftmax(self.scores, self.relation, fitted, self.graph.num_entities)
        with np.errstate(invalid="ignore"):
            first = np.where(np.isneginf(high), -np.inf, beta * high - norm)
        order = np.argsort(-first, kind="stable")
        order = order[~np.isneginf(first[order])]
        columns = self.graph.num_entities if self.tails is None else len(self.tails)
        most = max(1, memory_budget() // 4 // (_EACH * max(1, columns)))
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
                if not self.loops:
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
        rows = self.scores.rows("tail", self.relation, self.heads[chosen], self.tails)
        least = (self.best.least + norm[chosen]) / beta
        rows.above(
            lambda a, b: _reached(least[a:b]),
            lambda row, column, score: found.append((chosen[row], column, score)),
        )
        return found

    def _triples(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        tail = column if self.tails is None else self.tails[column]
        return np.stack([self.heads[row], np.full(len(row), self.relation), tail], axis=1)

    def _keys(self, triples: np.ndarray) -> np.ndarray:
        head, relation, tail = triples.T
        return (head * self.graph.num_relations + relation) * self.graph.num_entities + tail


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
            refuse_infinite(high)
        own = self._scores.as_heads(triples, score)
        return self._beta * own - self._norm[triples[:, 2]]


def seen_ends(graph: KnowledgeGraph, known: KnownTriples) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return, for each relation, the heads and the tails of its known triples, ascending."""
    triples = known.triples()
    order = np.argsort(triples[:, 1], kind="stable")
    cuts = np.searchsorted(triples[order, 1], np.arange(1, graph.num_relations))
    parts = np.split(triples[order], cuts)
    return [(np.unique(part[:, 0]), np.unique(part[:, 2])) for part in parts]


def refuse_infinite(high: np.ndarray) -> None:
    """Refuse scores that have no probability.

    :raises KgdashError: if one of the greatest scores is infinite
    """
    if np.isposinf(high).any():
        raise KgdashError(INFINITE)


def _reached(least: np.ndarray) -> np.ndarray:
    """Return float32 bounds that are not above some float64 ones."""
    near = least.astype(np.float32)
    return np.where(near > least, np.nextafter(near, np.float32(-np.inf)), near)
