"""What pages computed lately, shared by all sessions.

Keys name runs and graphs by their ``identity``. Two with the same weights may carry other names,
labels and records: nobody's page shows those of a run that another opened.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Collection, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import streamlit as st

from kgdash.files.visitor import visitor
from kgdash.graph import KnowledgeGraph
from kgdash.runs import Run

K = TypeVar("K", bound=Hashable)

#: what is kept at most: results, and bytes of them all. Fifty visitors come to hundreds: each of
#: another part of a graph has five
_ENTRIES, _BYTES = 2048, 2**28


@dataclass
class _Kept:
    """A value, its bytes without runs and graphs, which these are, and who asked for it last."""

    value: Any
    size: int
    held: dict[int, Run | KnowledgeGraph]
    owner: str


class Memory:
    """The latest results by key; safe with several sessions. Values must not be changed.

    What was dropped is kept again if it is asked for while somebody holds it: it is there once.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._alive: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """Return the value under a key, or None."""
        owner = visitor().owner
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                found.owner = owner
                return found.value
            alive = self._alive.get(key)
        if alive is not None:
            self.put(key, alive)
        return alive

    def put(self, key: Hashable, value: Any) -> None:
        """Keep a value, and drop others if there are too many, or too large.

        These are what the visitor who has most of them asked for longest ago: nobody's are pushed
        out by those of somebody who has more. The latest is kept, however large it is.
        """
        size, held = _weighed(value)
        size += own_bytes(key)  # which may hold what somebody wrote
        owner = visitor().owner
        with self._lock:
            self._kept[key] = _Kept(value, size, held, owner)
            with suppress(TypeError):  # lists, numbers and their like can not be referred to so
                self._alive[key] = value
            self._kept.move_to_end(key)
            for each in leaving({k: (e.owner, 1) for k, e in self._kept.items()}, key, _ENTRIES):
                del self._kept[each]
            sizes = {k: (e.owner, e.size) for k, e in self._kept.items()}
            for each in leaving(sizes, key, _BYTES, spared=size):
                del self._kept[each]

    def held(self) -> dict[int, tuple[Run | KnowledgeGraph, int, str]]:
        """Return what results refer to, by the graph's `id`: it, their bytes, and whose they are.

        Those that were asked about longest ago first.
        """
        found: dict[int, tuple[Run | KnowledgeGraph, int, str]] = {}
        with self._lock:
            for kept in self._kept.values():
                for id_, held in kept.held.items():
                    before, size, _ = found.pop(id_, (held, 0, ""))
                    run = before if isinstance(before, Run) else held
                    found[id_] = run, size + kept.size, kept.owner
        return found

    def forget(self, graphs: Collection[int]) -> None:
        """Drop results that refer to graphs of some `id`."""
        with self._lock:
            for each in [
                key for key, kept in self._kept.items() if not kept.held.keys().isdisjoint(graphs)
            ]:
                del self._kept[each]

    def let_go(self) -> bool:
        """Drop half of all, the oldest of whoever has most; tell if there was anything."""
        with self._lock:
            sizes = {key: (kept.owner, kept.size) for key, kept in self._kept.items()}
            most = sum(size for _, size in sizes.values()) // 2
            gone = leaving({**sizes, None: ("", 0)}, None, most)
            for each in gone:
                del self._kept[each]
            return bool(gone)


def leaving(kept: Mapping[K, tuple[str, int]], latest: K, most: int, spared: int = 0) -> list[K]:
    """Name what goes where there is too much: one by one the oldest of whoever has most then.

    :param kept: whose each is, and what of it there is, the oldest first
    :param latest: which stays
    :param most: of all together
    :param spared: so much more may stay where whoever has most has nothing else than the latest
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
        if shares[owner] < max(shares.values()) and shares.total() <= most + spared:
            break
        gone.append(oldest[owner].popleft()[1])
        shares[owner] -= kept[gone[-1]][1]
    return gone


class _Weighing(pickle.Pickler):
    """Counts what a value would be written as, without runs and graphs.

    ``held``: these, by the graph's `id`.
    """

    def __init__(self) -> None:
        self.bytes, self.held = 0, dict[int, Run | KnowledgeGraph]()
        super().__init__(self, protocol=5, buffer_callback=self._take)

    def write(self, part: bytes) -> None:
        """Count what `pickle` writes."""
        self.bytes += len(part)

    def reducer_override(self, value: Any) -> Any:
        """Leave out runs and graphs; asked of objects alone, not of each text and number."""
        if isinstance(value, Run):
            self.held[id(value.graph)] = value
        elif isinstance(value, KnowledgeGraph):
            self.held.setdefault(id(value), value)
        else:
            return NotImplemented
        return (bool, ())

    def _take(self, buffer: pickle.PickleBuffer) -> None:
        self.bytes += buffer.raw().nbytes


def own_bytes(value: Any) -> int:
    """Return about how many bytes a value takes, without the runs and graphs that it refers to.

    What can not be pickled is counted up to there.
    """
    return _weighed(value)[0]


def _weighed(value: Any) -> tuple[int, dict[int, Run | KnowledgeGraph]]:
    scale = _Weighing()
    with suppress(Exception):
        scale.dump(value)
    scale.clear_memo()  # it refers to itself, and to all that it weighed
    return scale.bytes, scale.held


@st.cache_resource(show_spinner=False)
def memory() -> Memory:
    """Return the process's memory of results."""
    return Memory()


def file_key(name: str, content: bytes) -> tuple[str, str]:
    """Return what a result depends on that was read of a file handed in: its name and digest."""
    return name, hashlib.sha256(content).hexdigest()
