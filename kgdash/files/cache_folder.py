"""The folder of the cache: what lies there, and how much it may be."""

import contextlib
import os
import re
from pathlib import Path

import platformdirs

from kgdash.files.atomic import sweep_drafts
from kgdash.files.byte_sizes import bytes_from_environment
from kgdash.files.lock import remove_unless_held

#: how names of stored tables, of large graphs that are mapped, and of places of trainings end
TABLE, GRAPH, PLACE = ".parquet", ".arrow", ".safetensors"

#: names of files that long trainings go on from
TRAININGS = f"training-*{PLACE}"

#: what kgdash names there: the folder may hold other things, too, which stay
_NAME = re.compile(r"(training-)?[0-9a-f]{40}(\.next)?\.[a-z]+")

#: folders that this process has swept: once when it first reads there, then when it writes
_swept: set[Path] = set()


def cache_directory() -> Path:
    """Return the folder of the cache: ``$KGDASH_CACHE`` if set, else the user's cache directory."""
    return Path(os.environ.get("KGDASH_CACHE") or platformdirs.user_cache_dir("kgdash"))


def cache_limit() -> int:
    """Return how many bytes may be taken: ``$KGDASH_CACHE_LIMIT``, or 2 GiB.

    All tables together may take as many, and all graphs, and all places of trainings.

    :raises KgdashError: if the setting is no size
    """
    return bytes_from_environment("KGDASH_CACHE_LIMIT", "2G")


def stored_files(*endings: str) -> list[tuple[Path, os.stat_result]]:
    """List what is stored under some endings, the latest used first."""
    found = []
    for ending in endings:
        for path in own_files(f"*{ending}"):
            with contextlib.suppress(OSError):  # another process may have cleared it by now
                found.append((path, path.stat()))
    return sorted(found, key=lambda item: item[1].st_mtime_ns, reverse=True)


def own_files(pattern: str) -> list[Path]:
    """List what of a pattern kgdash has put into the cache."""
    return [path for path in cache_directory().glob(pattern) if _NAME.fullmatch(path.name)]


def make_room(limit: int, ending: str) -> None:
    """Delete what was not used for longest until the rest is within a limit, and sweep.

    :param ending: of what is counted and goes: a graph, seconds to make, never drives tables out
    """
    stored = stored_files(ending)
    size = sum(stat.st_size for _, stat in stored)
    for path, stat in reversed(stored):
        if size <= limit:
            break
        if remove(path):
            size -= stat.st_size
    sweep()


def note_use(path: Path) -> None:
    """Note that a file was used now."""
    with contextlib.suppress(OSError):
        os.utime(path)


def sweep_once() -> None:
    """Sweep, unless this process has swept the folder before."""
    if cache_directory() not in _swept:
        sweep()


def sweep() -> None:
    """Remove what processes that died left behind: locks, and files that were being written."""
    _swept.add(folder := cache_directory())
    sweep_drafts(folder)
    for path in own_files("*.lock"):
        remove_unless_held(path)


def remove(path: Path) -> bool:
    """Delete a file; tell whether it was there and could be."""
    with contextlib.suppress(OSError):
        path.unlink()
        return True
    return False
