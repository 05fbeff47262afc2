"""Labels given by people, kept on disk at once: one line of JSON per event, only ever added to.

The file stands among the visitor's own data, one per graph. A line counts once it is whole: of a
process that dies while it writes, nothing but that event is lost. What is no journal, or leads
elsewhere, is neither added to nor cut.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import IO, Any

from kgdash.errors import KgdashError
from kgdash.files.atomic import make_folder, sync
from kgdash.files.lock import hold_lock, remove_unless_held
from kgdash.files.regular import open_own
from kgdash.files.user_data import own_folder
from kgdash.files.visitor import visitor
from kgdash.graph import KnowledgeGraph
from kgdash.graph.digests import names_digest
from kgdash.studies.labelling.events import Event, Labelling
from kgdash.studies.labelling.journal_lines import event_record, read_line, to_event, to_line

_FORMAT, _VERSION = "kgdash-labels", 1

#: how a journal begins, of which a process that died may have left a part
_BEGIN = f'{{"format":"{_FORMAT}","version":{_VERSION},'.encode()

#: bytes at which a journal is refused, and a visitor's, which pages read
_MAX_BYTES, _VISITORS = 2**28, 2**23

#: number, bytes and time of a file
_State = tuple[int, int, int]


@dataclass(frozen=True)
class _Read:
    """What was read of a journal: of its whole lines how many bytes, their digest, and events."""

    state: _State | None
    size: int
    digest: Any
    events: tuple[Event, ...]

    def and_more(self, state: _State | None, lines: bytes, events: Iterable[Event]) -> _Read:
        digest = self.digest.copy()
        digest.update(lines)
        return _Read(state, self.size + len(lines), digest, (*self.events, *events))


#: what was read of journals, the latest last, and the bytes of all that are kept beside that
_kept, _keeping, _HELD = OrderedDict[Path, _Read](), Lock(), 2**25


def journal_file(graph: KnowledgeGraph) -> Path:
    """Return where the judgements of a graph are kept; the file need not exist.

    On a server, where others add runs, they are of what was read: of a graph with labels, of these.
    """
    name, shown = graph.digest, (graph.entity_labels, graph.relation_labels)
    if not visitor().is_local and shown != (graph.entities, graph.relations):
        name = f"{name[:32]}-{names_digest('', *shown)[:32]}"
    return own_folder() / "labels" / f"{name}.jsonl"


def journal_state(graph: KnowledgeGraph) -> tuple[str | int, ...]:
    """Tell which labels of whom a graph has now: another value once there are others."""
    path = journal_file(graph)
    try:
        return str(path), *_state(path.stat())
    except OSError:
        return (str(path),)


def read_journal(graph: KnowledgeGraph) -> Labelling:
    """Return what people have said of a graph's triples so far, these by name.

    :raises KgdashError: if the file can not be read, or a line of it is no event
    """
    path = journal_file(graph)
    remove_unless_held(_lock(path))
    try:
        return _labelling(_read(path).events, graph)
    except OSError as error:
        raise KgdashError(f"can not read {_shown(path)}: {error.strerror or error}") from error


def add_events(graph: KnowledgeGraph, *events: Event) -> Labelling:
    """Add events to the journal of a graph, their triples by name, on disk when this returns.

    :return: what holds then, the events of others included
    :raises KgdashError: as `read_journal`; or if the file can not be written
    """
    path, added = journal_file(graph), [*map(_named(graph), events)]
    try:
        make_folder(path.parent)
        with hold_lock(_lock(path)):
            before, lines = _read(path), b"".join(to_line(event_record(each)) for each in added)
            with open_own(path, _most_bytes(), adding=True) as stream:
                _check_head(path, stream)
                _drop_torn_line(stream)
                if not (size := stream.seek(0, os.SEEK_END)):
                    head = {"format": _FORMAT, "version": _VERSION, "graph": graph.name}
                    lines = to_line(head) + lines
                if size + len(lines) > _most_bytes():
                    raise KgdashError(f"{_shown(path)} is full: move it away to begin anew")
                stream.write(lines)
                stream.flush()
                os.fsync(stream.fileno())
                now = before.and_more(_state(os.fstat(stream.fileno())), lines, added)
                _keep(path, now)
            sync(path.parent)
    except OSError as error:
        raise KgdashError(f"can not write {_shown(path)}: {error.strerror or error}") from error
    return _labelling(now.events, graph)


def _most_bytes() -> int:
    return _MAX_BYTES if visitor().is_local else _VISITORS


def _shown(path: Path) -> str:
    """Name a journal to who reads of it: visitors know nothing of the server's folders."""
    return str(path) if visitor().is_local else "the journal of your labels"


def _lock(path: Path) -> Path:
    return path.with_suffix(".lock")


def _check_head(path: Path, stream: IO[bytes]) -> None:
    """Refuse what is no journal by its first line, whole or cut short."""
    stream.seek(0)
    line = stream.readline()
    is_ours = _BEGIN.startswith(line[: len(_BEGIN)])
    if line.endswith(b"\n"):
        head = read_line(line, f"{_shown(path)}, line 1")
        is_ours = (head.get("format"), head.get("version")) == (_FORMAT, _VERSION)
    if not is_ours:
        raise KgdashError(
            f"{_shown(path)} does not hold labels of kgdash, version {_VERSION}; move it away to "
            "begin anew"
        )


def _drop_torn_line(stream: IO[bytes]) -> None:
    """Cut off what a process that died has left of its last line."""
    size = stream.seek(0, os.SEEK_END)
    start = size
    while start:
        step = min(start, 4096)
        stream.seek(start - step)
        end = stream.read(step).rfind(b"\n")
        if end >= 0:
            start = start - step + end + 1
            break
        start -= step
    if start < size:
        stream.truncate(start)


def _labelling(events: Iterable[Event], graph: KnowledgeGraph) -> Labelling:
    return Labelling.replay(map(_named(graph), events))


def _named(graph: KnowledgeGraph) -> Callable[[Event], Event]:
    """Return how to name the triple of an event as the graph does, however it is called there."""
    entity, relation = (cache(of.own_name) for of in (graph.entity_lookup, graph.relation_lookup))

    def named(event: Event) -> Event:
        if event.triple is None:
            return event
        head, by, tail = event.triple
        own = (entity(head), relation(by), entity(tail))
        return event if own == event.triple else replace(event, triple=own)

    return named


def _state(about: os.stat_result) -> _State:
    return about.st_ino, about.st_size, about.st_mtime_ns


def _read(path: Path) -> _Read:
    """Read a journal, of one that has grown the rest: pages ask for it at every step."""
    with _turn(path.parent):
        nothing = _Read(None, 0, blake2b(), ())
        known = _kept.get(path, nothing)
        try:
            if known.state == _state(path.stat()):
                return known
        except FileNotFoundError:
            return nothing
        with open_own(path, _most_bytes()) as stream:
            _check_head(path, stream)
            stream.seek(0)
            state = _state(os.fstat(stream.fileno()))
            content = stream.read(state[1])
        content = content[: content.rfind(b"\n") + 1]
        if (
            blake2b(memoryview(content)[: known.size]).digest() != known.digest.digest()
        ):  # not kgdash's doing
            known = nothing
        more, first = content[known.size :], not known.size
        before = len(known.events)
        read = (
            to_event(read_line(line, place), place, number)
            for number, line in enumerate(more.split(b"\n")[first:-1], before)
            for place in (f"{_shown(path)}, line {number + 2}",)
        )
        now = known.and_more(state, more, read)
        _keep(path, now)
    return now


@cache
def _turn(folder: Path) -> Lock:
    """Return the turn to read a visitor's journals: of their many tabs, one does."""
    return Lock()


def _keep(path: Path, now: _Read) -> None:
    """Keep what a journal holds, and of others as much as there is room for."""
    with _keeping:
        _kept[path] = now
        _kept.move_to_end(path)
        while len(_kept) > 1 and sum(read.size for read in _kept.values()) > _HELD:
            _kept.popitem(last=False)
