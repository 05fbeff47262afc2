"""What pages computed lately, shared by all sessions.

Keys name runs and graphs by their ``identity``. Two with the same weights may carry other names,
labels and records: nobody's page shows those of a run that another opened.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import streamlit as st

from kgdash.files.visitor import visitor
from kgdash.graph import KnowledgeGraph
from kgdash.runs import Run

K = TypeVar("K", bound=Hashable)

#: what is kept at most: results, and bytes of them all. Fifty visitors come to hundreds: each of
#: another part of a graph has five
_ENTRIES, _BYTES = 2048, 2**28

#: bytes of the runs and graphs that results refer to, which would stay loaded for them alone; what
#: a triple takes there with its indexes, and what a name with its row of weights, but for its text
_HELD, _TRIPLE, _NAME = 2**29, 150, 3000


@dataclass
class _Kept:
    """A value, its bytes, those of the graphs that it refers to, and who asked for it last."""

    value: Any
    size: int
    graphs: dict[int, int]
    owner: str


class Memory:
    """The latest results by key; safe with several sessions. Values must not be changed."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """Return the value under a key, or None."""
        owner = visitor().owner
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            found.owner = owner
            return found.value

    def put(self, key: Hashable, value: Any) -> None:
        """Keep a value, and drop others if there are too many, or too large.

        These are what the visitor who has most of them asked for longest ago: nobody's are pushed
        out by those of somebody who has more. So are all that refer to the graph that was not asked
        about longest, if the graphs are too large. The latest is kept, however large it is.
        """
        size, graphs = _weighed(value)
        size += own_bytes(key)  # which may hold what somebody wrote
        owner = visitor().owner
        with self._lock:
            self._kept[key] = _Kept(value, size, graphs, owner)
            self._kept.move_to_end(key)
            for each in leaving({k: (e.owner, 1) for k, e in self._kept.items()}, key, _ENTRIES):
                del self._kept[each]
            for each in leaving({k: (e.owner, e.size) for k, e in self._kept.items()}, key, _BYTES):
                del self._kept[each]
            while self._held() > _HELD and (left := self._oldest_graph()) is not None:
                for each in [each for each, kept in self._kept.items() if left in kept.graphs]:
                    del self._kept[each]

    def _held(self) -> int:
        return sum(
            {id_: size for e in self._kept.values() for id_, size in e.graphs.items()}.values()
        )

    def _oldest_graph(self) -> int | None:
        """Return the graph whose last result is oldest; None if the latest refers to all."""
        newest_first = [kept.graphs for kept in reversed(self._kept.values())]
        seen = dict.fromkeys(graph for graphs in newest_first for graph in graphs)
        others = [graph for graph in seen if graph not in newest_first[0]]
        return others[-1] if others else None


def leaving(kept: Mapping[K, tuple[str, int]], latest: K, most: int) -> list[K]:
    """Name what goes where there is too much: one by one the oldest of whoever has most then.

    :param kept: whose each is, and what of it there is, the oldest first
    :param latest: which stays
    :param most: of all together
    """
    if sum(size for _, size in kept.values()) <= most:
        return []
    shares, oldest = Counter[str](), defaultdict[str, deque[tuple[int, K]]](deque)
    for place, (key, (owner, size)) in enumerate(kept.items()):
        shares[owner] += size
        if key != latest:
            oldest[owner].append((-place, key))
    gone: list[K] = []
    while shares.total() > most and (others := [owner for owner in oldest if oldest[owner]]):
        owner = max(others, key=lambda each: (shares[each], oldest[each][0][0]))
        gone.append(oldest[owner].popleft()[1])
        shares[owner] -= kept[gone[-1]][1]
    return gone


class _Weighing(pickle.Pickler):
    """Counts what a value would be written as, without runs and graphs, which are counted apart.

    ``graphs``: about how many bytes each of them takes, by `id`.
    """

    def __init__(self) -> None:
        self.bytes, self.graphs = 0, dict[int, int]()
        super().__init__(self, protocol=5, buffer_callback=self._take)

    def write(self, part: bytes) -> None:
        """Count what `pickle` writes."""
        self.bytes += len(part)

    def reducer_override(self, value: Any) -> Any:
        """Leave out runs and graphs; asked of objects alone, not of each text and number."""
        if not isinstance(value, KnowledgeGraph | Run):
            return NotImplemented
        graph = value.graph if isinstance(value, Run) else value
        if id(graph) not in self.graphs:  # a run's, and beside it
            names = graph.num_entities + graph.num_relations
            triples = sum(map(len, graph.splits.values()))
            self.graphs[id(graph)] = _NAME * names + _TRIPLE * triples + _texts(graph)
        return (bool, ())

    def _take(self, buffer: pickle.PickleBuffer) -> None:
        self.bytes += buffer.raw().nbytes


def _texts(graph: KnowledgeGraph) -> int:
    """Return what names and labels take, and once more what looks them up."""
    entities = zip(graph.entities, graph.entity_labels, strict=True)
    relations = zip(graph.relations, graph.relation_labels, strict=True)
    return 2 * sum(
        sys.getsizeof(name) + (sys.getsizeof(label) if label is not name else 0)
        for name, label in chain(entities, relations)
    )


def own_bytes(value: Any) -> int:
    """Return about how many bytes a value takes, without the runs and graphs that it refers to.

    What can not be pickled is counted up to there.
    """
    return _weighed(value)[0]


def _weighed(value: Any) -> tuple[int, dict[int, int]]:
    scale = _Weighing()
    with suppress(Exception):
        scale.dump(value)
    scale.clear_memo()  # it refers to itself, and to all that it weighed
    return scale.bytes, scale.graphs


@st.cache_resource(show_spinner=False)
def memory() -> Memory:
    """Return the process's memory of results."""
    return Memory()


def file_key(name: str, content: bytes) -> tuple[str, str]:
    """Return what a result depends on that was read of a file handed in: its name and digest."""
    return name, hashlib.sha256(content).hexdigest()
