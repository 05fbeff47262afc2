"""What is fuzzed: a reader of files, with files to begin from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from tests.fuzz.mutation.bytewise import change_bytes
from tests.fuzz.mutation.containers import CHANGES, Change

#: seconds of processor time that a case may take
SECONDS = 2.0


@dataclass(frozen=True)
class Reader:
    """A function that reads a file and may raise nothing but `kgdash.errors.KgdashError`.

    ``make`` makes the contents to begin from, once. ``read`` is given the path of a file, or of a
    folder where ``place`` ends in ".folder" and contents are zip files of it. ``place`` is where
    the file lies in an otherwise empty folder; its extension says how contents are changed, and
    their bytes are, unless ``change`` does it. ``$KGDASH_DATA``, ``$KGDASH_CACHE`` and
    ``$KGDASH_RUNS`` are the folders data, cache and runs beside it. ``leaves`` names those of them
    in which files may stay behind, ``seconds`` is what a case may take.
    """

    name: str
    make: Callable[[], Sequence[bytes]]
    read: Callable[[Path], object]
    place: str
    change: Change | None = None
    leaves: tuple[str, ...] = ()
    seconds: float = SECONDS

    @cached_property
    def seeds(self) -> tuple[bytes, ...]:
        """Return the contents to begin from."""
        return tuple(self.make())

    @property
    def is_folder(self) -> bool:
        """Tell whether contents are zip files of a folder."""
        return self.place.endswith(".folder")

    def step(self, data: bytes, random: Random) -> bytes:
        """Change a content once."""
        if self.change is not None:
            return self.change(data, random)
        knows = self.is_folder or random.random() < 0.65
        return (CHANGES[Path(self.place).suffix] if knows else change_bytes)(data, random)

    def case(self, seed: int, number: int) -> bytes:
        """Return a case, the same for the same seed and number."""
        random = Random(f"{seed} {self.name} {number}")
        data = random.choice(self.seeds)
        if number == 0:
            return data
        for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5, 8))):
            data = self.step(data, random)
        return data
