"""Table of ranks → what each rank can be grouped by: counts, kinds and names.

Defined in numbers.md#13-breakdowns.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph import IDS, KnowledgeGraph
from kgdash.graph.ends import train_degrees
from kgdash.graph.known_triples import triple_keys
from kgdash.graph.relation_patterns import (
    CARDINALITIES,
    NO_PATTERN,
    NOT_IN_TRAIN,
    PATTERNS,
    stored_relation_kinds,
)
from kgdash.progress import Progress, silent
from kgdash.ranking.metrics import POOLS

#: the sides that a table of ranks can have, in the order of the categories of ``side``
SINGLE_SIDES = [side for side in POOLS if side != "both"]

#: where buckets of counts start: 0, 1, 2, 3, 10, 30, 100, …
_STARTS = np.array([0, 1, 2, *(m * 10**e for e in range(12) for m in (3, 10))], dtype=np.int64)


@dataclass(frozen=True)
class RankFacts:
    """What the graph says of each rank of a table of `kgdash.runs.Run.ranks`."""

    ranks: pd.DataFrame
    graph: KnowledgeGraph
    progress: Progress = silent

    @cached_property
    def triples(self) -> np.ndarray:
        """Return the ids of the ranked triples: int64, shape ``(n, 3)``."""
        return self.ranks[IDS].to_numpy()

    @cached_property
    def sides(self) -> pd.Categorical:
        """Return the sides, as a category of `SINGLE_SIDES`."""
        return pd.Categorical(self.ranks["side"], categories=SINGLE_SIDES)

    @cached_property
    def relation_kinds(self) -> pd.DataFrame:
        """Return what the train triples say of the relations."""
        return stored_relation_kinds(self.graph, self.progress)

    def degree(self, column: str) -> np.ndarray:
        """Count the train triples that the "head" or the "tail" is an end of: int64 ``(n,)``."""
        return self._train_degrees[self.ranks[column].to_numpy()]

    @property
    def frequency(self) -> np.ndarray:
        """Count the train triples of the relation: int64 ``(n,)``."""
        return self.relation_kinds["train"].to_numpy()[self.triples[:, 1]]

    @property
    def equal_scores(self) -> np.ndarray:
        """Count the other candidates with the true answer's score: int64 ``(n,)``."""
        return (self.ranks["pessimistic"] - self.ranks["optimistic"]).to_numpy()

    @cached_property
    def answers(self) -> np.ndarray:
        """Count the known answers of each row's query, the true one included: int64 ``(n,)``."""
        known, (found, places) = self.graph.known(), self._distinct
        is_new = ~known.contains(found)
        counts = np.ones(len(places), dtype=np.int64)
        for code, side in enumerate(SINGLE_SIDES):
            at = np.flatnonzero(self.sides.codes == code)
            if len(at):
                counts[at] = (known.count_known_answers(found, side) + is_new)[places[at]]
        return counts

    @property
    def triple(self) -> np.ndarray:
        """Number the triples, ascending, the same for the rows of the same one: int64 ``(n,)``."""
        return self._distinct[1]

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct triples, ``(m, 3)``, and which of them each row has, ``(n,)``.

        They are sorted, so that those that are looked up are near one another: a third of the time.
        """
        sizes = (self.graph.num_entities, self.graph.num_relations)
        keys, places = np.unique(triple_keys(self.triples, *sizes), return_inverse=True)
        queries, tails = np.divmod(keys, sizes[0])
        return np.stack([*np.divmod(queries, sizes[1]), tails], axis=1), places

    def kind(self, column: str) -> pd.Categorical:
        """Return the relation's "cardinality" or "pattern" as an ordered category."""
        order = CARDINALITIES if column == "cardinality" else (*PATTERNS, NO_PATTERN)
        names = [*order, NOT_IN_TRAIN]
        codes = pd.Categorical(self.relation_kinds[column], names).codes
        return _categories(codes[self.triples[:, 1]], names)

    @cached_property
    def _train_degrees(self) -> np.ndarray:
        return train_degrees(self.graph)


def add_rank_facts(
    ranks: pd.DataFrame, graph: KnowledgeGraph, progress: Progress = silent
) -> pd.DataFrame:
    """Add what a table of ranks can be grouped by.

    :param ranks: of `kgdash.runs.Run.ranks`, at least one row
    :param progress: of the patterns of relations; may raise to end it
    :return: `add_relations` with these ordered categories of str: ``cardinality`` and ``pattern``
        (of `kgdash.graph.relation_patterns.relation_kinds`), ``head_degree`` and ``tail_degree``
        (train triples that the entity is an end of), ``answers`` (known answers of the row's query
        in train ∪ valid ∪ test, the true one included: what the default filter removes, and 1) and
        ``frequency`` (train triples of the relation)
    :raises KgdashError: if the table has no rows
    """
    facts = RankFacts(ranks, graph, progress)
    table = _with_relations(facts)
    table["cardinality"], table["pattern"] = facts.kind("cardinality"), facts.kind("pattern")
    table["head_degree"] = _buckets(facts.degree("head"))
    table["tail_degree"] = _buckets(facts.degree("tail"))
    table["answers"] = _buckets(facts.answers)
    table["frequency"] = _buckets(facts.frequency)
    return table


def add_relations(ranks: pd.DataFrame, graph: KnowledgeGraph) -> pd.DataFrame:
    """Add what a table of ranks can be grouped by relation with, and no more.

    :param ranks: of `kgdash.runs.Run.ranks`, at least one row
    :return: a copy with ``side`` as a category, ``relation_name``, an ordered category of str (the
        label; where several relations have it, the name beside it), and ``triple`` (int64: the same
        for the rows of the same triple)
    :raises KgdashError: if the table has no rows
    """
    return _with_relations(RankFacts(ranks, graph))


def _with_relations(facts: RankFacts) -> pd.DataFrame:
    if not len(facts.ranks):
        raise KgdashError("there are no ranks to break down: the set of triples is empty")
    names = _categories(facts.triples[:, 1], _distinct_labels(facts.graph))
    return facts.ranks.assign(side=facts.sides, relation_name=names, triple=facts.triple)


def _categories(codes: np.ndarray, names: list[str]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, pd.Index(names, dtype=object), ordered=True)


def _distinct_labels(graph: KnowledgeGraph) -> list[str]:
    labels = [graph.relation_lookup.distinct_label(each) for each in range(graph.num_relations)]
    return labels if len(set(labels)) == len(labels) else list(graph.relations)


def _buckets(counts: np.ndarray) -> pd.Categorical:
    """Name the bucket of each count; only buckets up to the largest count are categories."""
    every = np.arange(int(counts.max()) + 1)
    codes = (np.searchsorted(_STARTS, every, side="right") - 1)[counts]
    names = [
        f"{start:,}" if stop == start + 1 else f"{start:,}–{stop - 1:,}"
        for start, stop in pairwise(_STARTS.tolist())
    ]
    return _categories(codes, names[: int(codes.max()) + 1])
