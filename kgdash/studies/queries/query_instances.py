"""Labelled instances of queries: hard true answers, and false ones beside them.

Defined in numbers.md#8-queries.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.bounds import written_once
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.studies.instances.instances import TRIPLE_COLUMNS, Instances, make_instances
from kgdash.studies.queries.adjacency import Adjacency
from kgdash.studies.queries.answer_pairs import AnswerPairs, Ranges, answer_pairs
from kgdash.studies.queries.beam import Beam
from kgdash.studies.queries.blocks import query_blocks
from kgdash.studies.queries.paths import (
    Reached,
    add_answer_edges,
    draw_path_numbers,
    follow_relation,
    last_hop,
    list_paths,
    reach_before_last_hop,
)
from kgdash.studies.queries.query_types import QUERY_TYPES, AskedQueries, QueryType, question

#: queries handled at once: all paths to all their answers are counted together
_AT_ONCE = 256


@dataclass(frozen=True)
class AnswerSampling:
    """How answers of queries, and paths to them, are drawn.

    ``per_type``: most queries per type, a random choice; None for all. ``seed``: same seed, same
    answers and paths; those of a type do not depend on the others. ``max_paths``: paths per answer,
    a random choice; a beam keeps all of its own. ``beam`` finds the entities between anchors and
    answer; None to find them on the graph.

    :raises KgdashError: if ``per_type`` or ``max_paths`` is below 1
    """

    per_type: int | None = None
    seed: int = 0
    max_paths: int = 10
    beam: Beam | None = None

    def __post_init__(self) -> None:
        if min(self.max_paths, 1 if self.per_type is None else self.per_type) < 1:
            raise KgdashError("expected at least one query per type and one path per answer")


def query_instances(
    graph: KnowledgeGraph,
    asked: Mapping[str, AskedQueries],
    sampling: AnswerSampling | None = None,
    progress: Progress = silent,
) -> Instances:
    """Draw a hard true answer and a false one of each query, with the paths that lead to them.

    The true answer is drawn from the hard ones that hold in F. The false one does not hold in F; it
    is drawn from the range of the last relation (where branches end in the answer: of all of them,
    else of any), else from all entities.

    Paths to the true answer hold in F; those to the false one hold in F but for the triples that
    end in it, whose other ends have such a triple; and there are at most as many as to the true
    one, so that "best" is no best of more. A union's path takes one branch, a false answer's one in
    whose range it is, if any. With a beam, the entities between anchors and answer, of true and
    false ones alike, are those that the model finds, whether facts or not.

    :param graph: F is all its splits
    :param asked: by type, sampled or imported; answers that do not hold in F are no true ones
    :param sampling: None for all queries, with at most ten paths per answer on the graph
    :return: groups are the types; two instances per query, the true one first. ``notes`` counts
        queries left out because they have no hard answer in F, or no false one
    :raises KgdashError: if a score of the model is NaN
    """
    sampling = sampling or AnswerSampling()
    ranges = Ranges.of(Adjacency.both_ways(graph))
    write = written_once(partial(question, graph), "the questions of these queries")
    answer = written_once(graph.entity_lookup.distinct_label, "the answers of these queries")
    writer = _Writer(graph, ranges, sampling, write, answer)
    wanted = {name: min(len(of), sampling.per_type or len(of)) for name, of in asked.items()}
    parts: list[pd.DataFrame] = [pd.DataFrame(columns=TRIPLE_COLUMNS)]
    described: list[tuple[int, str, str]] = []
    notes: list[str] = []
    for name, queries in asked.items():
        rng = np.random.default_rng([sampling.seed, list(QUERY_TYPES).index(name), 1])
        report = partial(progress, len(described) / 2, sum(wanted.values()))
        pairs = answer_pairs(ranges, queries, sampling.per_type, rng, report)
        notes += _notes(name, pairs, graph)
        picked = pairs.asked
        for block in query_blocks(
            ranges.facts, picked.kind, picked.anchors, picked.relations, writer.at_once
        ):
            progress(len(described) / 2, sum(wanted.values()))
            rows = writer.rows(pairs, block, rng)
            parts.append(rows.assign(group=name, instance=rows["instance"] + len(described)))
            described += writer.described(pairs, block, len(described))
    progress(1, 1)
    table = pd.DataFrame(described, columns=["instance", "question", "answer"], dtype=object)
    return make_instances(pd.concat(parts, ignore_index=True), table, notes)


def _notes(name: str, pairs: AnswerPairs, graph: KnowledgeGraph) -> list[str]:
    counted = (
        (pairs.not_held, f"hard answers that do not hold in graph {graph.name}"),
        (pairs.no_true, "queries without a hard answer that holds"),
        (pairs.no_false, "queries that every entity answers"),
    )
    return [f"{name}: left out {text}: {count:,}" for count, text in counted if count]


@dataclass(frozen=True)
class _Writer:
    """Writes down the instances of blocks of queries."""

    graph: KnowledgeGraph
    ranges: Ranges
    sampling: AnswerSampling
    write: Callable[..., str]
    write_answer: Callable[..., str]

    @property
    def at_once(self) -> int:
        return min(_AT_ONCE, beam.queries_at_once if (beam := self.sampling.beam) else _AT_ONCE)

    def rows(self, pairs: AnswerPairs, block: range, rng: np.random.Generator) -> pd.DataFrame:
        """Return the triples of a block's instances, numbered from 0: `TRIPLE_COLUMNS`."""
        asked = pairs.asked.take(block)
        true, false = (answers[block.start : block.stop] for answers in (pairs.true, pairs.false))
        to_true, to_false = self._reach(asked, true, false)
        start, frames = np.arange(len(block)) * self.graph.num_entities, []
        beam = self.sampling.beam
        most = np.full(len(block), beam.width if beam else self.sampling.max_paths)
        for label, reached, answers in ((True, to_true, true), (False, to_false, false)):
            places, _ = reached.find(start + answers)
            owner, numbers = draw_path_numbers(reached.num_paths[places], most, rng)
            triples = list_paths(reached, places[owner], numbers)
            frames.append(self._frame(asked.kind, label, owner, triples))
            most = np.bincount(owner, minlength=len(block))
        return pd.concat(frames)

    def _reach(
        self, asked: AskedQueries, true: np.ndarray, false: np.ndarray
    ) -> tuple[Reached, Reached]:
        """Reach the true answers, and the false ones."""
        kind, relations, facts = asked.kind, asked.relations, self.ranges.facts
        if self.sampling.beam and kind.has_intermediates:
            best = self.sampling.beam.reach(kind, asked.anchors, relations)

            def to(answers: np.ndarray) -> Reached:
                return last_hop(
                    kind, best, lambda at, c, _: add_answer_edges(at, relations[:, c], answers)
                )

            return to(true), to(false)
        before = reach_before_last_hop(facts, kind, asked.anchors, relations)
        allowed = self._branches(asked, false)

        def along_facts(at: Reached, column: int, _: int) -> Reached:
            return follow_relation(facts, at, relations[:, column])

        def to_false(at: Reached, column: int, number: int) -> Reached:
            leads = facts.count(at.entity, relations[at.query, column]) > 0
            mask = leads & allowed[at.query, number]
            return add_answer_edges(at, relations[:, column], false, mask)

        return last_hop(kind, before, along_facts), last_hop(kind, before, to_false)

    def _branches(self, asked: AskedQueries, false: np.ndarray) -> np.ndarray:
        """Tell which of the last hops may lead to the false answers: bool ``(n, last hops)``."""
        kind, last = asked.kind, asked.relations[:, list(asked.kind.last_columns)]
        if kind.join != "or" or kind.after:
            return np.ones(last.shape, dtype=bool)
        leads = self.ranges.facts.count(asked.anchors, last) > 0
        fits = leads & self.ranges.contains(false[:, None], last)
        return np.where(fits.any(axis=1, keepdims=True), fits, leads)

    def _frame(
        self, kind: QueryType, label: bool, owner: np.ndarray, triples: np.ndarray
    ) -> pd.DataFrame:
        count, size, _ = triples.shape
        ending = kind.last_columns if kind.join == "and" else (size - 1,)
        number = np.arange(count) - np.searchsorted(owner, owner)
        start, relation, end = triples.reshape(-1, 3).T
        back = relation >= self.graph.num_relations
        return pd.DataFrame(
            {
                "instance": np.repeat(2 * owner + (not label), size),
                "grounding": np.repeat(number, size),
                "label": label,
                "head": np.where(back, end, start),
                "relation": relation % self.graph.num_relations,
                "tail": np.where(back, start, end),
                "is_answer_triple": np.tile(np.isin(np.arange(size), ending), count),
                "predicted_side": np.where(back, "head", "tail"),
            }
        )

    def described(
        self, pairs: AnswerPairs, block: range, number: int
    ) -> list[tuple[int, str, str]]:
        """Return number, question and answer of each instance of a block."""
        asked = pairs.asked
        found: list[tuple[int, str, str]] = []
        for i in block:
            ids = (tuple(asked.anchors[i].tolist()), tuple(asked.relations[i].tolist()))
            text = self.write(asked.kind, *ids)
            for answer in (pairs.true[i], pairs.false[i]):
                found.append((number + len(found), text, self.write_answer(int(answer))))
        return found
