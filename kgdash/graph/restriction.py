"""Which entities and relations an evaluation is restricted to, as people name them.

Defined in numbers.md#3-restriction.
"""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import reads
from kgdash.files.bounds import check_count
from kgdash.files.text import decode_text, read_content, text_lines
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, silent

#: size at which a list of names is refused
_MAX_BYTES = 64 * 2**20

#: unknown names that are looked for, beyond the first
_TOLD = 3

#: lines between two reports
_LINES = 64


@dataclass(frozen=True)
class Restriction:
    """The chosen ``entities`` and ``relations``: ids, made ascending int64, or None for all."""

    entities: np.ndarray | None = None
    relations: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("entities", "relations"):
            if (ids := getattr(self, name)) is not None:
                object.__setattr__(self, name, np.unique(np.asarray(ids, dtype=np.int64)))

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Return what tells this restriction from others; nothing if it is none."""
        parts = (("entities", self.entities), ("relations", self.relations))
        return tuple(
            f"{name} {hashlib.sha256(ids.tobytes()).hexdigest()}"
            for name, ids in parts
            if ids is not None
        )

    def count(self, graph: KnowledgeGraph, triples: np.ndarray) -> dict[str, int]:
        """Count what is left: ``entities``, ``relations``, and ``triples`` out of those given."""
        return {
            "entities": graph.num_entities if self.entities is None else len(self.entities),
            "relations": graph.num_relations if self.relations is None else len(self.relations),
            "triples": int(self._holds(triples).sum()),
        }

    def of_triples(self, triples: np.ndarray, graph: KnowledgeGraph) -> np.ndarray:
        """Return the triples of the relations between the entities: int64, shape ``(m, 3)``.

        :raises KgdashError: if an id is none of the graph's, or no triple is left of some
        """
        for ids, count, kind in (
            (self.entities, graph.num_entities, "entities"),
            (self.relations, graph.num_relations, "relations"),
        ):
            if ids is not None and not (len(ids) and ids[0] >= 0 and ids[-1] < count):
                found = f"{ids[0]} to {ids[-1]}" if len(ids) else "none"
                raise KgdashError(f"expected ids of {kind} from 0 to {count - 1}; found {found}")
        left = triples[self._holds(triples)]
        if len(triples) and not len(left):
            raise KgdashError(
                f"none of the {len(triples):,} triples is of the chosen relations, between the "
                "chosen entities: choose more"
            )
        return left

    def _holds(self, triples: np.ndarray) -> np.ndarray:
        holds = np.ones(len(triples), dtype=bool)
        if self.entities is not None:
            holds &= np.isin(triples[:, [0, 2]], self.entities).all(axis=1)
        if self.relations is not None:
            holds &= np.isin(triples[:, 1], self.relations)
        return holds


def restrict(
    graph: KnowledgeGraph,
    relations: Sequence[str] = (),
    entities: np.ndarray | None = None,
    min_degree: int | None = None,
    max_degree: int | None = None,
    of_types: np.ndarray | None = None,
) -> Restriction:
    """Build a restriction; conditions on entities add up.

    :param graph: resolves names
    :param relations: names or labels; none for all
    :param entities: ids, as `read_entities` gives them; None for all
    :param of_types: ids too, as `kgdash.graph.entity_types.EntityTypes.entities_of` gives them
    :param min_degree: least number of known triples (of all splits) that an entity is an end of
    :param max_degree: the largest
    :raises KgdashError: if a relation is unknown, or no entity is left
    """
    chosen = entities
    if of_types is not None:
        chosen = of_types if chosen is None else np.intersect1d(chosen, of_types)
    if min_degree is not None or max_degree is not None:
        fits = np.ones(graph.num_entities, dtype=bool)
        if min_degree is not None:
            fits &= graph.degrees >= min_degree
        if max_degree is not None:
            fits &= graph.degrees <= max_degree
        of_degree = np.flatnonzero(fits)
        chosen = of_degree if chosen is None else np.intersect1d(chosen, of_degree)
    if chosen is not None and not len(chosen):
        low, high = int(graph.degrees.min()), int(graph.degrees.max())
        raise KgdashError(
            f"no entity of graph {graph.name} fulfils all conditions (degrees, known triples per "
            f"entity, go from {low:,} to {high:,}); widen the choice"
        )
    numbers = {graph.relation_id(name) for name in relations}
    return Restriction(chosen, np.array(list(numbers)) if numbers else None)


@reads
def read_entities(
    source: Path | bytes | str,
    graph: KnowledgeGraph,
    name: str | None = None,
    progress: Progress = silent,
) -> np.ndarray:
    """Read a list of entities, one name or label a line; blank lines are skipped.

    :param source: a file (UTF-8, plain or gzip), the content of one, or text
    :param graph: resolves the names
    :param name: what messages call the list (default: the path)
    :param progress: called with (done, total) lines; may raise to cancel
    :return: ids, ascending, each once: int64
    :raises KgdashError: if the file can not be read or is not UTF-8, a line names no entity (with
        its number, and how many others do not), or there is none
    """
    shown = name or (str(source) if isinstance(source, Path) else "the list of entities")
    if not isinstance(source, str):
        source = decode_text(read_content(source, shown, _MAX_BYTES), shown)
    lines = source.count("\n") + 1
    check_count(lines - 1, shown, "lines")
    found, wrong = [], []
    for number, line in text_lines(source, shown):
        # Among millions, each takes a hundredth of a second.
        if number % _LINES == 0:
            progress(number, lines)
        if not line.strip():
            continue
        try:
            found.append(graph.entity_id(line.strip()))
        except KgdashError as error:
            # Looking for the nearest names takes long on large graphs: enough is enough.
            wrong.append(f"{error} ({shown}, line {number})")
            if len(wrong) > _TOLD:
                break
    if wrong:
        others = len(wrong) - 1
        more = f"; {'several' if others >= _TOLD else others} more" if others else ""
        raise KgdashError(f"{wrong[0]}{more}")
    if not found:
        raise KgdashError(f"{shown} names no entity; expected one name or label a line")
    return np.unique(np.array(found, dtype=np.int64))
