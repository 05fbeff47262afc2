"""A call that another process can make: functions by name, runs and graphs by where they come from.

What is read was written by a process of ours, over a pipe that only the two have.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress
from kgdash.runs.run import Run

#: digest of what tables depend on, and of what people read
Identity = tuple[str, str]


class Call:
    """A function and all its arguments but the last, ``progress``."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        self._function, self._arguments, self._named = function, arguments, named

    def __call__(self, progress: Progress) -> Any:
        """Make the call."""
        return self._function(*self._arguments, **self._named, progress=progress)


@dataclass(frozen=True)
class _Origin:
    """What `kgdash.runs.loading.load` made a run of, and the identity that it had."""

    source: str
    dataset: str | None
    identity: Identity


_origins: dict[Identity, _Origin] = {}
_runs: WeakValueDictionary[Identity, Run] = WeakValueDictionary()
#: identity of a graph -> that of a run that has it
_graphs: dict[Identity, Identity] = {}


def identity(found: Run | KnowledgeGraph) -> Identity:
    """Return what two runs or graphs share only if people read the same of them too."""
    return found.digest, found.shown_digest


def remember(run: Run, source: str, dataset: str | None) -> Run:
    """Keep in mind where a run comes from, and return it."""
    named = identity(run)
    _origins[named] = _Origin(source, dataset, named)
    _runs[named] = run
    _graphs[identity(run.graph)] = named
    return run


def write(value: Any) -> bytes:
    """Return the bytes of a value, in which known runs and graphs are only named.

    :raises Exception: if something in it can not be sent
    """
    file = io.BytesIO()
    _Pickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


def read(data: bytes, find: Callable[[str, str | None, Identity], Run]) -> Any:
    """Return what `write` wrote.

    :param find: returns the run of a source, a dataset and an identity that is not at hand
    """
    unpickler = _Unpickler(io.BytesIO(data))
    unpickler.find = find
    return unpickler.load()


class _Pickler(pickle.Pickler):
    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, Run) and identity(value) in _origins:
            return ("run", _origins[identity(value)])
        if isinstance(value, KnowledgeGraph) and identity(value) in _graphs:
            return ("graph", _origins[_graphs[identity(value)]])
        return None


class _Unpickler(pickle.Unpickler):
    find: Callable[[str, str | None, Identity], Run]

    def persistent_load(self, named: Any) -> Any:
        kind, origin = named
        run = _runs.get(origin.identity)
        if run is None:
            run = self.find(origin.source, origin.dataset, origin.identity)
        return run if kind == "run" else run.graph
