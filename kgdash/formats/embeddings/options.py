"""What a user tells of an embedding that its files do not."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """Options of `kgdash import`.

    ``interaction`` by name, ``layout`` of complex numbers, ``norm`` 1 or 2, ``names``: the folder
    in which lists of names lie if not beside the vectors; ``unit`` whether vectors are scaled to
    length 1 first, None where the library's default is meant.
    """

    interaction: str | None = None
    layout: str = "halves"
    norm: int | None = None
    names: Path | None = None
    unit: bool | None = None
