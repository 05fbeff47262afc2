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
        is_own = place.stat().st_uid == os.geteuid() and not others_may_write(place)
        return is_own and all(map(_is_kept, place.parents))
    except OSError:
        return False


def _is_kept(folder: Path) -> bool:
    """Tell whether nobody else may rename what is one's own in a folder."""
    about = folder.stat()
    is_sticky = bool(about.st_mode & stat.S_ISVTX) and about.st_uid == 0
    return is_sticky or not others_may_write(folder)


def others_may_write(path: Path) -> bool:
    """Tell whether another account than one's own and root may write a file, or in a folder.

    :raises OSError: if it is not there
    """
    if os.name == "nt":
        return False
    about = path.stat()
    if about.st_uid not in (os.geteuid(), 0) or about.st_mode & stat.S_IWOTH:
        return True
    if not about.st_mode & stat.S_IWGRP:
        return False
    # Of a list of who may, the mask stands in the group's place.
    listed = os.listxattr(path) if hasattr(os, "listxattr") else []
    return about.st_gid != os.getegid() or any("posix_acl_access" in name for name in listed)
