"""Events of a journal as its lines: JSON, one event each."""

from __future__ import annotations

import json
from sys import intern
from typing import Any

from kgdash.errors import KgdashError
from kgdash.files.text import parse_json
from kgdash.studies.labelling.events import (
    LABEL,
    SKIP,
    UNDO,
    Event,
    NamedTriple,
    RuleGroundings,
)


def to_line(value: Any) -> bytes:
    """Write a value as a line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read_line(line: bytes, where: str) -> dict[str, Any]:
    """Read a line.

    :param where: which it is, for messages
    :raises KgdashError: if it is no object of JSON
    """
    try:
        value = parse_json(line)
    except (ValueError, RecursionError) as error:
        raise KgdashError(f"not valid JSON: {error} ({where}). Mend or remove the line") from error
    if not isinstance(value, dict):
        raise KgdashError(f"expected an event of a journal ({where}). Mend or remove the line")
    return value


def event_record(event: Event) -> dict[str, Any]:
    """Return what a line says of an event."""
    value: dict[str, Any] = {"event": event.kind}
    if event.kind == UNDO:
        value["of"] = event.of
    else:
        value["triple"] = list(event.triple or ())
    if event.kind == LABEL:
        value["label"] = event.label
        value["groundings"] = [{"rule": g.rule, "chains": g.groundings} for g in event.groundings]
    return value | {"by": event.by, "at": event.at}


def to_event(value: dict[str, Any], where: str, number: int) -> Event:
    """Return the event of a record.

    :param where: which line it is, for messages
    :param number: of the event
    :raises KgdashError: if it is none
    """
    kind, by, at = value.get("event"), value.get("by", ""), value.get("at", "")
    try:
        if not isinstance(by, str) or not isinstance(at, str):
            raise TypeError
        if kind == UNDO and type(value["of"]) is int and 0 <= value["of"] < number:
            return Event(UNDO, of=value["of"], by=by, at=at)
        if kind == SKIP:
            return Event(SKIP, _triple(value["triple"]), by=by, at=at)
        if kind == LABEL and isinstance(value["label"], bool):
            shown = tuple(
                RuleGroundings(str(g["rule"]), tuple(tuple(map(_triple, c)) for c in g["chains"]))
                for g in value["groundings"]
            )
            return Event(LABEL, _triple(value["triple"]), value["label"], None, shown, by, at)
    except (TypeError, KeyError, ValueError):
        pass
    raise KgdashError(
        f"expected a label, a skip or an undo; found {json.dumps(value):.120} ({where}). "
        "Mend or remove the line"
    )


def _triple(value: Any) -> NamedTriple:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError
    head, relation, tail = map(intern, value)  # each name once, however often it stands there
    return head, relation, tail
