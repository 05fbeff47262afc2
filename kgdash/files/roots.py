"""Where a visitor's paths may lead: the one place that decides it.

Whatever lies elsewhere is refused alike, be it there or not: nobody learns of it by asking. A text
that does not even name a place below a root is refused before the disk is asked.
"""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.files.visitor import visitor

#: folders below the one that is opened whose links are looked at, and entries there at most
_DEPTH, _MOST = 2, 10_000


def opened(named: str | Path) -> Path:
    """Return the path of what a visitor names, as it may be opened.

    :param named: a file or folder; it need not be there
    :return: as named, where everything may be opened; else the real path, without links
    :raises KgdashError: if it, or a link in a folder, leads out of the visitor's roots
    """
    roots = visitor().roots
    if roots is None:
        return Path(named)
    refusal = KgdashError(f"{named} is not below a folder that may be opened here")
    try:
        # What is meant may differ after a link, but then it is looked at again.
        if not _is_below(Path(os.path.abspath(named)), roots):
            raise refusal
        found = Path(os.path.realpath(named))
        if not _is_below(found, roots):
            raise refusal
        for count, link in enumerate(_links(found, _DEPTH)):
            if count >= _MOST or (link and not _is_below(Path(os.path.realpath(link)), roots)):
                raise refusal
    except (OSError, ValueError):
        raise refusal from None
    return found


def check_opened(path: str | Path, descriptor: int) -> None:
    """Refuse an open file that lies elsewhere than its path said when that was looked at.

    Who can write below a root may put a link in a folder's place meanwhile. Only Linux tells where
    an open file lies; elsewhere nothing is refused.

    :param path: as it was opened; one that names no place below the visitor's roots passes
    :raises OSError: if it names one, and the file is not below any
    """
    roots = visitor().roots
    if not roots or not _is_below(Path(os.path.abspath(path)), roots):
        return
    try:
        found = os.readlink(f"/proc/self/fd/{descriptor}")
    except FileNotFoundError:
        return
    if not _is_below(Path(found), roots):
        raise OSError(errno.EACCES, "it leads out of the folders that may be opened here")


def may_open(named: str | Path) -> bool:
    """Tell whether `opened` refuses nothing."""
    try:
        opened(named)
    except KgdashError:
        return False
    return True


def only_some_may_be_opened() -> bool:
    """Tell whether the visitor is kept to roots."""
    return visitor().roots is not None


def _is_below(path: Path, roots: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(root) for root in roots)


def _links(folder: Path, depth: int) -> Iterator[Path | None]:
    """Yield each entry of a folder and those in it: the path of a link, None of anything else."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            yield Path(entry.path) if entry.is_symlink() else None
            if depth > 1 and entry.is_dir(follow_symlinks=False):
                yield from _links(Path(entry.path), depth - 1)
