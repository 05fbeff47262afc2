"""Files from outside: a pipe or a device among them would keep its reader for ever."""

import errno
import hashlib
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import IO

from kgdash.files.byte_sizes import written_size
from kgdash.files.roots import check_opened

#: where things are everybody's
_SYSTEM = ("/dev", "/proc")

#: how what may be another's is opened: no link is followed, and no pipe waited for
_AT_ITSELF = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))

_NO_OWN = "it is a link, another account's, or has further names: put a copy in its place"

#: links, one to another, that systems follow
_MOST_LINKS = 40


def check_regular(path: str | Path | int, most: int | None = None) -> None:
    """Refuse what is neither a regular file nor a folder, or too large, before it is opened.

    :param path: or the number of an open file
    :param most: bytes
    :raises OSError: if it is something else, or larger; or if there is no such file. Its
        ``strerror`` says so for people
    """
    found = os.stat(path)
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise OSError(errno.EINVAL, "it is a pipe, a device or a socket, or leads to one")
    if most is not None and found.st_size > most:
        raise OSError(errno.EFBIG, f"it is larger than {written_size(most)}")


def check_no_system_link(path: Path) -> None:
    """Refuse a link that leads, maybe by others, into ``/dev`` or ``/proc``, or lies there.

    ``/dev/stdout`` is one: of a regular file where that is what the output goes to, but its place
    is everybody's. What is in memory, ``/dev/shm``, is like other folders.

    :raises OSError: if it is one. Its ``strerror`` says so for people
    """
    place = Path(path)
    for _ in range(_MOST_LINKS):
        if not place.is_symlink():
            return
        for named in (place, target := place.parent / place.readlink()):
            real = Path(os.path.realpath(named.parent)) / named.name
            if any(map(real.is_relative_to, _SYSTEM)) and not real.is_relative_to("/dev/shm"):
                raise OSError(errno.EINVAL, "it is a link into /dev or /proc")
        place = target


def open_regular(path: str | Path, most: int | None = None) -> BufferedReader:
    """Open a file from outside for reading.

    :param most: bytes
    :raises OSError: as `check_regular` and `kgdash.files.roots.check_opened`, of what was opened
        too, whatever was put in its place meanwhile
    """
    check_regular(path, most)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        check_regular(descriptor, most)
        check_opened(path, descriptor)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def open_own(path: Path, most: int | None = None, adding: bool = False) -> IO[bytes]:
    """Open a file that kgdash adds to: whoever lays a link there reaches no other by it.

    :param most: bytes
    :param adding: whether to add to it, too; then it is made if it is not there
    :raises OSError: as `check_regular`; or if it is a link, neither one's own nor root's, or a hard
        link. Its ``strerror`` says so for people
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, _NO_OWN)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT if adding else os.O_RDONLY
    descriptor = os.open(path, flags | _AT_ITSELF, 0o666)
    try:
        check_regular(descriptor, most)
        about = os.fstat(descriptor)
        is_own = os.name == "nt" or about.st_uid in (os.geteuid(), 0)
        if stat.S_ISREG(about.st_mode) and (about.st_nlink > 1 or not is_own):
            raise OSError(errno.EPERM, _NO_OWN)
        return os.fdopen(descriptor, "a+b" if adding else "rb")
    except BaseException:
        os.close(descriptor)
        raise


def file_stamp(path: Path) -> tuple[int, ...]:
    """Return what changes whenever a file does, its bytes first; empty where none is.

    Times may be set by hand and sizes be equal: what the system notes of changes counts, too.
    """
    try:
        about = path.stat()
    except (OSError, ValueError):
        return ()
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino


def file_digest(path: Path, most: int | None = None) -> str:
    """Return a file's SHA-256, in hexadecimal.

    :param most: bytes at which it is refused unread
    :raises OSError: as `open_regular`, or if it can not be read
    """
    with open_regular(path, most) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
