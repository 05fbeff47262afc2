"""What was read of folders, kept for all of them as long as their files stay as they are."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from kgdash.files.regular import file_stamp

T = TypeVar("T")

#: what changes when a file does: time, bytes, number
_Stamp = tuple[int, ...]

#: folders at which those that are gone are looked for first
_FEWEST = 1024


class FolderMemory(Generic[T]):
    """Reads something small of a folder's files once, until they change; safe with threads.

    A bound on how many are kept would have each read anew by who goes through more, in order: what
    is kept is of the folders that are there, and of as many that are gone.
    """

    def __init__(self, files: tuple[str, ...], read: Callable[[Path], T]) -> None:
        """Keep nothing yet.

        :param files: names of those that ``read`` reads; of a folder without any nothing is kept
        :param read: is given the folder. What it returns must be small, and not be changed
        """
        self._files, self._read = files, read
        self._kept: dict[Path, tuple[list[_Stamp], T]] = {}
        self._sweep_at = _FEWEST
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return how many folders something is kept of."""
        return len(self._kept)

    def get(self, folder: Path) -> T:
        """Return what is read of a folder, which need not be there.

        :raises KgdashError: as ``read``; that is not kept
        """
        stamps = self._stamps(folder)
        kept = self._kept.get(folder)
        if kept is not None and kept[0] == stamps:
            return kept[1]
        value = self._read(folder)
        with self._lock:
            self._kept.pop(folder, None)
            if any(stamps):
                self._kept[folder] = stamps, value
            if len(self._kept) > self._sweep_at:
                self._kept = {f: each for f, each in self._kept.items() if any(self._stamps(f))}
                self._sweep_at = max(_FEWEST, 2 * len(self._kept))
        return value

    def _stamps(self, folder: Path) -> list[_Stamp]:
        return [file_stamp(folder / name) for name in self._files]
