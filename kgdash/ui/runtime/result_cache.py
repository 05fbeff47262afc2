"""What pages computed lately, shared by all sessions.

Keys name runs and graphs by their ``identity``. Two with the same weights may carry other names,
labels and records: nobody's page shows those of a run that another opened.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from typing import Any

import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.runs import Run

#: what is kept at most: results, and bytes of them all. Fifty visitors come to hundreds: each of
#: another part of a graph has five
_ENTRIES, _BYTES = 2048, 2**28

#: bytes of the runs and graphs that results refer to, which would stay loaded for them alone; what
#: a triple takes there with its indexes, and what a name with its row of weights
_HELD, _TRIPLE, _NAME = 2**29, 150, 3000


class Memory:
    """The latest results by key; safe with several sessions. Values must not be changed."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self._graphs: dict[Hashable, dict[int, int]] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """Return the value under a key, or None."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: Any) -> None:
        """Keep a value, and drop those not asked for longest if there are too many, or too large.

        So are all that refer to the graph that was not asked about longest, if the graphs are too
        large. The latest is kept, however large it is.
        """
        size, graphs = _weighed(value)
        size += own_bytes(key)  # which may hold what somebody wrote
        with self._lock:
            self._values[key], self._sizes[key], self._graphs[key] = value, size, graphs
            self._values.move_to_end(key)
            while len(self._values) > 1 and (
                len(self._values) > _ENTRIES or sum(self._sizes.values()) > _BYTES
            ):
                self._drop(next(iter(self._values)))
            while self._held() > _HELD and (left := self._oldest_graph()) is not None:
                for each in [each for each in self._values if left in self._graphs[each]]:
                    self._drop(each)

    def _drop(self, key: Hashable) -> None:
        for kept in (self._values, self._sizes, self._graphs):
            del kept[key]

    def _held(self) -> int:
        return sum(dict(pair for each in self._graphs.values() for pair in each.items()).values())

    def _oldest_graph(self) -> int | None:
        """Return the graph whose last result is oldest; None if the latest refers to all."""
        latest = next(reversed(self._values))
        seen = dict.fromkeys(graph for key in reversed(self._values) for graph in self._graphs[key])
        others = [graph for graph in seen if graph not in self._graphs[latest]]
        return others[-1] if others else None


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
        names, triples = graph.num_entities + graph.num_relations, map(len, graph.splits.values())
        self.graphs[id(graph)] = _NAME * names + _TRIPLE * sum(triples)
        return (bool, ())

    def _take(self, buffer: pickle.PickleBuffer) -> None:
        self.bytes += buffer.raw().nbytes


def own_bytes(value: Any) -> int:
    """Return about how many bytes a value takes, without the runs and graphs that it refers to.

    What can not be pickled is counted up to there.
    """
    return _weighed(value)[0]


def _weighed(value: Any) -> tuple[int, dict[int, int]]:
    scale = _Weighing()
    with suppress(Exception):
        scale.dump(value)
    return scale.bytes, scale.graphs


@st.cache_resource(show_spinner=False)
def memory() -> Memory:
    """Return the process's memory of results."""
    return Memory()


def file_key(name: str, content: bytes) -> tuple[str, str]:
    """Return what a result depends on that was read of a file handed in: its name and digest."""
    return name, hashlib.sha256(content).hexdigest()
