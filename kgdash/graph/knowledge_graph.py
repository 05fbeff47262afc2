"""The knowledge graph: names, labels, and the splits as arrays of ids."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from kgdash.errors import KgdashError, unknown_name
from kgdash.files.html import facts_html
from kgdash.graph.counted_pairs import counted_pairs
from kgdash.graph.digests import graph_digest, names_digest, triples_digest
from kgdash.graph.known_triples import KnownTriples
from kgdash.graph.name_lookup import NameLookup

SPLITS = ("train", "valid", "test")

#: the columns of tables of triples: ids, or names
IDS = ["head", "relation", "tail"]

#: to follow triples either way, from head to tail, or from tail to head
DIRECTIONS = ("either", "outgoing", "incoming")

#: filter name -> splits whose triples count as known (numbers.md#1-ranks)
FILTERS: dict[str, tuple[str, ...]] = {
    "train+valid+test": ("train", "valid", "test"),
    "train+valid": ("train", "valid"),
    "train+test": ("train", "test"),
    "none": (),
}


@dataclass(frozen=True)
class KnowledgeGraph:
    """Entities, relations and the known triples in their splits.

    ``splits`` maps "train", "valid" and "test" to int64 arrays of shape ``(n, 3)`` with the ids of
    head, relation and tail; each triple occurs once in a split. Ids index ``entities`` and
    ``relations`` (the names of the files); the labels are what people read and equal the names
    where none were given. ``left_out`` counts, per split, the triples that were dropped because
    they hold an entity or relation that never occurs in training. ``folder`` is where the files
    lie, if the triples were read from files.
    """

    name: str
    entities: Sequence[str]
    relations: Sequence[str]
    splits: Mapping[str, np.ndarray]
    entity_labels: Sequence[str]
    relation_labels: Sequence[str]
    left_out: Mapping[str, int] = field(default_factory=dict)
    folder: Path | None = field(default=None, compare=False)

    def about(self) -> dict[str, str]:
        """Say how large the graph is, for people to read."""
        counts = (f"{len(self.splits[split]):,} {split}" for split in SPLITS)
        return {
            "graph": self.name,
            "entities": f"{self.num_entities:,}",
            "relations": f"{self.num_relations:,}",
            "triples": ", ".join(counts),
        }

    def __repr__(self) -> str:
        """Name the graph and its size: of its content there may be millions."""
        return f"{self.name} ({self.num_entities:,} entities, {self.num_relations:,} relations)"

    def _repr_html_(self) -> str:
        return facts_html(f"Graph {self.name}", self.about())

    @property
    def num_entities(self) -> int:
        """Return |E|."""
        return len(self.entities)

    @property
    def num_relations(self) -> int:
        """Return |R|, inverse relations not counted."""
        return len(self.relations)

    @cached_property
    def all_triples(self) -> np.ndarray:
        """Return F = train ∪ valid ∪ test, each triple once: int64, shape ``(n, 3)``, sorted."""
        return self.known().triples()

    def positions(self, triples: np.ndarray) -> np.ndarray:
        """Find triples, ``(n, 3)``, in `all_triples`: rows, int64, ``(n,)``; −1 where unknown."""
        return self.known().positions(triples)

    @cached_property
    def digest(self) -> str:
        """Return a SHA-256 over names and splits: only equal graphs have equal digests."""
        return graph_digest(self.entities, self.relations, [self.splits[s] for s in SPLITS])

    @cached_property
    def shown_digest(self) -> str:
        """Return a SHA-256 over what people read: its name, and the labels."""
        return names_digest(self.name, self.entity_labels, self.relation_labels)

    @property
    def identity(self) -> tuple[str, str]:
        """Return what another graph has only if its triples are the same, and what people read."""
        return self.digest, self.shown_digest

    @cached_property
    def known_digest(self) -> str:
        """Return `kgdash.graph.digests.triples_digest` of `all_triples`."""
        return triples_digest(self.known().blocks())

    def split(self, name: str) -> np.ndarray:
        """Return the triples of a split.

        :raises KgdashError: if there is no such split, or it holds no triple
        """
        if name not in self.splits:
            raise unknown_name("split", name, SPLITS, f"graph {self.name}")
        if not len(self.splits[name]):
            raise KgdashError(
                f"split {name!r} of graph {self.name} holds no triples; choose another of "
                + ", ".join(f"{s} ({len(self.splits[s]):,})" for s in SPLITS)
            )
        return self.splits[name]

    def known(self, splits: Sequence[str] = SPLITS) -> KnownTriples:
        """Return the (cached) index of the triples of ``splits``."""
        key = tuple(s for s in SPLITS if s in splits)
        if key not in self._indexes:
            parts = (self.splits[split] for split in key)
            sizes = self.num_entities, self.num_relations
            self._indexes[key] = KnownTriples.of_parts(parts, *sizes)
        return self._indexes[key]

    # Kept outside the constructor: `replace(graph, splits=…)` must not carry them along.
    @cached_property
    def _indexes(self) -> dict[tuple[str, ...], KnownTriples]:
        return {}

    def known_with(self, triples: np.ndarray, splits: Sequence[str]) -> KnownTriples:
        """Return the index of ``splits`` and ``triples`` together.

        What is evaluated is always part of the filter (numbers.md#1-ranks).

        :param triples: ids, int64, shape ``(n, 3)``
        """
        known = self.known(splits)
        if known.contains(triples).all():
            return known
        return self.index(np.concatenate([triples, *(self.splits[s] for s in splits)]))

    def index(self, triples: np.ndarray) -> KnownTriples:
        """Index any triples of this graph's ids: shape ``(n, 3)``."""
        return KnownTriples(triples, self.num_entities, self.num_relations)

    @cached_property
    def degrees(self) -> np.ndarray:
        """Return the number of known triples that each entity is an end of: int64, ``(|E|,)``."""
        degrees = np.zeros(self.num_entities, dtype=np.int64)
        for heads, _, tails in (triples.T for triples in self.known().blocks()):
            for ends in (heads, tails[tails != heads]):
                entities, counts = np.unique(ends, return_counts=True)
                degrees[entities] += counts
        return degrees

    def adjacency(self, direction: str) -> csr_matrix:
        """Return who neighbours whom: each once, with the number of triples that join them.

        Nobody neighbours itself.

        :param direction: one of `DIRECTIONS`: "outgoing" follows head → tail
        :return: ``(|E|, |E|)``, kept: not to be changed
        """
        if direction not in self._adjacencies:
            sides = {"outgoing": ("head",), "incoming": ("tail",)}.get(direction, ("head", "tail"))
            blocks, most = self.known().neighbours(sides), len(sides) * len(self.known())
            self._adjacencies[direction] = counted_pairs(blocks, most, self.num_entities)
        return self._adjacencies[direction]

    @cached_property
    def _adjacencies(self) -> dict[str, csr_matrix]:
        return {}

    def split_of(self, triples: np.ndarray) -> np.ndarray:
        """Name the split of each triple (the first that holds it), ``"none"`` if it is unknown."""
        names = np.full(len(triples), "none", dtype=object)
        names[self.known().contains(triples)] = SPLITS[0]
        # Where no triple is in two splits, what is in no other is in train: its index can wait.
        apart = len(self.known()) == sum(map(len, self.splits.values()))
        for split in reversed(SPLITS[1:] if apart else SPLITS):
            names[self.known((split,)).contains(triples)] = split
        return names

    def take(self, found: "GraphIndex") -> None:
        """Take what was found of an equal graph, instead of finding it again."""
        self._indexes[SPLITS], self._adjacencies["either"] = found.known, found.joined
        names = ("digest", "shown_digest", "degrees", "entity_lookup")
        self.__dict__.update({name: getattr(found, name) for name in names})

    def with_names(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a copy of a table with labels in place of the ids of its triple columns.

        They are objects, each once: labels that others have, too, with the name beside them.
        """
        table = table.copy()
        for column in set(IDS).intersection(table):
            lookup = self.relation_lookup if column == "relation" else self.entity_lookup
            texts = lookup.distinct_labels(table[column].to_numpy())
            table[column] = pd.Series(texts, table.index, dtype=object)
        return table

    def entity_id(self, name: str) -> int:
        """Find an entity by its name, else by its label, else regardless of case.

        :raises KgdashError: if nothing matches (the nearest are named), or a label is ambiguous
        """
        return self.entity_lookup.find(name)

    def entities_called(self, name: str) -> list[int]:
        """Return the entities of a name, else of a label, else of either regardless of case."""
        return self.entity_lookup.called(name)

    def relation_id(self, name: str) -> int:
        """Find a relation like :meth:`entity_id` finds an entity."""
        return self.relation_lookup.find(name)

    @cached_property
    def entity_lookup(self) -> NameLookup:
        """The entities by name, label or a part of one."""
        return NameLookup(self.entities, self.entity_labels, "entity", f"graph {self.name}")

    @cached_property
    def relation_lookup(self) -> NameLookup:
        """The relations, likewise."""
        return NameLookup(self.relations, self.relation_labels, "relation", f"graph {self.name}")


@dataclass(frozen=True)
class GraphIndex:
    """What takes seconds to find of a large graph: the fields are what `KnowledgeGraph` has.

    ``known`` is of all splits, ``joined`` the adjacency in either direction.
    """

    digest: str
    shown_digest: str
    degrees: np.ndarray
    known: KnownTriples
    joined: csr_matrix
    entity_lookup: NameLookup


def default_filter(split: str | None) -> str:
    """Name the filter that fits a split: validation must not see test triples.

    Defined in numbers.md#1-ranks.
    """
    return "train+valid" if split == "valid" else "train+valid+test"


Text = TypeVar("Text", str, pd.Series)


def triple_text(head: Text, relation: Text, tail: Text) -> Text:
    """Write a triple of names or labels, or a column of them: ``head — relation → tail``."""
    return head + " — " + relation + " → " + tail


def triple_array(
    triples: np.ndarray | Iterable[Sequence[int]], graph: KnowledgeGraph
) -> np.ndarray:
    """Check triples of ids and return them as an int64 array of shape ``(n, 3)``.

    :raises KgdashError: if the shape is wrong, nothing is in it, or an id is out of range
    """
    if not isinstance(triples, np.ndarray):
        rows = list(triples)
        lengths = sorted({len(row) for row in rows})
        if lengths not in ([], [3]):
            raise KgdashError(
                f"expected triples of 3 ids each; found rows of {', '.join(map(str, lengths))}"
            )
        triples = np.asarray(rows)
    if triples.ndim != 2 or triples.shape[1] != 3 or not len(triples):
        raise KgdashError(
            f"expected a non-empty array of triples of shape (n, 3); found {triples.shape}"
        )
    if not np.issubdtype(triples.dtype, np.integer):
        raise KgdashError(f"expected integer ids in the triples; found dtype {triples.dtype}")
    limits = np.array([graph.num_entities, graph.num_relations, graph.num_entities])
    bad = ((triples < 0) | (triples >= limits)).any(axis=1)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise KgdashError(
            f"triple {row} has ids {tuple(int(v) for v in triples[row])}, outside the graph's "
            f"{graph.num_entities:,} entities and {graph.num_relations:,} relations"
        )
    return triples.astype(np.int64)
