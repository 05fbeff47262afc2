"""The types (or tags) of entities, as a user's file gives them."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError, check_name
from kgdash.files.bounded_reading import reads
from kgdash.files.bounds import check_listed
from kgdash.graph import KnowledgeGraph
from kgdash.graph.triple_files import read_rows

#: first rows that are column names
_HEADERS = {("entity", "type"), ("entity", "tag"), ("name", "type"), ("id", "type")}

#: entities that the graph does not have, of those that a message names
_TOLD = 3


@dataclass(frozen=True)
class EntityTypes:
    """Which entity has which types; an entity may have several, or none.

    ``names`` are the types, sorted; ``entities`` and ``types`` (int64, of the same length, sorted,
    each pair once) say which entity (id) has which type (number in ``names``). ``unknown`` counts
    the lines of the file, or saved entities, that are none of the graph.
    """

    names: tuple[str, ...]
    entities: np.ndarray
    types: np.ndarray
    unknown: int = 0

    def entities_of(self, names: Sequence[str]) -> np.ndarray:
        """Return the entities that have any of some types: int64 ids, ascending.

        :raises KgdashError: if there is no such type
        """
        numbers = {name: number for number, name in enumerate(self.names)}
        for name in names:
            check_name("type", name, numbers, "the file of types")
        chosen = [numbers[name] for name in names]
        return np.unique(self.entities[np.isin(self.types, chosen)])


@reads
def read_entity_types(
    path: Path, graph: KnowledgeGraph, content: bytes | None = None
) -> EntityTypes:
    """Read the types of entities: two columns, entity (name or label) and type, one pair a line.

    Lines of entities that the graph does not have are counted and left out: such files often are
    of a larger graph. A row of column names at the top is skipped.

    :param path: tab-separated, or comma-separated if it ends in .csv; may be .gz
    :param graph: resolves the names
    :param content: of the file, where it is not on disk under that path
    :raises KgdashError: if the file can not be read, a line does not have two filled columns, an
        entity's label is ambiguous, or no entity is the graph's
    """
    # Numbers alone: a million pairs of texts would be sorted while nobody else comes to a turn.
    pairs, types = array("q"), dict[str, int]()
    lookup = graph.entity_lookup
    unknown, count, first = list[str](), 0, True
    for line, row in read_rows(path, content):
        if len(row) != 2 or not all(row):
            raise KgdashError(
                f"expected 2 columns entity, type; found {len(row)}: {', '.join(row)[:80]} "
                f"({path}, line {line}). Separate them with tabs, or with commas in a .csv file"
            )
        entity, type_name = row
        if called := lookup.exactly(entity):
            try:
                number = called[0] if len(called) == 1 else graph.entity_id(entity)
            except KgdashError as error:
                raise KgdashError(f"{error} ({path}, line {line})") from None
            pairs.extend((number, types.setdefault(type_name, len(types))))
        elif not (first and (entity.lower(), type_name.lower()) in _HEADERS):
            count += 1
            unknown += [entity][: _TOLD - len(unknown)]
        first = False
    if not pairs:
        found = f"found {', '.join(map(repr, unknown))}" if unknown else "it is empty"
        raise KgdashError(
            f"{path} gives no entity of graph {graph.name} a type; expected two columns entity "
            f"(name or label), type; {found}"
        )
    check_listed(types, str(path), "types")
    return _in_order(pairs, types, count)


def entity_types(pairs: Iterable[tuple[int, str]], unknown: int = 0) -> EntityTypes:
    """Put pairs of entity (id) and type in order."""
    found, types = array("q"), dict[str, int]()
    for entity, type_name in pairs:
        found.extend((entity, types.setdefault(type_name, len(types))))
    return _in_order(found, types, unknown)


def _in_order(pairs: array, types: dict[str, int], unknown: int) -> EntityTypes:
    """Sort names, then pairs: of entity and number of the type."""
    names = sorted(types)
    place = np.empty(len(names), dtype=np.int64)
    place[[types[name] for name in names]] = np.arange(len(names))
    numbers = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    entities, codes = np.divmod(
        np.unique(numbers[:, 0] * len(names) + place[numbers[:, 1]]), max(1, len(names))
    )
    return EntityTypes(tuple(names), entities, codes, unknown)
