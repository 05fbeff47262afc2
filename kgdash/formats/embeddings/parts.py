"""What interactions take and make: matrices, and the layers of a model that scores them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: radians: models begin with phases anywhere in ±π
_SMALL_PHASE = 0.5


@dataclass(frozen=True)
class Parts:
    """Matrices and how to take them.

    ``entities``: ``(|E|, …)``, ``relations``: ``(|R|, …)``, ``core`` of TuckER: (entity, relation,
    entity). ``layout`` tells where reals stand for complex numbers: all real parts, then all
    imaginary ones ("halves"), or one after the other ("interleaved"); None if nobody said. ``norm``
    is 1 or 2, of translations ``squared`` if need be. ``where`` names the files in messages.
    """

    entities: np.ndarray
    relations: np.ndarray | None = None
    core: np.ndarray | None = None
    layout: str | None = "halves"
    norm: int | None = None
    squared: bool = False
    where: str = "the embedding"


@dataclass(frozen=True)
class Layers:
    """A model by PyKEEN's names: class, arguments, its representations in order, other tensors."""

    model: str
    arguments: Mapping[str, Any]
    entities: list[np.ndarray]
    relations: list[np.ndarray]
    others: Mapping[str, np.ndarray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def about_phases(phases: np.ndarray) -> tuple[str, ...]:
    """Say so where no phase of RotatE is as large as those that are drawn in radians."""
    if not 0 < (largest := float(np.abs(phases).max(initial=0))) < _SMALL_PHASE:
        return ()
    return (
        f"RotatE's phases lie within ±{largest:.2g} and are taken as radians; its own code keeps "
        "them in units of its range, (gamma + 2) / dimension: if so, multiply them by π / range",
    )
