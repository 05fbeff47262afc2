"""Types of logical queries, queries with their answers as arrays, and how they read.

Defined in numbers.md#8-queries. Conjunctive queries over knowledge graphs, answered in embedding
space: Hamilton, Bajaj, Zitnik, Jurafsky and Leskovec, "Embedding Logical Queries on Knowledge
Graphs", NeurIPS 2018 (GQE). The nine types are those of Ren, Hu and Leskovec, "Query2box: Reasoning
over Knowledge Graphs in Vector Space Using Box Embeddings", ICLR 2020; their names those of Ren and
Leskovec, "Beta Embeddings for Multi-Hop Logical Reasoning in Knowledge Graphs", NeurIPS 2020
(BetaE).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.graph.sorted_slices import expand_slices


@dataclass(frozen=True)
class QueryType:
    """The shape of a query, named as in BetaE.

    ``branches`` are numbers of relations, each followed from an anchor of its own; where there are
    several, their ends are joined: "and" keeps the entities at which all of them end, "or" those of
    any. ``after`` relations are followed from there to the answer. ``words`` say it.
    """

    name: str
    words: str
    branches: tuple[int, ...]
    join: str = ""
    after: int = 0

    @property
    def num_relations(self) -> int:
        """Return the number of relations of a query: those of the branches, then those after."""
        return sum(self.branches) + self.after

    @property
    def branch_columns(self) -> tuple[range, ...]:
        """Return which of a query's relations each branch follows, in their order."""
        ends = np.cumsum((0, *self.branches)).tolist()
        return tuple(range(start, stop) for start, stop in itertools.pairwise(ends))

    @property
    def after_columns(self) -> range:
        """Return which of a query's relations are followed after the join."""
        return range(sum(self.branches), self.num_relations)

    @property
    def last_columns(self) -> tuple[int, ...]:
        """Return which of a query's relations lead to the answer."""
        if self.after:
            return (self.num_relations - 1,)
        return tuple(columns[-1] for columns in self.branch_columns)

    @property
    def has_intermediates(self) -> bool:
        """Tell whether there are entities between the anchors and the answer."""
        return self.after > 0 or max(self.branches) > 1


#: query type by its name
QUERY_TYPES = {
    kind.name: kind
    for kind in (
        QueryType("1p", "one relation", (1,)),
        QueryType("2p", "two relations in a row", (2,)),
        QueryType("3p", "three relations in a row", (3,)),
        QueryType("2i", "two relations that meet", (1, 1), "and"),
        QueryType("3i", "three relations that meet", (1, 1, 1), "and"),
        QueryType("pi", "two in a row and one that meet", (2, 1), "and"),
        QueryType("ip", "two that meet, then one more", (1, 1), "and", 1),
        QueryType("2u", "either of two relations", (1, 1), "or"),
        QueryType("up", "either of two, then one more", (1, 1), "or", 1),
    )
}


def are_alike(kind: QueryType) -> bool:
    """Tell whether a type has several branches that may stand in any order."""
    return len(kind.branches) > 1 and max(kind.branches) == 1


def in_order(
    kind: QueryType, anchors: np.ndarray, relations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Put branches that are alike in one order, so that queries that ask the same are equal.

    :param anchors: int64, ``(n, branches)``
    :param relations: int64, ``(n, kind.num_relations)``
    :return: both by ids of anchors, then of relations, where branches are alike; else as they are
    """
    if not are_alike(kind):
        return anchors, relations
    branches = len(kind.branches)
    order = np.lexsort((relations[:, :branches], anchors), axis=1)
    before = np.take_along_axis(relations[:, :branches], order, axis=1)
    return np.take_along_axis(anchors, order, axis=1), np.hstack([before, relations[:, branches:]])


def repeat_a_branch(kind: QueryType, anchors: np.ndarray, relations: np.ndarray) -> np.ndarray:
    """Tell which queries have one branch twice, and so ask what a query of another type asks.

    :return: bool, ``(n,)``
    """
    if not are_alike(kind):
        return np.zeros(len(anchors), dtype=bool)
    anchors, relations = in_order(kind, anchors, relations)
    same = (np.diff(anchors) == 0) & (np.diff(relations[:, : anchors.shape[1]]) == 0)
    return same.any(axis=1)


def in_words(names: Iterable[str]) -> dict[str, str]:
    """Say what query types are, those among names: "2p" is "2p: two relations in a row"."""
    return {name: f"{name}: {QUERY_TYPES[name].words}" for name in names if name in QUERY_TYPES}


#: the types of the ReliK paper
PAPER_TYPES = ("1p", "2p", "3p", "2i", "3i")

#: meaning of "hard" -> splits on which a hard answer does not hold. An *easy* answer is reached on
#: these splits; a *hard* one needs an edge that they lack. Query2box and BetaE take train for the
#: queries of valid, and train ∪ valid for those of test.
HARD: dict[str, tuple[str, ...]] = {
    "outside train": ("train",),
    "outside train+valid": ("train", "valid"),
}


@dataclass(frozen=True)
class AskedQueries:
    """Queries of one type, with their answers.

    ``anchors`` int64 ``(n, branches)``; ``relations`` int64 ``(n, num_relations)``, branch by
    branch, then those after the join: a relation's id, or the id + |R| if it is followed from tail
    to head. ``owner`` int64 ``(m,)``, ascending: which query each answer is of; ``answers`` int64
    ``(m,)``, ascending within a query, each once; ``hard`` bool ``(m,)``.
    """

    kind: QueryType
    anchors: np.ndarray
    relations: np.ndarray
    owner: np.ndarray
    answers: np.ndarray
    hard: np.ndarray

    def __post_init__(self) -> None:
        """Check the shapes.

        :raises KgdashError: if they do not fit the type or one another
        """
        count, expected = len(self.anchors), (len(self.kind.branches), self.kind.num_relations)
        found = (self.anchors.shape[1:], self.relations.shape)
        if found != (expected[:1], (count, expected[1])) or not (
            len(self.owner) == len(self.answers) == len(self.hard)
        ):
            raise KgdashError(
                f"a query of type {self.kind.name} has {expected[0]} anchors and {expected[1]} "
                f"relations; found arrays of shapes {self.anchors.shape}, {self.relations.shape}, "
                f"and {len(self.owner)}, {len(self.answers)}, {len(self.hard)} answers"
            )

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.anchors)

    def take(self, chosen: Sequence[int] | np.ndarray) -> AskedQueries:
        """Return some of the queries, by position, in the order given."""
        places = np.asarray(chosen, dtype=np.int64)
        ends = np.searchsorted(self.owner, np.arange(len(self) + 1))
        owner, rows = expand_slices(ends[places], np.diff(ends)[places])
        return AskedQueries(
            self.kind,
            self.anchors[places],
            self.relations[places],
            owner,
            self.answers[rows],
            self.hard[rows],
        )


def joined(parts: Sequence[AskedQueries]) -> AskedQueries:
    """Put queries of one type one after another.

    :param parts: at least one
    """
    offsets = np.cumsum([0, *(len(part) for part in parts)])
    owners = [part.owner + offset for part, offset in zip(parts, offsets, strict=False)]
    return AskedQueries(
        parts[0].kind,
        np.concatenate([part.anchors for part in parts]),
        np.concatenate([part.relations for part in parts]),
        np.concatenate(owners),
        np.concatenate([part.answers for part in parts]),
        np.concatenate([part.hard for part in parts]),
    )


def question(
    graph: KnowledgeGraph, kind: QueryType, anchors: Sequence[int], relations: Sequence[int]
) -> str:
    """Write a query in labels: ``treats(aspirin, x) ∧ symptom of(x, ?)``.

    An atom is the fact that is looked for, so that a relation followed backwards has the variable
    that it leads to in first place: ``symptom of(?, fever)``.

    :param anchors: ids, one per branch
    :param relations: ids, ``kind.num_relations`` of them, id + |R| if followed backwards
    """
    names = iter("xyz")
    join = "?" if not kind.after else next(names)
    branches = []
    for anchor, columns in zip(anchors, kind.branch_columns, strict=True):
        nodes = [
            graph.entity_lookup.distinct_label(anchor),
            *(next(names) for _ in columns[1:]),
            join,
        ]
        branches.append(_atoms(graph, nodes, [relations[c] for c in columns]))
    text = (" ∨ " if kind.join == "or" else " ∧ ").join(branches)
    if not kind.after:
        return text
    nodes = [join, *(next(names) for _ in kind.after_columns[1:]), "?"]
    text = f"({text})" if kind.join == "or" else text
    return f"{text} ∧ {_atoms(graph, nodes, [relations[c] for c in kind.after_columns])}"


def _atoms(graph: KnowledgeGraph, nodes: Sequence[str], relations: Sequence[int]) -> str:
    atoms = []
    for start, end, relation in zip(nodes[:-1], nodes[1:], relations, strict=True):
        ends = (start, end) if relation < graph.num_relations else (end, start)
        label = graph.relation_lookup.distinct_label(relation % graph.num_relations)
        atoms.append(f"{label}({ends[0]}, {ends[1]})")
    return " ∧ ".join(atoms)
