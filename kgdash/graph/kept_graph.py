"""Large graphs in the cache: mapped with what finds their names, triples and neighbours quickly.

Without it each process makes an object of every name and sorts all triples anew.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from errno import EFBIG
from pathlib import Path
from typing import Any

import pyarrow as pa
from scipy.sparse import csr_matrix

from kgdash.files.array_file import Values, read_arrays, write_arrays
from kgdash.files.atomic import atomic_file
from kgdash.files.cache_folder import (
    GRAPH,
    cache_directory,
    cache_limit,
    make_room,
    note_use,
    remove,
    sweep_once,
)
from kgdash.files.event_log import Stopwatch, note
from kgdash.files.lock import hold_lock
from kgdash.files.provenance import provenance
from kgdash.files.table_note import DAMAGED, note_metadata
from kgdash.graph.arrow_texts import MANY, ArrowTexts, as_arrow
from kgdash.graph.knowledge_graph import SPLITS, GraphIndex, KnowledgeGraph
from kgdash.graph.known_triples import KnownTriples
from kgdash.version import __version__

#: triples from which on a graph is kept: fewer are read within a second or two
_MANY_TRIPLES = 5_000_000

#: of what is written
_VERSION = 1

#: lists of names, as fields of a graph: names, and labels, which are left out where they equal them
_NAMES = {"entities": "entity_labels", "relations": "relation_labels"}


def kept_graph(source: str, read: Callable[[], KnowledgeGraph]) -> KnowledgeGraph:
    """Return a graph from the cache, or read it, and keep it if it is large.

    :param source: what tells apart all files of graphs that differ, such as their SHA-256
    :param read: reads it; may raise
    :raises KgdashError: if the limit of the cache is no size
    """
    path = _path(source)
    found = _mapped(path)
    if found is not None:
        return found
    graph = read()
    if not is_large(graph):
        return graph
    keep_graph(source, graph)
    return _mapped(path) or graph


def keep_graph(source: str, graph: KnowledgeGraph) -> None:
    """Keep a graph, if it is large, for `kept_graph`: a full or read-only disk keeps nothing.

    :raises KgdashError: if the limit of the cache is no size
    """
    path, limit = _path(source), cache_limit()
    if not is_large(graph):
        return
    with hold_lock(path.with_suffix(".lock")):
        if path.is_file():
            return
        watch = Stopwatch()
        with suppress(OSError):
            with atomic_file(path) as part:
                write_arrays(part, _parts(graph), note_metadata(_about(graph)))
                if part.stat().st_size > limit:
                    raise OSError(EFBIG, "the graph alone exceeds the limit of the cache")
            make_room(limit, GRAPH)
        note("cache", kind="graph", found="computed", seconds=watch.seconds)


def is_large(graph: KnowledgeGraph) -> bool:
    """Tell whether a graph is worth keeping."""
    triples = sum(map(len, graph.splits.values()))
    return graph.num_entities > MANY or triples >= _MANY_TRIPLES


def _path(source: str) -> Path:
    key = hashlib.sha256(f"graph {_VERSION} {source}".encode()).hexdigest()[:40]
    return cache_directory() / f"{key}{GRAPH}"


def _about(graph: KnowledgeGraph) -> dict[str, Any]:
    made = datetime.now(UTC).isoformat()
    own = {"kind": "graph", "graph": graph.name, "graph_digest": graph.digest}
    triples = sum(map(len, graph.splits.values()))
    return {**own, **provenance(), "triples": triples, "created": made, "version": __version__}


def _parts(graph: KnowledgeGraph) -> Iterator[tuple[str, Values]]:
    """Find all that is kept, one part after the other."""
    known, joined = graph.known(), graph.adjacency("either")
    about = [graph.name, graph.digest, graph.shown_digest, json.dumps(dict(graph.left_out))]
    yield "about", pa.array(about, pa.large_string())
    for kind, labelled in _NAMES.items():
        names, labels = getattr(graph, kind), getattr(graph, labelled)
        yield kind, as_arrow(names)
        if labels != names:
            yield labelled, as_arrow(labels)
    for kind, texts in zip(("names", "labels"), graph.entity_lookup.folded, strict=True):
        yield f"folded_{kind}", texts
    yield from graph.splits.items()
    yield from zip(("by_head", "by_tail"), known.orders(), strict=True)
    yield from (("degrees", graph.degrees), ("joined", joined.data))
    yield from (("neighbours", joined.indices), ("starts", joined.indptr))


def _mapped(path: Path) -> KnowledgeGraph | None:
    """Map a kept graph; None if there is none, or a damaged one, which is removed."""
    sweep_once()
    if not path.is_file():
        return None
    try:
        parts = read_arrays(path)
        _check(parts)
        found = _graph(parts)
    except DAMAGED:
        remove(path)
        return None
    note_use(path)
    note("cache", kind="graph", found="disk")
    return found


def _check(parts: dict[str, Any]) -> None:
    """Refuse parts that do not fit together: an older kgdash's, or a stranger's.

    :raises ValueError, KeyError, pa.ArrowException: saying so
    """
    for values in parts.values():
        if isinstance(values, pa.Array):
            values.validate(full=True)
    size, starts = len(parts["entities"]), parts["starts"]
    of_entities = ("entity_labels", "folded_names", "folded_labels", "degrees")
    lengths = {len(parts[name]) for name in of_entities if name in parts} | {len(starts) - 1}
    ends = {len(parts["neighbours"]), len(parts["joined"]), int(starts[-1])}
    if lengths != {size} or len(ends) > 1 or len(parts["by_head"]) != len(parts["by_tail"]):
        raise ValueError("its parts do not fit together")


def _graph(parts: dict[str, Any]) -> KnowledgeGraph:
    name, digest, shown_digest, left_out = parts["about"].to_pylist()
    texts: dict[str, Any] = {}
    for (kind, labelled), form in zip(_NAMES.items(), (ArrowTexts, _tuple), strict=True):
        texts[kind] = form(parts[kind])
        texts[labelled] = form(parts[labelled]) if labelled in parts else texts[kind]
    splits = {split: parts[split].reshape(-1, 3) for split in SPLITS}
    graph = KnowledgeGraph(name=name, splits=splits, left_out=json.loads(left_out), **texts)
    lookup = graph.entity_lookup
    lookup.take_folded([parts["folded_names"], parts["folded_labels"]])
    sizes = graph.num_entities, graph.num_relations
    graph.take(
        GraphIndex(
            digest=digest,
            shown_digest=shown_digest,
            degrees=parts["degrees"],
            known=KnownTriples.of_orders((parts["by_head"], parts["by_tail"]), sizes),
            joined=csr_matrix(
                (parts["joined"], parts["neighbours"], parts["starts"]),
                shape=(graph.num_entities,) * 2,
            ),
            entity_lookup=lookup,
        )
    )
    return graph


def _tuple(texts: pa.Array) -> tuple[str, ...]:
    return tuple(texts.to_pylist())
