"""Queries sampled from a graph, with all their answers, of which some are hard.

Defined in numbers.md#8-queries. As Hamilton et al. (2018), Query2box and BetaE sample theirs (cited
in `query_types`): a type is grounded by triples of the graph, and queries without a hard answer are
left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from kgdash.errors import KgdashError, check_name
from kgdash.graph import SPLITS, KnowledgeGraph
from kgdash.progress import Beat, Progress, silent
from kgdash.studies.queries.adjacency import Adjacency
from kgdash.studies.queries.answer_sets import answer_sets
from kgdash.studies.queries.grounding import Growth
from kgdash.studies.queries.query_types import (
    HARD,
    PAPER_TYPES,
    QUERY_TYPES,
    AskedQueries,
    QueryType,
    joined,
)

#: draws in a row that bring no new query, and draws at all, after which the search ends
_FRUITLESS, _DRAWS = 5, 100


@dataclass(frozen=True)
class QuerySampling:
    """Which queries are sampled from a graph.

    ``types`` are any of `QUERY_TYPES`; ``per_type`` queries of each, ≥ 1, fewer where the graph has
    no more. ``hard`` is one of `HARD`: a hard answer holds in the graph but not on these splits.
    ``seed``: same seed, same queries; those of a type do not depend on the others. Queries that
    reach more than ``max_answers`` entities after any step are left out, so that answer sets stay
    sensible. With ``follow_backwards`` queries follow relations from tail to head, too; then none
    goes back by the relation that it just came by.

    :raises KgdashError: if a name is unknown or a number below 1
    """

    types: Sequence[str] = PAPER_TYPES
    per_type: int = 50
    hard: str = "outside train"
    seed: int = 0
    max_answers: int = 1000
    follow_backwards: bool = False

    def __post_init__(self) -> None:
        for kind in self.types:
            check_name("query type", kind, QUERY_TYPES, "kgdash")
        check_name("meaning of hard", self.hard, HARD, "kgdash")
        if min(self.per_type, self.max_answers) < 1 or not self.types:
            raise KgdashError("expected at least one type, one query per type and one answer")


def draw_queries(
    graph: KnowledgeGraph, sampling: QuerySampling | None = None, progress: Progress = silent
) -> dict[str, AskedQueries]:
    """Sample queries that have a hard answer, with all their answers in F.

    A query grows around a random held-out triple, put at a random place of its type, and is
    completed by random facts of F; the other branch of a union grows from an entity that could
    stand in the first one's place, since two branches to one answer are seldom both held out.
    Queries of a type are distinct, whatever the order of their branches, and their anchors are
    distinct entities. Some entity does not answer them.

    :param graph: F is all its splits
    :param sampling: None for fifty of each of `PAPER_TYPES`
    :return: by type, in the order of ``sampling.types``
    :raises KgdashError: if no triple is held out
    """
    sampling = sampling or QuerySampling()
    facts = Adjacency.both_ways(graph), Adjacency.both_ways(graph, HARD[sampling.hard])
    growth = Growth.of(graph, _held_out(graph, sampling.hard), sampling.follow_backwards)
    drawn, names = {}, list(dict.fromkeys(sampling.types))
    for done, name in enumerate(names):
        rng = np.random.default_rng([sampling.seed, list(QUERY_TYPES).index(name)])
        beat = partial(progress, done, len(names))
        evaluation = _Evaluation(*facts, sampling.max_answers, beat)
        drawn[name] = _collect(growth, evaluation, QUERY_TYPES[name], sampling.per_type, rng)
        progress(done + 1, len(names))
    return drawn


def _held_out(graph: KnowledgeGraph, hard: str) -> np.ndarray:
    facts = graph.all_triples
    held_out = facts[~graph.known(HARD[hard]).contains(facts)]
    if not len(held_out):
        others = " or ".join(s for s in SPLITS if s not in HARD[hard])
        raise KgdashError(
            f"no answer is hard in graph {graph.name}: its split {others} holds no triple "
            f"{hard}; choose another meaning of hard or a dataset with held-out triples"
        )
    return held_out


@dataclass(frozen=True)
class _Evaluation:
    """Finds the answers of candidates, and which candidates are queries worth asking."""

    facts: Adjacency
    easy: Adjacency
    max_answers: int
    beat: Beat

    def asked(self, kind: QueryType, anchors: np.ndarray, relations: np.ndarray) -> AskedQueries:
        """Answer candidates and keep those that have a hard answer and do not reach too much."""
        owner, answers, _ = answer_sets(
            self.facts, kind, anchors, relations, self.max_answers, self.beat
        )
        width = self.facts.num_entities
        some = np.bincount(owner, minlength=len(anchors))
        open_ones = np.flatnonzero((some > 0) & (some < width))
        of, easy, _ = answer_sets(
            self.easy, kind, anchors[open_ones], relations[open_ones], None, self.beat
        )
        hard = ~np.isin(owner * width + answers, open_ones[of] * width + easy)
        queries = AskedQueries(kind, anchors, relations, owner, answers, hard)
        has_hard = np.bincount(owner, weights=hard, minlength=len(anchors)) > 0
        return queries.take(np.flatnonzero(has_hard & (some < width)))


def _collect(
    growth: Growth, evaluation: _Evaluation, kind: QueryType, wanted: int, rng: np.random.Generator
) -> AskedQueries:
    seen: set[tuple[int, ...]] = set()
    found = [evaluation.asked(kind, *growth.candidates(kind, 0, rng))]
    count = fruitless = 0
    for _ in range(_DRAWS):
        anchors, relations = growth.candidates(kind, max(128, 2 * (wanted - count)), rng)
        new = _unseen(np.hstack([anchors, relations]), seen)
        asked = evaluation.asked(kind, anchors[new], relations[new])
        found.append(asked.take(np.arange(min(len(asked), wanted - count))))
        count += len(found[-1])
        fruitless = 0 if len(found[-1]) else fruitless + 1
        if count == wanted or fruitless == _FRUITLESS:
            break
    return joined(found)


def _unseen(rows: np.ndarray, seen: set[tuple[int, ...]]) -> list[int]:
    """Return the positions of the rows that are new, each once, and remember them."""
    new = []
    for position, row in enumerate(map(tuple, rows.tolist())):
        if row not in seen:
            seen.add(row)
            new.append(position)
    return new
