"""Files and folders that appear whole or not at all, and stay so when the power goes.

What is written is on the disk (fsync) before it gets its name, and the name before the writer says
so. Until then it is a draft, a hidden name that ends in ``.kgdash-part``, which its writer holds
locked: what a process that died has left nobody holds, and the next writer into the folder removes
it, where nobody else may give other things such names.
"""

import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kgdash.errors import KgdashError
from kgdash.files.regular import check_regular

try:
    import fcntl
except ImportError:  # Windows: drafts of processes that died stay there
    fcntl = None  # type: ignore[assignment]

_DRAFT = ".kgdash-part"

#: names of drafts, as `tempfile` makes them, and of SQLite's journals beside them
_OURS = re.compile(r"(?P<draft>\..*-[a-z0-9_]{8}\.kgdash-part)(?P<journal>-journal)?", re.DOTALL)

#: what others may not do with what this process writes, as it was started
_UMASK = os.umask(0o077)
os.umask(_UMASK)

#: bytes of a file's name that its draft's begins with
_NAME = 80

#: what fsync says where a file system does not have it, or not for folders
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)


@contextmanager
def atomic_file(out: Path) -> Iterator[Path]:
    """Give the block another path in the same folder to write, and move that file to ``out``.

    If the block raises, what it wrote is removed and ``out`` stays as it was.

    :raises OSError: if the folder can not be made or written
    """
    with _draft(out, _new_file) as part:
        yield part
        sync(part)
        os.replace(part, out)
        sync(out.parent)


def write_atomically(out: Path, write: Callable[[Path], Any]) -> None:
    """Write a file that somebody asked for and may share: whole or not at all, see `share`.

    :param write: writes the content to the path that it is given
    :raises KgdashError: if the file can not be written, or is a device or a pipe: a file would take
        its place, for all who use it
    """
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            check_regular(out)
        with atomic_file(out) as part:
            write(part)
            share(part)
    except OSError as error:
        raise KgdashError(f"can not write {out}: {error.strerror or error}") from error


def share(path: Path) -> None:
    """Let others read what was a draft, as far as the umask does."""
    path.chmod((0o777 if path.is_dir() else 0o666) & ~_UMASK)


@contextmanager
def draft_folder(out: Path) -> Iterator[Path]:
    """Give the block a hidden, empty folder beside ``out``; it is gone when the block ends.

    What is to stay leaves it by `publish`.

    :raises OSError: if it can not be made
    """
    with _draft(out, _new_folder) as draft:
        yield draft


def publish(draft: Path, out: Path) -> None:
    """Give a folder that was written its name, once all in it is on the disk.

    :raises OSError: if it can not be moved: ``out`` is in the way, or the disk fails
    """
    for folder, _, names in os.walk(draft):
        for name in names:
            sync(Path(folder) / name)
        sync(Path(folder))
    move(draft, out)


def move(source: Path, target: Path) -> None:
    """Rename a file or folder in one step, for good.

    :raises OSError: if that can not be
    """
    source.rename(target)
    for folder in {source.parent, target.parent}:
        sync(folder)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless they are there.

    :raises OSError: if that can not be
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync(each.parent)


def sweep_drafts(folder: Path) -> None:
    """Remove the drafts in a folder whose writers died; those of living ones stay.

    None where somebody else may give anything a draft's name.
    """
    if fcntl is None or not _is_own(folder):
        return
    for path in sorted(folder.glob(f".*{_DRAFT}*")):  # a draft before its journal
        named = _OURS.fullmatch(path.name)
        if named is None:
            continue
        with contextlib.suppress(OSError, RecursionError):
            if named["journal"]:
                if not os.path.lexists(folder / named["draft"]):
                    path.unlink()
                continue
            held = _hold(path)
            try:
                if os.fstat(held).st_uid == os.geteuid():  # others' folders may hold what is ours
                    _remove(path)
            finally:
                os.close(held)


def _is_own(folder: Path) -> bool:
    """Tell whether nobody else may name anything in a folder.

    A sticky one is not: what is ours elsewhere, where others may write, can be moved there.
    """
    try:
        about = folder.stat()
    except OSError:
        return False
    # The group's bits are those of an access control list, too, where there is one.
    alone = not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return alone and about.st_uid in (os.geteuid(), 0)


@contextmanager
def _draft(out: Path, make: Callable[[Path], Path]) -> Iterator[Path]:
    """Make a draft beside ``out`` that is held during the block and gone after it."""
    make_folder(out.parent)
    sweep_drafts(out.parent)
    draft, held = _held_draft(out, make)
    try:
        yield draft
    finally:
        with contextlib.suppress(OSError):
            _remove(draft)
        if held is not None:
            os.close(held)


def _held_draft(out: Path, make: Callable[[Path], Path]) -> tuple[Path, int | None]:
    while True:
        draft = make(out)
        try:
            return draft, _hold(draft)
        except (BlockingIOError, FileNotFoundError):
            continue  # another process swept it before it was held
        except OSError:
            return draft, None  # a file system without locks: nobody sweeps there, either


def _hold(path: Path) -> int:
    """Lock a draft; the system lets go of it when the process ends, however that happens.

    :return: what to close to let go of it
    :raises BlockingIOError: if it is held
    :raises OSError: if it can not be locked, or is gone
    """
    if fcntl is None:
        raise OSError(errno.ENOLCK, "no locks here")
    held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(held), os.lstat(path)):
            raise FileNotFoundError(errno.ENOENT, "swept", str(path))
    except BaseException:
        os.close(held)
        raise
    return held


def _beginning(out: Path) -> str:
    return f".{out.name.encode()[:_NAME].decode(errors='ignore')}-"


def _new_file(out: Path) -> Path:
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=_beginning(out), suffix=_DRAFT)
    os.close(handle)
    return Path(name)


def _new_folder(out: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=out.parent, prefix=_beginning(out), suffix=_DRAFT))


def _remove(draft: Path) -> None:
    if draft.is_dir():
        shutil.rmtree(draft)
    else:
        draft.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Have a file's content, or a folder's names, on the disk before going on.

    :raises OSError: if the disk fails
    """
    try:
        held = os.open(path, os.O_RDONLY)
        try:
            os.fsync(held)
        finally:
            os.close(held)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
