"""A folder that stays the same one, whatever its path comes to lead to.

Who may rename in a folder above can put another one, somebody's own, under its path. So what is in
it is made, renamed and removed by names in the folder that was opened, where systems have that.
"""

import contextlib
import errno
import os
import shutil
import stat
from pathlib import Path
from typing import Self

#: whether they have it: Windows does not, and paths have to do
_HELD = shutil.rmtree.avoids_symlink_attacks and {os.mkdir, os.rename} <= os.supports_dir_fd

#: how a folder is opened; on Linux also one whose names may not be read
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)

#: how what may have been exchanged is opened: no pipe is waited for, and no link followed
_AT_ONCE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
_CAREFULLY = _AT_ONCE | getattr(os, "O_NOFOLLOW", 0)

_EXCHANGED = "it was moved or exchanged meanwhile"

#: what fsync says where a file system does not have it, or not for folders
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)


class HeldFolder:
    """An open folder, and the path by which it was opened."""

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path, self._handle = path, handle

    @classmethod
    def opened(cls, path: Path) -> Self:
        """Open a folder; leave it by ``with``.

        :raises OSError: if it is not there, or none
        """
        return cls(path.absolute(), os.open(path, _FOLDER) if _HELD else None)

    def inside(self, name: str, made: os.stat_result) -> Self:
        """Open a folder that was made here.

        :raises FileNotFoundError: if it is not there, or another one has its name by now
        """
        handle = None
        if self._handle is not None:
            handle = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self._handle)
        inner = type(self)(self.path / name, handle)
        if not os.path.samestat(inner.about(), made):
            inner.__exit__()
            raise FileNotFoundError(errno.ENOENT, "exchanged", name)
        return inner

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)

    def about(self) -> os.stat_result:
        """Return what the system knows of the folder."""
        return os.stat(self.path if self._handle is None else self._handle)

    def names(self) -> list[str]:
        """List all that is here."""
        if self._handle is None:
            return os.listdir(self.path)
        readable = os.open(".", os.O_RDONLY, dir_fd=self._handle)
        try:
            return os.listdir(readable)
        finally:
            os.close(readable)

    def look(self, name: str) -> os.stat_result:
        """Return what the system knows of something here; of a link, not of where it leads.

        :raises FileNotFoundError: if it is not there
        """
        return os.stat(self._at(name), dir_fd=self._handle, follow_symlinks=False)

    def is_same(self, name: str, made: os.stat_result) -> bool:
        """Tell whether a name is still that of what was made here."""
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(self.look(name), made)
        return False

    def check_path(self, name: str, made: os.stat_result) -> None:
        """Refuse a name, or a path, that is another thing's by now: not all was written here.

        :raises OSError: saying so
        """
        if not os.path.samestat(os.lstat(self.path / name), self.look(name)):
            raise OSError(errno.ESTALE, "its folder was moved or exchanged meanwhile")
        if not self.is_same(name, made):
            raise OSError(errno.ESTALE, _EXCHANGED)

    def open(self, name: str) -> int:
        """Open something here for looking at it.

        :raises OSError: if it can not be opened, or is a link
        """
        return os.open(self._at(name), _CAREFULLY, dir_fd=self._handle)

    def make_file(self, name: str) -> os.stat_result:
        """Make an empty file for its owner alone, and return what the system knows of it.

        :raises OSError: if it can not be made, or is there
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        opened = os.open(self._at(name), flags, 0o600, dir_fd=self._handle)
        try:
            return os.fstat(opened)  # by its name it may be another by now
        finally:
            os.close(opened)

    def make_folder(self, name: str) -> os.stat_result:
        """Make an empty folder for its owner alone, and return what the system knows of it.

        :raises FileNotFoundError: if it is gone, or somebody put another in its place
        :raises OSError: if it can not be made, or is there
        """
        os.mkdir(self._at(name), 0o700, dir_fd=self._handle)
        with self.inside(name, self.look(name)) as inner:
            if inner.names():  # no more is known of one that was made
                raise FileNotFoundError(errno.ENOENT, "exchanged", name)
            return inner.about()

    def set_mode(self, name: str, made: os.stat_result, mode: int) -> None:
        """Set who may read, write and enter what was made here.

        :raises OSError: if that can not be, or something else has its name by now
        """
        if self._handle is None:
            (self.path / name).chmod(mode)
            return
        opened = self.open(name)
        try:
            if not os.path.samestat(os.fstat(opened), made):
                raise OSError(errno.ESTALE, _EXCHANGED)
            os.fchmod(opened, mode)
        finally:
            os.close(opened)

    def rename(self, name: str, target: "HeldFolder", new: str, over: bool = False) -> None:
        """Move something here into a folder, maybe this one.

        :param over: whether a file that is there goes, on Windows, too
        :raises OSError: if it can not be moved
        """
        act = os.replace if over else os.rename
        source, path = self._at(name), target._at(new)
        act(source, path, src_dir_fd=self._handle, dst_dir_fd=target._handle)

    def remove(self, name: str, made: os.stat_result) -> None:
        """Remove what was made here, a folder with all in it; what else has its name by now stays.

        :raises OSError: if it can not be removed, or is not there
        """
        if not self.is_same(name, made):
            return
        if not stat.S_ISDIR(made.st_mode):
            self.unlink(name)
            return
        with self.inside(name, made) as folder:
            folder._clear()
        os.rmdir(self._at(name), dir_fd=self._handle)

    def unlink(self, name: str) -> None:
        """Remove a file.

        :raises OSError: if it can not be removed
        """
        os.unlink(self._at(name), dir_fd=self._handle)

    def sync(self, name: str = ".") -> None:
        """Have a file's content, or the names here, on the disk before going on.

        :raises OSError: if the disk fails
        """
        sync(self._at(name), self._handle)

    def sync_all(self) -> None:
        """Have all that lies here, and in folders here, on the disk before going on.

        :raises OSError: if the disk fails
        """
        for name in self.names():
            found = self.look(name)
            if stat.S_ISDIR(found.st_mode):
                with self.inside(name, found) as inner:
                    inner.sync_all()
            else:
                self.sync(name)
        self.sync()

    def _at(self, name: str) -> str:
        return str(self.path / name) if self._handle is None else name

    def _clear(self) -> None:
        for name in self.names():
            if stat.S_ISDIR(self.look(name).st_mode):
                shutil.rmtree(self._at(name), dir_fd=self._handle)
            else:
                self.unlink(name)


def sync(path: str | Path, within: int | None = None) -> None:
    """Have a file's content, or a folder's names, on the disk before going on.

    :param within: the open folder that the path begins in
    :raises OSError: if the disk fails
    """
    try:
        held = os.open(path, _AT_ONCE, dir_fd=within)
        try:
            os.fsync(held)
        finally:
            os.close(held)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
