"""Files from outside: a pipe or a device among them would keep its reader for ever."""

import errno
import hashlib
import os
import stat
from pathlib import Path


def check_regular(path: str | Path, most: int | None = None) -> None:
    """Refuse what is neither a regular file nor a folder, or too large, before it is opened.

    :param most: bytes
    :raises OSError: if it is something else, or larger; or if there is no such file. Its
        ``strerror`` says so for people
    """
    found = os.stat(path)
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise OSError(errno.EINVAL, "it is a pipe, a device or a socket, or leads to one")
    if most is not None and found.st_size > most:
        raise OSError(errno.EFBIG, f"it is larger than {most // 2**20:,} MiB")


def file_digest(path: Path, most: int | None = None) -> str:
    """Return a file's SHA-256, in hexadecimal.

    :param most: bytes at which it is refused unread
    :raises OSError: as `check_regular`, or if it can not be read
    """
    check_regular(path, most)
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
