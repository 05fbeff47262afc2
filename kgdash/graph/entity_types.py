"""The types (or tags) of entities, as a user's file gives them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError, check_name
from kgdash.files.bounds import check_listed
from kgdash.graph import KnowledgeGraph
from kgdash.graph.triple_files import read_rows

#: first rows that are column names
_HEADERS = {("entity", "type"), ("entity", "tag"), ("name", "type"), ("id", "type")}


@dataclass(frozen=True)
class EntityTypes:
    """Which entity has which types; an entity may have several, or none.

    ``names`` are the types, sorted; ``entities`` and ``types`` (int64, of the same length, sorted,
    each pair once) say which entity (id) has which type (number in ``names``). ``unknown`` counts
    the lines of the file that name no entity of the graph.
    """

    names: tuple[str, ...]
    entities: np.ndarray
    types: np.ndarray
    unknown: int = 0

    def entities_of(self, names: Sequence[str]) -> np.ndarray:
        """Return the entities that have any of some types: int64 ids, ascending.

        :raises KgdashError: if there is no such type
        """
        for name in names:
            check_name("type", name, self.names, "the file of types")
        chosen = [self.names.index(name) for name in names]
        return np.unique(self.entities[np.isin(self.types, chosen)])


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
    pairs: dict[tuple[int, str], None] = {}
    names = {*graph.entities, *graph.entity_labels}
    unknown, first = [], True
    for line, row in read_rows(path, content):
        if len(row) != 2 or not all(row):
            raise KgdashError(
                f"expected 2 columns entity, type; found {len(row)}: {', '.join(row)[:80]} "
                f"({path}, line {line}). Separate them with tabs, or with commas in a .csv file"
            )
        entity, type_name = row
        if entity in names:
            try:
                pairs[graph.entity_id(entity), type_name] = None
            except KgdashError as error:
                raise KgdashError(f"{error} ({path}, line {line})") from None
        elif not (first and (entity.lower(), type_name.lower()) in _HEADERS):
            unknown.append(entity)
        first = False
    if not pairs:
        found = f"found {', '.join(map(repr, unknown[:3]))}" if unknown else "it is empty"
        raise KgdashError(
            f"{path} gives no entity of graph {graph.name} a type; expected two columns entity "
            f"(name or label), type; {found}"
        )
    types = entity_types(pairs, len(unknown))
    check_listed(types.names, str(path), "types")
    return types


def entity_types(pairs: Iterable[tuple[int, str]], unknown: int = 0) -> EntityTypes:
    """Put pairs of entity (id) and type in order."""
    ordered = sorted(set(pairs))
    names = sorted({type_name for _, type_name in ordered})
    number = {name: code for code, name in enumerate(names)}
    return EntityTypes(
        tuple(names),
        np.array([entity for entity, _ in ordered], dtype=np.int64),
        np.array([number[name] for _, name in ordered], dtype=np.int64),
        unknown,
    )
