"""A call that another process can make: functions by name, runs, graphs, models by their origin.

What is read was written by a process of ours, over a pipe that only the two have.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from kgdash.errors import KgdashError
from kgdash.files.cache_folder import cache_directory
from kgdash.files.visitor import Visitor, visitor, working_for
from kgdash.graph import KnowledgeGraph
from kgdash.graph.python_call import python_call
from kgdash.progress import Progress
from kgdash.runs.loading import load
from kgdash.runs.run import Run
from kgdash.scoring.kernel_scorer import KernelScorer
from kgdash.scoring.pykeen_scorer import PyKEENScorer

Value = TypeVar("Value")

#: bytes of a text that takes little to read, whatever stands in it
_LITTLE = 2**16

#: digest of what tables depend on, and of what people read
Identity = tuple[str, str]


class Call:
    """A function and all its arguments but the last, ``progress``, if it takes that.

    One that does not takes its time in steps of Python's, and is ended between two. It opens what
    the visitor may open, within the same bounds, wherever it is made, and knows nothing else of
    them: what it finds is everybody's.
    """

    def __init__(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        self._function, self._arguments, self._named = function, arguments, named
        self._asker = visitor().unnamed()

    def __call__(self, progress: Progress) -> Any:
        """Make the call."""
        if _tells(self._function):
            found = self._made(progress=progress)
        else:
            found = python_call(self._made, progress)
        return self._steps(found) if isinstance(found, Iterator) else found

    def _made(self, **told: Progress) -> Any:
        with working_for(self._asker):
            return self._function(*self._arguments, **self._named, **told)

    def sent(self) -> Sent:
        """Write the call, to be made elsewhere.

        :raises Exception: as `write`
        """
        return Sent(self)

    def by_name(self) -> Call:
        """Return the same call, which names runs and graphs, and holds none until it is made.

        One that can not be sent stays as it is.
        """
        try:
            return _ByName(self)
        except Exception:
            return self

    def _steps(self, found: Iterator[Any]) -> Iterator[Any]:
        while True:
            try:
                with working_for(self._asker):
                    step = next(found)
            except StopIteration:
                return
            yield step


class _ByName(Call):
    """A call that was written; its arrays stay where they are until it is sent."""

    def __init__(self, call: Call) -> None:
        self._written: _Apart | Sent = _Apart.of(call)

    def __call__(self, progress: Progress) -> Any:
        written = self._written
        call = read(written.content()) if isinstance(written, Sent) else written.read(Origin.load)
        return call(progress)

    def sent(self) -> Sent:
        if isinstance(self._written, _Apart):
            self._written = Sent(self._written)
        return self._written


class Reading(Call):
    """A function that reads what the visitor handed in, made at once in another process if any.

    There it may hold Python and take memory as it needs, and is bounded in both. It works for the
    visitor wherever it is made, and takes ``progress`` if it is told of it. It keeps nothing until
    it returns, so that it may be ended anywhere.
    """

    def __init__(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        super().__init__(function, *arguments, **named)
        self._reader = visitor()

    def by_name(self) -> Call:
        """Return this: it names nothing, and is sent at once."""
        return self

    @property
    def is_little(self) -> bool:
        """Tell whether all that is read are short texts, neither packed nor on disk."""
        given = (*self._arguments, *self._named.values())
        contents = [each for each in given if isinstance(each, bytes)]
        return bool(contents) and all(map(_is_little_text, contents))

    def __call__(self, progress: Progress) -> Any:
        """Read."""
        told = {"progress": progress} if _tells(self._function) else {}
        with working_for(self._reader):
            return self._function(*self._arguments, **self._named, **told)


def _tells(function: Callable[..., Any]) -> bool:
    """Tell whether a function takes a progress to report to."""
    return "progress" in signature(function).parameters


def _is_little_text(content: bytes) -> bool:
    if len(content) > _LITTLE or b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


@dataclass(frozen=True)
class Origin:
    """What `kgdash.runs.loading.load` made a run of, and the identity that it had.

    ``opener`` is as who opened it, unnamed: it is loaded again within the same bounds, and scored
    by the same form.
    """

    source: str
    dataset: str | None
    opener: Visitor
    identity: Identity

    def load(self) -> Run:
        """Load the run again, and remember it, whoever this thread works for.

        :raises KgdashError: as `kgdash.runs.loading.load`, or if it is another run by now
        """
        with working_for(self.opener):
            run = remember(load(self.source, self.dataset), self.source, self.dataset)
        if run.identity != self.identity:
            raise KgdashError(f"{run.name} was changed meanwhile: open it anew")
        return run


#: by identity of a run, and of a graph
_origins: dict[Identity, Origin] = {}
_graph_origins: dict[Identity, Origin] = {}
#: those at hand, by `id`: several may have one identity
_runs: WeakValueDictionary[int, Run] = WeakValueDictionary()
_graphs: WeakValueDictionary[int, KnowledgeGraph] = WeakValueDictionary()


def remember(run: Run, source: str, dataset: str | None) -> Run:
    """Keep in mind where a run comes from, and return it."""
    origin = Origin(source, dataset, visitor().unnamed(), run.identity)
    _origins[origin.identity] = _graph_origins[run.graph.identity] = origin
    _runs[id(run)], _graphs[id(run.graph)] = run, run.graph
    return run


def write(value: Any) -> bytes:
    """Return the bytes of a value, in which known runs and graphs are only named.

    :raises Exception: if something in it can not be sent
    """
    file = io.BytesIO()
    _Pickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


def read(data: bytes, find: Callable[[Origin], Run] = Origin.load) -> Any:
    """Return what `write` wrote.

    :param find: returns a run that is not at hand
    """
    value = _Apart(data, ()).read(find)
    return value.read(find) if isinstance(value, _Apart) else value


class Sent:
    """What `write` writes, on disk if it can be: it may hold whole tables, and wait for long."""

    def __init__(self, value: Any) -> None:
        """Write a value.

        :raises Exception: as `write`
        """
        self._guard = Lock()
        try:
            self._file: IO[bytes] = TemporaryFile(dir=cache_directory())  # noqa: SIM115
            _Pickler(self._file, pickle.HIGHEST_PROTOCOL).dump(value)
            self._file.flush()
        except OSError:
            self._file = io.BytesIO(write(value))

    def content(self) -> bytes:
        """Return what was written."""
        with self._guard:
            self._file.seek(0)
            return self._file.read()


def named(value: Value) -> Callable[[], Value]:
    """Return what gives a value again, whose runs and graphs it only names.

    They are loaded anew where nobody holds them any more; it raises as `Origin.load`.
    """
    return partial(read, write(value))


def at_hand(identity: Identity) -> Run | None:
    """Return the run of an identity if anybody holds it."""
    return next((run for run in _at_hand(_runs) if run.identity == identity), None)


def _origin_of(graph: KnowledgeGraph) -> Origin | None:
    """Return where a graph comes from: the run that holds it, before others that have its like."""
    for run in _at_hand(_runs):
        if run.graph is graph:
            return _origins[run.identity]
    return _graph_origins.get(graph.identity)


def _at_hand(kept: WeakValueDictionary[int, Any]) -> list[Any]:
    return [found for each in kept.valuerefs() if (found := each()) is not None]


class _Apart(NamedTuple):
    """What `write` writes, but for the content of arrays, which stays where it is."""

    data: bytes
    arrays: Sequence[Any]

    @classmethod
    def of(cls, value: Any) -> _Apart:
        file, arrays = io.BytesIO(), list[Any]()
        _Pickler(file, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append).dump(value)
        return cls(file.getvalue(), arrays)

    def read(self, find: Callable[[Origin], Run]) -> Any:
        unpickler = _Unpickler(io.BytesIO(self.data), buffers=self.arrays)
        unpickler.find = find
        return unpickler.load()


class _Pickler(pickle.Pickler):
    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, Run) and value.identity in _origins:
            return ("run", value.identity, _origins[value.identity])
        if isinstance(value, KnowledgeGraph) and (origin := _origin_of(value)) is not None:
            return ("graph", value.identity, origin)
        if isinstance(value, PyKEENScorer | KernelScorer):
            for run in _at_hand(_runs):
                if run.scorer is value:
                    return ("scorer", run.identity, _origins[run.identity])
        return None


class _Unpickler(pickle.Unpickler):
    find: Callable[[Origin], Run]

    def persistent_load(self, named: Any) -> Any:
        kind, wanted, origin = named
        for found in _at_hand(_graphs if kind == "graph" else _runs):
            if found.identity == wanted:
                return found.scorer if kind == "scorer" else found
        run = self.find(origin)
        return {"run": run, "graph": run.graph, "scorer": run.scorer}[kind]
