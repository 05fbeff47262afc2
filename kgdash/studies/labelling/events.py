"""Predictions judged by people: what was said, skipped and taken back, as a list of events.

Defined in numbers.md#9-rules.

Nothing is ever changed or removed: a label, a skip and an undo are events, numbered from 0 in their
order, and what holds now follows from all of them. So it can be kept as a journal on disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

#: head, relation and tail, by name
NamedTriple = tuple[str, str, str]


LABEL, SKIP, UNDO = "label", "skip", "undo"


@dataclass(frozen=True)
class RuleGroundings:
    """Why a rule predicts a triple: the body's triples in each of some groundings."""

    rule: str
    groundings: tuple[tuple[NamedTriple, ...], ...]


@dataclass(frozen=True)
class Event:
    """Something that a person did.

    ``kind`` is `LABEL`, `SKIP` or `UNDO`; the first two are about ``triple``, an undo takes back
    the event number ``of``. ``label`` is what was said; ``groundings`` what was shown with it.
    ``by`` names the person (may be empty), ``at`` says when (ISO 8601, UTC).
    """

    kind: str
    triple: NamedTriple | None = None
    label: bool | None = None
    of: int | None = None
    groundings: tuple[RuleGroundings, ...] = ()
    by: str = ""
    at: str = ""


@dataclass(frozen=True)
class Labelling:
    """What holds after a list of events.

    Of a triple, the latest event that was not taken back decides.
    """

    events: tuple[Event, ...] = ()
    undone: frozenset[int] = frozenset()
    _deciding: dict[NamedTriple, int] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def replay(cls, events: Iterable[Event]) -> Labelling:
        """Return what holds after these events."""
        listed = tuple(events)
        undone = frozenset(event.of for event in listed if event.of is not None)
        deciding = {
            event.triple: number
            for number, event in enumerate(listed)
            if event.triple is not None and number not in undone
        }
        return cls(listed, undone, deciding)

    def label_of(self, triple: NamedTriple) -> bool | None:
        """Return the label of a triple, or None if it has none now."""
        number = self._deciding.get(triple)
        return None if number is None else self.events[number].label

    def labels(self) -> dict[int, Event]:
        """Return the labels that hold, by the number of their event, in the order given."""
        numbers = sorted(self._deciding.values())
        return {n: self.events[n] for n in numbers if self.events[n].kind == LABEL}

    def latest(self, by: str) -> int | None:
        """Return the number of a person's latest event that an undo would take back."""
        for number in range(len(self.events) - 1, -1, -1):
            event = self.events[number]
            if event.kind != UNDO and event.by == by and number not in self.undone:
                return number
        return None

    def standing(self, numbers: Iterable[int]) -> list[int]:
        """Return those of events' numbers that an undo would take back, each once."""
        return [
            number
            for number in dict.fromkeys(numbers)
            if 0 <= number < len(self.events)
            and self.events[number].kind != UNDO
            and number not in self.undone
        ]

    def open(self, queue: Sequence[NamedTriple]) -> NamedTriple | None:
        """Return the next triple of a queue to judge: none of the skipped, while others are left.

        Of the skipped, the one that was skipped first comes first. None when all have labels.
        """
        left = [triple for triple in queue if self.label_of(triple) is None]
        return min(left, key=lambda triple: self._deciding.get(triple, -1), default=None)

    def progress(self, queue: Iterable[NamedTriple]) -> tuple[int, int]:
        """Count the triples of a queue that have a label, and those that were skipped."""
        numbers = [self._deciding[triple] for triple in queue if triple in self._deciding]
        labelled = sum(self.events[number].kind == LABEL for number in numbers)
        return labelled, len(numbers) - labelled
