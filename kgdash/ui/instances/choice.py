"""What a form chose: labelled instances, and what they depend on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from kgdash.progress import Progress
from kgdash.studies.instances.instances import Instances


@dataclass(frozen=True)
class InstancesChoice:
    """What the user chose: a key of all that the instances depend on, and how to make them."""

    key: tuple[Hashable, ...]
    make: Callable[[Progress], Instances]
