"""What is chosen of queries and rules, and the widgets for how instances are compared."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from kgdash.progress import Progress
from kgdash.studies.instances.instances import AGGREGATES, Instances
from kgdash.studies.instances.separation import COMPARED
from kgdash.ui.runtime.sidebar import more_settings
from kgdash.ui.widgets.choices import choose_one

_MEASURES = ("ReliK", "reciprocal rank", "raw score")


@dataclass(frozen=True)
class InstancesChoice:
    """What the user chose: a key of all that the instances depend on, and how to make them."""

    key: tuple[Hashable, ...]
    make: Callable[[Progress], Instances]


@dataclass(frozen=True)
class SeparationChoice:
    """What the user chose: a measure, the three compared, ReliK first, and "max" or "mean"."""

    measure: str
    compared: tuple[str, ...]
    aggregate: str


def choose_separation() -> SeparationChoice:
    """Show the widgets and return what they say."""
    with more_settings():
        measure = choose_one(
            "Measure",
            _MEASURES,
            "measure",
            help="Whose means, distribution and thresholds are shown. The reciprocal rank is "
            "½ (1/entity rank + 1/relation rank). Raw scores of different relations are not "
            "comparable.",
        )
        over = choose_one(
            "ReliK of",
            list(COMPARED),
            "over",
            help="All triples that lead to the answer, or those alone that give it: a rule's head, "
            "the last triple of a path, every branch of an intersection.",
        )
        aggregate = choose_one(
            "If an answer has several groundings",
            AGGREGATES,
            "chains",
            "max",
            help="An answer may be reached in several ways: take the greatest of their values, "
            "or the mean. The greatest of more values is greater: where true answers have more "
            "groundings, that alone tells them apart, and the verdict allows for it.",
        )
    compared = COMPARED[str(over)]
    return SeparationChoice(compared[_MEASURES.index(str(measure))], compared, str(aggregate))
