"""Queries with their answers in names, as files hold them, and what they are in a graph.

Defined in numbers.md#8-queries.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.studies.queries.query_types import (
    QUERY_TYPES,
    AskedQueries,
    in_order,
    repeat_a_branch,
)

#: before a relation's name: it is followed from tail to head, as SPARQL's inverse paths have it
BACKWARDS = "^"

#: most anchors, and most relations, that a query of any type has
WIDTH = 3


@dataclass(frozen=True)
class NamedQueries:
    """Queries of any types over names.

    ``kinds`` int64 ``(n,)``: position in `QUERY_TYPES`; ``anchors`` and ``relations`` int64
    ``(n, 3)``: positions in ``entities`` and ``relation_names``, in the order of `AskedQueries`,
    then −1; ``owner``, ``answers`` int64 ``(m,)`` and ``hard`` bool ``(m,)``: of each answer its
    query, its position in ``entities``, and whether it is a hard one. A relation's name begins with
    `BACKWARDS` if it is followed from tail to head. ``lines`` and ``answer_lines`` int64: where in
    the file a query and an answer stand, from 1; 0 where the file has no lines.
    """

    entities: Sequence[str]
    relation_names: tuple[str, ...]
    kinds: np.ndarray
    anchors: np.ndarray
    relations: np.ndarray
    owner: np.ndarray
    answers: np.ndarray
    hard: np.ndarray
    lines: np.ndarray
    answer_lines: np.ndarray

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.kinds)


def to_names(asked: Mapping[str, AskedQueries], graph: KnowledgeGraph) -> NamedQueries:
    """Put queries into names.

    :raises KgdashError: if a relation of the graph is called like another one backwards
    """
    both = set(graph.relations) & {BACKWARDS + name for name in graph.relations}
    if both:
        raise KgdashError(
            f"relation {min(both)!r} is called like {min(both)[1:]!r} followed backwards; "
            "rename one of them to write queries"
        )
    kinds, owner, counted = [], [], 0
    cells: tuple[list[np.ndarray], list[np.ndarray]] = [], []
    for kind, queries in asked.items():
        kinds.append(np.full(len(queries), list(QUERY_TYPES).index(kind)))
        for found, part in zip(cells, (queries.anchors, queries.relations), strict=True):
            padding = ((0, 0), (0, WIDTH - part.shape[1]))
            found.append(np.pad(part, padding, constant_values=-1))
        owner.append(queries.owner + counted)
        counted += len(queries)
    anchors, relations = (
        np.concatenate([np.empty((0, WIDTH), dtype=np.int64), *part]) for part in cells
    )
    answers = [queries.answers for queries in asked.values()]
    hard = [queries.hard for queries in asked.values()]
    total = sum(map(len, answers))
    return NamedQueries(
        graph.entities,
        (*graph.relations, *(BACKWARDS + name for name in graph.relations)),
        np.concatenate([np.empty(0, dtype=np.int64), *kinds]),
        anchors,
        relations,
        np.concatenate([np.empty(0, dtype=np.int64), *owner]),
        np.concatenate([np.empty(0, dtype=np.int64), *answers]),
        np.concatenate([np.empty(0, dtype=bool), *hard]),
        np.zeros(counted, dtype=np.int64),
        np.zeros(total, dtype=np.int64),
    )


def in_graph(
    named: NamedQueries, graph: KnowledgeGraph, shown: str
) -> tuple[dict[str, AskedQueries], list[str]]:
    """Find queries in a graph, by name, else by label, else regardless of case.

    A model knows the entities of its training triples only. Queries that name another entity or
    relation, answers that it does not know, queries left without an answer, and those of which two
    branches are the same are left out and counted. A query that occurs twice, its branches in
    whatever order, counts once, with the answers of both.

    :return: queries by type, in the order of `QUERY_TYPES`, within a type in the file's; and what a
        reader should know of them
    :raises KgdashError: if no query is left (the first unknown name is named, with those near it),
        a label is ambiguous, or an answer is listed as easy and as hard
    """
    entity = _Finder(named, graph, "entity", shown)
    relation = _Finder(named, graph, "relation", shown)
    known = entity.all_known(named.anchors) & relation.all_known(named.relations)
    kept = known[named.owner] & (entity.ids[named.answers] >= 0)
    answered = np.bincount(named.owner[kept], minlength=len(named)) > 0
    notes = _left_out(named, entity, relation, known, answered)
    found, turned, repeated = {}, 0, 0
    for number, (kind, shape) in enumerate(QUERY_TYPES.items()):
        rows = np.flatnonzero((named.kinds == number) & known & answered)
        anchors = entity.ids[named.anchors[rows, : len(shape.branches)]]
        relations = relation.ids[named.relations[rows, : shape.num_relations]]
        twice = repeat_a_branch(shape, anchors, relations)
        repeated += len(distinct_rows(np.hstack([anchors, relations])[twice]).rows)
        rows, anchors, relations = rows[~twice], anchors[~twice], relations[~twice]
        if len(rows):
            place = np.full(len(named), -1)
            place[rows] = np.arange(len(rows))
            of = kept & (place[named.owner] >= 0)
            found[kind], others = _of_type(
                kind,
                anchors,
                relations,
                np.stack([place[named.owner[of]], entity.ids[named.answers[of]], named.hard[of]]),
                graph,
                shown,
            )
            turned += others
    if repeated:
        notes.append(
            "queries left out, of which two branches are the same, so that they ask what one of "
            f"another type asks: {repeated:,}"
        )
    if turned:
        notes.append(
            "queries that ask the same as another one, with their branches in another order, "
            f"count once with it: {turned:,}"
        )
    if not found:
        raise KgdashError(
            f"{shown} holds no query of graph {graph.name}" + "".join(f"; {note}" for note in notes)
        )
    return found, notes


class _Finder:
    """Ids of names in a graph: ``ids`` int64, −1 for what it does not know."""

    def __init__(self, named: NamedQueries, graph: KnowledgeGraph, kind: str, shown: str) -> None:
        self.named, self.graph, self.kind, self.shown = named, graph, kind, shown
        self.names = named.entities if kind == "entity" else named.relation_names
        of_kind = graph.entities if kind == "entity" else graph.relations
        self.lookup = graph.entity_lookup if kind == "entity" else graph.relation_lookup
        labels = graph.entity_labels if kind == "entity" else graph.relation_labels
        self._exact = {name: number for number, name in enumerate(of_kind)}
        self._folded = {name.casefold() for name in (*of_kind, *labels)}
        ids = [self._id(name, number) for number, name in enumerate(self.names)]
        # One more, so that the padding of rows, −1, has an id to look up.
        self.ids = np.array([*ids, -1], dtype=np.int64)

    def _id(self, name: str, number: int) -> int:
        forwards = name.removeprefix(BACKWARDS)
        is_backwards = self.kind == "relation" and forwards != name
        if is_backwards and forwards in self._exact and name not in self._exact:
            return self._exact[forwards] + self.graph.num_relations  # whatever a label is
        found = self._named(name, number)
        if found < 0 and is_backwards:
            found = self._named(forwards, number)
            return found if found < 0 else found + self.graph.num_relations
        return found

    def _named(self, name: str, number: int) -> int:
        if name in self._exact:
            return self._exact[name]
        if name.casefold() in self._folded or self.lookup.exactly(name):
            try:
                return self.lookup.find(name)
            except KgdashError as error:
                raise KgdashError(f"{error} ({self.place(number)})") from error
        return -1

    def all_known(self, rows: np.ndarray) -> np.ndarray:
        """Tell of each row of positions, padded with −1, whether all names are known."""
        return ((self.ids[rows] >= 0) | (rows < 0)).all(axis=1)

    def place(self, number: int) -> str:
        """Say where in the file a name stands first."""
        named = self.named
        cells = named.anchors if self.kind == "entity" else named.relations
        lines = named.lines[(cells == number).any(axis=1)]
        if self.kind == "entity":
            lines = np.concatenate([lines, named.answer_lines[named.answers == number]])
        return f"{self.shown}, line {lines.min()}" if len(lines) and lines.min() else self.shown

    def unknown(self, number: int) -> str:
        """Say that a name is unknown, where, and which ones are near."""
        try:
            self.lookup.find(self.names[number].removeprefix(BACKWARDS))
        except KgdashError as error:
            return f"{error} ({self.place(number)})"
        return f"unknown {self.kind} {self.names[number]!r} ({self.place(number)})"


def _left_out(
    named: NamedQueries, entity: _Finder, relation: _Finder, known: np.ndarray, answered: np.ndarray
) -> list[str]:
    strange = known[named.owner] & (entity.ids[named.answers] < 0)
    of_queries = [(entity, named.anchors[~known]), (relation, named.relations[~known])]
    notes = []
    for count, total, what, where in (
        (int((~known).sum()), len(named), "queries", of_queries),
        (int(strange.sum()), len(named.owner), "answers", [(entity, named.answers[strange])]),
    ):
        if count:
            first = next(
                finder.unknown(int(cell))
                for finder, cells in where
                for cell in cells.ravel()[(cells.ravel() >= 0) & (finder.ids[cells.ravel()] < 0)]
            )
            notes.append(
                f"{count:,} of {total:,} {what} left out: they name what graph "
                f"{entity.graph.name} does not have, such as {first}"
            )
    bare = int((known & ~answered).sum())
    if bare:
        notes.append(f"{bare:,} of {len(named):,} queries left out: no answer that is in the graph")
    return notes


def _of_type(
    kind: str,
    anchors: np.ndarray,
    relations: np.ndarray,
    answers: np.ndarray,
    graph: KnowledgeGraph,
    shown: str,
) -> tuple[AskedQueries, int]:
    """Return the distinct queries of a type, and how many differ from these by order alone."""
    shape, asked = QUERY_TYPES[kind], np.hstack([anchors, relations])
    _, first, same, _ = distinct_rows(np.hstack(in_order(shape, anchors, relations)))
    turned = len(distinct_rows(asked).rows) - len(first)
    # Distinct queries, in the order of their first occurrence.
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    owner, answer, hard = answers
    keys = (place[same[owner]] * graph.num_entities + answer) * 2 + hard
    # NumPy's unique hashes first, which takes several times as long as sorting here.
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    pairs, hard = keys >> 1, (keys & 1).astype(bool)
    twice = np.flatnonzero(pairs[1:] == pairs[:-1])
    if len(twice):
        name = graph.entities[pairs[twice[0]] % graph.num_entities]
        raise KgdashError(
            f"{shown} lists {name!r} as an easy and as a hard answer of one query of type {kind}; "
            "expected one of the two"
        )
    owner, answer = np.divmod(pairs, graph.num_entities)
    first.sort()
    queries = AskedQueries(shape, anchors[first], relations[first], owner, answer, hard)
    return queries, turned
