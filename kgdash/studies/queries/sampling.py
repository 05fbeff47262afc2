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
from kgdash.files.memory import memory_budget
from kgdash.graph import SPLITS, KnowledgeGraph
from kgdash.progress import Beat, Progress, silent, stretch, unheard
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

#: queries per type at most, candidates that are drawn at once, answers of those judged at once,
#: and bytes that each answer of a query takes
_MOST, _CANDIDATES, _ANSWERS, _BYTES = 100_000, 2**15, 2**21, 64


@dataclass(frozen=True)
class QuerySampling:
    """Which queries are sampled from a graph.

    ``types`` are any of `QUERY_TYPES`; ``per_type`` queries of each, 1 to 100,000, fewer where the
    graph has no more. ``hard`` is one of `HARD`: a hard answer holds in the graph but not on these
    splits. ``seed``: same seed, same queries; those of a type do not depend on the others. Queries
    that reach more than ``max_answers`` entities after any step are left out, so that answer sets
    stay sensible. With ``follow_backwards`` queries follow relations from tail to head, too; then
    none goes back by the relation that it just came by.

    :raises KgdashError: if a name is unknown or a number out of range
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
        if not 1 <= self.per_type <= _MOST:
            raise KgdashError(f"expected 1 to {_MOST:,} queries per type; found {self.per_type:,}")
        if self.max_answers < 1 or not self.types:
            raise KgdashError("expected at least one type and one answer")


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
    :raises KgdashError: if no triple is held out, or the answers take more than $KGDASH_MEMORY
    """
    sampling = sampling or QuerySampling()
    facts = Adjacency.both_ways(graph), Adjacency.both_ways(graph, HARD[sampling.hard])
    growth = Growth.of(graph, _held_out(graph, sampling.hard), sampling.follow_backwards)
    evaluation = _Evaluation(*facts, sampling)
    drawn, names = dict[str, AskedQueries](), list(dict.fromkeys(sampling.types))
    for done, name in enumerate(names):
        rng = np.random.default_rng([sampling.seed, list(QUERY_TYPES).index(name)])
        room = memory_budget() // _BYTES - sum(len(asked.answers) for asked in drawn.values())
        report = stretch(progress, done, done + 1, len(names))
        drawn[name] = _collect(growth, evaluation, QUERY_TYPES[name], rng, room, report)
        report(1, 1)
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
    sampling: QuerySampling

    @property
    def at_once(self) -> int:
        """Return of how many candidates the answers are held at once."""
        return max(1, _ANSWERS // min(self.sampling.max_answers, self.facts.num_entities))

    def asked(
        self, kind: QueryType, anchors: np.ndarray, relations: np.ndarray, beat: Beat = unheard
    ) -> AskedQueries:
        """Answer candidates and keep those that have a hard answer and do not reach too much."""
        most = self.sampling.max_answers
        owner, answers, _ = answer_sets(self.facts, kind, anchors, relations, most, beat)
        width = self.facts.num_entities
        some = np.bincount(owner, minlength=len(anchors))
        open_ones = np.flatnonzero((some > 0) & (some < width))
        of, easy, _ = answer_sets(
            self.easy, kind, anchors[open_ones], relations[open_ones], None, beat
        )
        hard = ~np.isin(owner * width + answers, open_ones[of] * width + easy)
        queries = AskedQueries(kind, anchors, relations, owner, answers, hard)
        has_hard = np.bincount(owner, weights=hard, minlength=len(anchors)) > 0
        return queries.take(np.flatnonzero(has_hard & (some < width)))


def _collect(
    growth: Growth,
    evaluation: _Evaluation,
    kind: QueryType,
    rng: np.random.Generator,
    room: int,
    progress: Progress,
) -> AskedQueries:
    """Draw queries of a type; ``room``: answers that they may have together."""
    seen: set[bytes] = set()
    found = [evaluation.asked(kind, *growth.candidates(kind, 0, rng))]
    wanted, count, fruitless = evaluation.sampling.per_type, 0, 0
    for _ in range(_DRAWS):
        before, candidates = count, min(_CANDIDATES, max(128, 2 * (wanted - count)))
        anchors, relations = growth.candidates(kind, candidates, rng)
        new = _unseen(np.hstack([anchors, relations]), seen)
        for start in range(0, len(new), evaluation.at_once):
            some = new[start : start + evaluation.at_once]
            beat = partial(progress, count, wanted)
            asked = evaluation.asked(kind, anchors[some], relations[some], beat)
            found.append(asked.take(np.arange(min(len(asked), wanted - count))))
            count, room = count + len(found[-1]), room - len(found[-1].answers)
            if room < 0:
                raise KgdashError(
                    f"the answers of {count:,} queries of type {kind.name} and of those before "
                    "take more than $KGDASH_MEMORY holds: take fewer queries, or fewer answers "
                    "(max_answers)"
                )
            if count == wanted:
                return joined(found)
        fruitless = 0 if count > before else fruitless + 1
        if fruitless == _FRUITLESS:
            break
    return joined(found)


def _unseen(rows: np.ndarray, seen: set[bytes]) -> list[int]:
    """Return the positions of the rows that are new, each once, and remember them."""
    new = []
    for position, row in enumerate(map(bytes, np.ascontiguousarray(rows))):
        if row not in seen:
            seen.add(row)
            new.append(position)
    return new
