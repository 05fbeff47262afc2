"""Groupings of ranks that users bring: by the types of entities, or by conditions (buckets)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kgdash.breakdowns.condition import Condition
from kgdash.breakdowns.grouping import GROUPINGS, Groups, groups_of
from kgdash.breakdowns.rank_facts import RankFacts
from kgdash.errors import KgdashError, check_name
from kgdash.graph import KnowledgeGraph
from kgdash.graph.arrow_texts import texts_at
from kgdash.graph.entity_types import EntityTypes, entity_types
from kgdash.graph.sorted_slices import expand_slices

#: whose types count: of the triple's ends, or of the entity asked for and of the one given
ENDS = ("head", "tail", "answer", "query")

#: the groups of what is in no other
UNTYPED, OTHERS = "(no type)", "(all others)"

_MAX_NAME = 80

#: conditions of one grouping: each may look through all names of a graph; types of one: of each
#: group a metric may be resampled
_MOST_CONDITIONS, _MOST_TYPES = 200, 2**14

#: ranks of all groups together, or twice those that there are, if that is more, up to the last:
#: each takes a hundred bytes when metrics are asked for
_ENOUGH, _MOST = 2**21, 2**23


@dataclass(frozen=True)
class TypeGrouping:
    """Ranks by the types of an entity of their triple; one with several types is in several groups.

    ``end`` is one of `ENDS`; ranks of relations have no answer or query of this kind.
    """

    name: str
    end: str
    types: EntityTypes

    def __post_init__(self) -> None:
        _check_name(self.name)
        check_name("end", self.end, ENDS, f"grouping {self.name!r}")
        if len(self.types.names) > _MOST_TYPES:
            raise KgdashError(
                f"grouping {self.name!r} has {len(self.types.names):,} types; expected "
                f"{_MOST_TYPES:,} at most"
            )

    def groups(self, facts: RankFacts) -> Groups:
        """Return the groups: one per type, in the order of their names, the untyped ones last."""
        sides = np.asarray(facts.sides.astype(object))
        column = {"head": 0, "tail": 2}.get(self.end, -1)
        columns = np.full(len(sides), column)
        if column < 0:
            answer_first = {"answer": "head", "query": "tail"}[self.end]
            columns = np.where(sides == answer_first, 0, 2)
        rows = np.flatnonzero((column >= 0) | (sides != "relation"))
        entities = facts.triples[rows, columns[rows]]
        first = np.searchsorted(self.types.entities, entities, "left")
        count = np.searchsorted(self.types.entities, entities, "right") - first
        _check_members(int(count.sum()), len(sides), self.name)
        owner, place = expand_slices(first, count)
        codes = self.types.types[place]
        names = list(dict.fromkeys([*self.types.names, UNTYPED]))
        without = rows[count == 0]
        untyped = np.full(len(without), names.index(UNTYPED))
        return Groups(
            np.concatenate([rows[owner], without]), np.concatenate([codes, untyped]), names
        )

    def describe(self) -> str:
        """Say in a few words what it groups by."""
        return f"by {len(self.types.names):,} types of the {self.end}"

    def to_json(self, graph: KnowledgeGraph) -> dict[str, Any]:
        """Describe it as JSON can hold it, entities by name."""
        entities, place = np.unique(self.types.entities, return_inverse=True)
        names = texts_at(graph.entities, entities).tolist()  # each once: they may be long
        of_type: dict[str, list[str]] = {name: [] for name in self.types.names}
        for number, entity in zip(self.types.types.tolist(), place.tolist(), strict=True):
            of_type[self.types.names[number]].append(names[entity])
        return {"name": self.name, "by": "types", "end": self.end, "types": of_type}


@dataclass(frozen=True)
class ConditionGrouping:
    """Ranks by named groups, each of conditions that all must hold; a rank may be in several."""

    name: str
    buckets: Mapping[str, tuple[Condition, ...]]

    def __post_init__(self) -> None:
        _check_name(self.name)
        if not self.buckets:
            raise KgdashError(
                f"grouping {self.name!r} has no group; give at least one row as name: condition"
            )
        count = sum(map(len, self.buckets.values()))
        if count > _MOST_CONDITIONS:
            raise KgdashError(
                f"grouping {self.name!r} has {count:,} conditions; expected {_MOST_CONDITIONS} at "
                "most"
            )
        for name in self.buckets:
            _check_name(name, "group")
            if name == OTHERS:
                raise KgdashError(f"{name!r} is what no group holds; choose another name")

    def groups(self, facts: RankFacts) -> Groups:
        """Return the groups, in their order, then what is in none."""
        rows, count, others = [], 0, np.ones(len(facts.ranks), dtype=bool)
        for conditions in self.buckets.values():
            holds = np.logical_and.reduce([condition.holds(facts) for condition in conditions])
            rows.append(np.flatnonzero(holds))
            others &= ~holds
            count += len(rows[-1])
            _check_members(count, len(facts.ranks), self.name)
        rows.append(np.flatnonzero(others))
        codes = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
        return Groups(np.concatenate(rows), codes, [*self.buckets, OTHERS])

    def describe(self) -> str:
        """Say in a few words what it groups by."""
        return "; ".join(
            f"{name}: {' and '.join(condition.text for condition in conditions)}"
            for name, conditions in self.buckets.items()
        )

    def to_json(self, graph: KnowledgeGraph) -> dict[str, Any]:
        """Describe it as JSON can hold it."""
        buckets = {
            name: [[c.column, c.operator, c.value] for c in conditions]
            for name, conditions in self.buckets.items()
        }
        return {"name": self.name, "by": "conditions", "buckets": buckets}


CustomGrouping = TypeGrouping | ConditionGrouping


def groups_by(annotated: pd.DataFrame, graph: KnowledgeGraph, by: str | CustomGrouping) -> Groups:
    """Group the ranks of a table, for `kgdash.breakdowns.breakdown.breakdown`.

    :param annotated: of `kgdash.breakdowns.rank_facts.add_rank_facts`, at least one row
    :param by: a user's grouping, or the name of one of kgdash's own
    :raises KgdashError: as `kgdash.breakdowns.grouping.groups_of`
    """
    return groups_of(
        annotated, by if isinstance(by, str) else by.groups(RankFacts(annotated, graph))
    )


def condition_grouping(name: str, rows: Iterable[str | tuple[str, Condition]]) -> ConditionGrouping:
    """Make a grouping of rows; those of one group must all hold.

    :param rows: the name of a group and a condition, or a text ``name: column operator value``
    :raises KgdashError: if a text has no name or its condition is not understood
    """
    buckets: dict[str, tuple[Condition, ...]] = {}
    for row in rows:
        if isinstance(row, str):
            bucket, colon, text = row.partition(":")
            if not colon:
                raise KgdashError(
                    "expected name: column operator value, such as rare: frequency < 100; found "
                    f"{row.strip()!r:.80} in grouping {name!r}"
                )
            row = (bucket, Condition.parse(text))
        bucket, condition = row[0].strip(), row[1]
        buckets[bucket] = (*buckets.get(bucket, ()), condition)
    return ConditionGrouping(name.strip(), buckets)


def missing_note(grouping: str | CustomGrouping) -> list[str]:
    """Say how many entities a grouping names that the graph does not have; nothing if none."""
    if isinstance(grouping, ConditionGrouping | str) or not grouping.types.unknown:
        return []
    missing = f"{grouping.types.unknown:,} are not in the graph"
    return [f"of the entities that {grouping.name!r} names, {missing}"]


def grouping_from_json(value: Any, graph: KnowledgeGraph, where: str) -> CustomGrouping:
    """Read what ``to_json`` wrote; entities that the graph does not have are counted, left out.

    :raises KgdashError: if anything else is found
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        raise KgdashError(f"{where}: expected groupings, each with a name; found {value!r:.80}")
    name, where = value["name"], f"{where}, grouping {value['name']!r}"
    try:
        if value.get("by") == "conditions" and isinstance(value.get("buckets"), Mapping):
            return ConditionGrouping(name, {k: _rows(v) for k, v in value["buckets"].items()})
        if value.get("by") == "types" and _lists_of_text(value.get("types")):
            types = value["types"].items()
            named = {entity for _, entities in types for entity in entities}
            ids = graph.entity_lookup.ids_of(named)
            pairs = [(ids[e], t) for t, entities in types for e in entities if e in ids]
            known = entity_types(pairs, unknown=len(named - ids.keys()))
            return TypeGrouping(name, str(value.get("end")), known)
    except KgdashError as error:
        raise KgdashError(f"{where}: {error}") from None
    raise KgdashError(f"{where}: expected conditions or types; found {sorted(value)}")


def _rows(value: Any) -> tuple[Condition, ...]:
    """Read the conditions of a group."""
    if not isinstance(value, list) or not value:
        raise KgdashError(f"expected rows of column, operator and value; found {value!r:.80}")
    for row in value:
        if not isinstance(row, list) or [type(v) for v in row[:2]] != [str, str] or len(row) != 3:
            raise KgdashError(f"expected column, operator and value; found {row!r:.80}")
        if not isinstance(row[2], str | int | float):
            raise KgdashError(f"expected a number or a name; found {row[2]!r:.80}")
    return tuple(Condition(*row) for row in value)


def _lists_of_text(value: Any) -> bool:
    """Tell whether a value maps texts to lists of texts."""
    return isinstance(value, Mapping) and all(
        isinstance(inner, list) and all(isinstance(item, str) for item in inner)
        for inner in value.values()
    )


def _check_members(count: int, ranks: int, name: str) -> None:
    """Refuse groups that hold more ranks together than can be counted in memory."""
    most = min(max(_ENOUGH, 2 * ranks), _MOST)
    if count > most:
        raise KgdashError(
            f"the groups of {name!r} hold more than {most:,} ranks together: make fewer, or take "
            "a split of fewer triples"
        )


def _check_name(name: str, kind: str = "grouping") -> None:
    if not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
        raise KgdashError(
            f"expected a name of 1 to {_MAX_NAME} characters for a {kind}; found {name[:99]!r}"
        )
    if kind == "grouping" and name in GROUPINGS:
        raise KgdashError(f"{name!r} is a grouping of kgdash's own; choose another name")
