"""Where a user's own things are kept."""

import os
import stat
from pathlib import Path

from platformdirs import user_data_path

from kgdash.errors import KgdashError
from kgdash.files.visitor import visitor

#: the folder, in that of the data, of what a server's visitors have of their own
VISITORS = "visitors"


def data_folder() -> Path:
    """Return the folder of a user's data: ``$KGDASH_DATA`` if set, else the user's data folder."""
    return Path(os.environ.get("KGDASH_DATA") or user_data_path("kgdash"))


def own_folder() -> Path:
    """Return the folder of what nobody but the visitor sees; at this machine, `data_folder`.

    :raises KgdashError: if nobody asks
    """
    folder = visitor().folder
    if folder is None:
        raise KgdashError("nobody is logged in here; log in first")
    return data_folder() / VISITORS / folder if folder else data_folder()


def is_private(folder: str | Path) -> bool:
    """Tell whether a folder is one's own, for oneself alone to write, and stays where it is.

    Those above it are one's own or root's, too, and nobody else may rename in them: a sticky one is
    root's. One's own group may write: many have one to themselves, with a umask of 002.
    """
    place = Path(folder).resolve()
    if os.name == "nt":
        return place.is_dir()
    try:
        own, *above = [(each, each.lstat()) for each in (place, *place.parents)]
    except OSError:
        return False
    return own[1].st_uid == os.geteuid() and not _is_shared(*own) and all(map(_is_kept, above))


def _is_kept(at: tuple[Path, os.stat_result]) -> bool:
    """Tell whether nobody else may rename what is one's own in a folder."""
    folder, about = at
    if about.st_uid not in (os.geteuid(), 0):
        return False
    is_sticky = bool(about.st_mode & stat.S_ISVTX) and about.st_uid == 0
    return is_sticky or not _is_shared(folder, about)


def _is_shared(folder: Path, about: os.stat_result) -> bool:
    """Tell whether others may write: of a list of who may, the mask stands in the group's place."""
    if about.st_mode & stat.S_IWOTH:
        return True
    if not about.st_mode & stat.S_IWGRP:
        return False
    listed = os.listxattr(folder) if hasattr(os, "listxattr") else []
    return about.st_gid != os.getegid() or any("posix_acl_access" in name for name in listed)
