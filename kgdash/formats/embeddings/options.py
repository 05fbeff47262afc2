"""What a user tells of an embedding that its files do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.interactions import interaction_name


def interaction_and_norm(text: str, norm: int | None) -> tuple[str, int | None]:
    """Return an interaction's own spelling, and the norm: that of its name (TransE-L1) or given.

    :raises KgdashError: if there is none of that name, or both tell a norm, and they differ
    """
    name, named = interaction_name(text)
    if None not in (named, norm) and named != norm:
        raise KgdashError(f"{text} and norm {norm} differ; give one")
    return name, named if norm is None else norm


@dataclass(frozen=True)
class Options:
    """Options of `kgdash import`.

    ``interaction`` by name, ``layout`` of complex numbers, ``norm`` 1 or 2, ``names``: the folder
    in which lists of names lie if not beside the vectors; ``unit`` whether vectors are scaled to
    length 1 first, None where the library's default is meant.
    """

    interaction: str | None = None
    layout: str | None = None
    norm: int | None = None
    names: Path | None = None
    unit: bool | None = None

    def told_norm(self) -> int | None:
        """Return the norm that was told, be it in the interaction's name.

        :raises KgdashError: as `interaction_and_norm`
        """
        if self.interaction is None:
            return self.norm
        return interaction_and_norm(self.interaction, self.norm)[1]

    def one_of(self, interactions: Sequence[str], path: Path) -> str:
        """Return the interaction that was named, of those that a file may be of.

        :raises KgdashError: if none was, or another one
        """
        if self.interaction:
            name, _ = interaction_name(self.interaction)
            if name in interactions:
                return name
        raise KgdashError(
            f"{path} may be of several models: give --interaction, one of {', '.join(interactions)}"
        )
