"""What other accounts of the machine may change, by the rights of files and folders."""

import errno
import os
import stat
from pathlib import Path

#: names and links on a path's way
_STEPS = 4000


def is_private(folder: str | Path) -> bool:
    """Tell whether a folder is one's own, for oneself alone to write, and stays where it is.

    What is root's counts for oneself, and what one's own group may write, if that has no other
    members: many have one to themselves, with a umask of 002.
    """
    try:
        is_own = os.name == "nt" or os.stat(folder).st_uid == os.geteuid()
        return is_own and os.path.isdir(folder) and not others_may_change(folder)
    except OSError:
        return False


def others_may_change(path: str | Path) -> bool:
    """Tell whether another account than one's own and root may change what a path leads to.

    Be it what lies there, or where a folder or a link on the way leads. What nobody else may change
    stays so: ask before the path is opened.

    :raises OSError: if nothing is there
    """
    if os.name == "nt":
        return False
    folder, names = "/", _names(os.path.join(os.getcwd(), path))
    for _ in range(_STEPS):
        about = os.lstat(here := os.path.join(folder, names.pop() if names else "."))
        if about.st_uid not in (os.geteuid(), 0):
            return True
        if stat.S_ISLNK(about.st_mode):
            to = os.readlink(here)
            folder, names = "/" if os.path.isabs(to) else folder, names + _names(to)
            continue
        # In a sticky folder of root's nobody renames what is one's own.
        is_kept = bool(names and about.st_mode & stat.S_ISVTX) and about.st_uid == 0
        if not is_kept and _others_may_write(here, about):
            return True
        if not names:
            return False
        folder = here
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _names(path: str) -> list[str]:
    """Return the names of a path, the last one first."""
    return [name for name in reversed(path.split("/")) if name]


def _others_may_write(path: str, about: os.stat_result) -> bool:
    if about.st_mode & stat.S_IWOTH:
        return True
    if not about.st_mode & stat.S_IWGRP:
        return False
    # Of a list of who may, the mask stands in the group's place.
    return not _is_own_group(about.st_gid) or _has_list(path)


def _has_list(path: str) -> bool:
    """Tell whether there may be a list of who may write; not every disk knows of these."""
    try:
        return hasattr(os, "listxattr") and "system.posix_acl_access" in os.listxattr(path)
    except OSError as error:
        return error.errno != errno.ENOTSUP


def _is_own_group(group: int) -> bool:
    """Tell whether a group is one's own alone: by one's name, nobody else's, and with no member."""
    import grp
    import pwd

    # A group's list has those alone who have another one first; its number may have two names. Of
    # what is kept on other machines neither may be listed, and then nothing is known.
    groups = [each for each in grp.getgrall() if each.gr_gid == group]
    first = {each.pw_uid for each in pwd.getpwall() if each.pw_gid == group}
    own = {each.pw_name for each in pwd.getpwall() if each.pw_uid == os.geteuid()}
    named = {name for each in groups for name in (each.gr_name, *each.gr_mem)}
    return first == {os.geteuid()} and named == own


def others_may_make(path: str | Path) -> bool:
    """Tell whether another account than one's own and root may change or make what a path leads to.

    Unlike `others_may_change`, it answers where nothing is: who may write in the nearest folder
    above that there is may make the rest.
    """
    if os.name == "nt":
        return False
    return any(map(_others_may_make, (os.path.join(os.getcwd(), path), os.path.realpath(path))))


def _others_may_make(path: str) -> bool:
    try:
        return others_may_change(path)
    except OSError:
        return _others_may_make(os.path.dirname(path))
