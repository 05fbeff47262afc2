"""What interactions take and make: matrices, and the layers of a model that scores them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


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
