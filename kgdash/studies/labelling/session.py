"""What a person does while judging predictions, each step on disk when it returns."""

from collections.abc import Iterable
from datetime import UTC, datetime

from kgdash.graph import KnowledgeGraph
from kgdash.studies.labelling.events import LABEL, SKIP, UNDO, Event, Labelling, NamedTriple
from kgdash.studies.labelling.journal import add_events, read_journal
from kgdash.studies.labelling.queue import LabelQueue


def judge(queue: LabelQueue, triple: NamedTriple, label: bool, by: str = "") -> Labelling:
    """Label a triple, and keep with it why it was predicted.

    Saying again what holds already (a second click) adds nothing.

    :param by: who says so; may be empty
    :raises KgdashError: if the journal can not be read or written
    """
    state = read_journal(queue.graph)
    if state.label_of(triple) is label:
        return state
    event = Event(LABEL, triple, label, None, queue.groundings(triple), by, _now())
    return add_events(queue.graph, event)


def skip(queue: LabelQueue, triple: NamedTriple, by: str = "") -> Labelling:
    """Put a triple behind those that are left; else like `judge`."""
    return add_events(queue.graph, Event(SKIP, triple, by=by, at=_now()))


def undo(graph: KnowledgeGraph, by: str = "") -> Labelling:
    """Take back a person's latest label or skip, if there is one; else like `judge`."""
    state = read_journal(graph)
    latest = state.latest(by)
    return state if latest is None else remove(graph, [latest], by)


def remove(graph: KnowledgeGraph, numbers: Iterable[int], by: str = "") -> Labelling:
    """Take back labels or skips, whoever they are of; else like `judge`.

    :param numbers: of the events, as in `kgdash.studies.labelling.results.label_table`; those that
        are taken back already, or are none, are passed by
    """
    state, now = read_journal(graph), _now()
    events = [Event(UNDO, of=number, by=by, at=now) for number in state.standing(numbers)]
    return add_events(graph, *events) if events else state


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
