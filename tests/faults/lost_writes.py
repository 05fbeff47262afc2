"""Power loss, by the recorded order of writes: what a disk may hold that kept a part of them.

A file system holds the content of a file and the names of a folder in memory until they are synced
(fsync). When the power goes after some system call, each file may have its content as last synced,
as written, or the one before the other; each folder its names as last synced, or as they are. All
that was recorded of a command is replayed, and at every call such disks are written out and looked
at.
"""

import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.traces import Call, paths


@dataclass(eq=False)
class _File:
    now: bytes = b""
    kept: bytes = b""

    def write(self, at: int, data: bytes) -> None:
        self.now = self.now[:at].ljust(at, b"\0") + data + self.now[at + len(data) :]


@dataclass(eq=False)
class _Folder:
    now: "dict[str, _File | _Folder]" = field(default_factory=dict)
    kept: "dict[str, _File | _Folder]" = field(default_factory=dict)


@dataclass
class _Open:
    file: _File | _Folder
    place: int = 0
    adds: bool = False


class Disk:
    """A folder as the system calls of one process change it, and as much of it as is safe."""

    def __init__(self, root: Path, template: Path) -> None:
        """Begin with what lies in ``template``, all of it safe, standing at ``root``."""
        self.root, self.tree = root, read_tree(template)
        self._open: dict[int, _Open] = {}

    def apply(self, call: Call) -> bool:
        """Follow a system call; return whether it changed anything.

        :raises NotImplementedError: on a call whose effect is not known here
        """
        if call.result < 0:
            return False
        act = getattr(self, f"_{_SAME.get(call.name, call.name)}", None)
        return act is not None and bool(act(call))

    def states(self, generator: random.Random) -> Iterator[_Folder]:
        """Yield disks that the power may leave: with all names or only safe ones, and contents."""
        for names in (True, False):
            for content in ("kept", "half", "now"):
                yield _left(self.tree, lambda _, n=names, c=content: (n, c))
        for _ in range(2):
            yield _left(
                self.tree,
                lambda _: (generator.random() < 0.5, generator.choice(("kept", "half", "now"))),
            )

    def safe(self) -> _Folder:
        """Return what is left at least."""
        return _left(self.tree, lambda _: (False, "kept"))

    def _found(self, path: str) -> tuple[_Folder, str] | None:
        """Return the folder that a path lies in, and its name there; None if it is elsewhere."""
        if not path.startswith(f"{self.root}/"):
            return None
        *above, name = os.path.normpath(path[len(str(self.root)) + 1 :]).split("/")
        folder: _File | _Folder = self.tree
        for each in above:
            if not isinstance(folder, _Folder) or each not in folder.now:
                return None
            folder = folder.now[each]
        return (folder, name) if isinstance(folder, _Folder) else None

    def _openat(self, call: Call) -> bool:
        (path,), flags = paths(call, self.root), str(call.arguments[2])
        self._open.pop(call.result, None)
        if os.path.normpath(path) == str(self.root):
            self._open[call.result] = _Open(self.tree)
            return False
        place = self._found(path)
        if place is None:
            return False
        folder, name = place
        assert name in folder.now or "O_CREAT" in flags, path
        made = name not in folder.now
        file = folder.now.setdefault(name, _File())
        emptied = "O_TRUNC" in flags and isinstance(file, _File) and file.now != b""
        if emptied:
            file.now = b""  # type: ignore[union-attr]
        self._open[call.result] = _Open(file, adds="O_APPEND" in flags)
        return made or emptied

    def _write(self, call: Call) -> bool:
        opened = self._open.get(call.handle(0))
        if opened is None or not isinstance(opened.file, _File):
            return False
        data = b"".join(part for part in call.arguments if isinstance(part, bytes))[: call.result]
        assert len(data) == call.result, call.name
        if call.name == "pwrite64":
            opened.file.write(int(str(call.arguments[3])), data)
            return True
        at = len(opened.file.now) if opened.adds else opened.place
        opened.file.write(at, data)
        opened.place = at + len(data)
        return True

    def _lseek(self, call: Call) -> None:
        if call.handle(0) in self._open:
            self._open[call.handle(0)].place = call.result

    def _read(self, call: Call) -> None:
        if call.handle(0) in self._open:
            self._open[call.handle(0)].place += call.result

    def _close(self, call: Call) -> None:
        self._open.pop(call.handle(0), None)

    def _dup(self, call: Call) -> None:
        if call.handle(0) in self._open:
            self._open[call.result] = self._open[call.handle(0)]

    def _fcntl(self, call: Call) -> None:
        if "F_DUPFD" in str(call.arguments[1]):
            self._dup(call)

    def _mmap(self, call: Call) -> None:
        shared = "MAP_SHARED" in str(call.arguments[3]) and "PROT_WRITE" in str(call.arguments[2])
        if shared and call.handle(4) in self._open:
            raise NotImplementedError("a file that is written as memory")

    def _copied(self, call: Call) -> None:
        out = call.handle(2 if call.name == "copy_file_range" else 0)
        if out in self._open:
            raise NotImplementedError(call.name)

    def _fsync(self, call: Call) -> bool:
        opened = self._open.get(call.handle(0))
        if opened is None:
            return False
        if isinstance(opened.file, _File):
            opened.file.kept = opened.file.now
        else:
            opened.file.kept = dict(opened.file.now)
        return True

    def _ftruncate(self, call: Call) -> bool:
        opened = self._open.get(call.handle(0))
        if opened is None or not isinstance(opened.file, _File):
            return False
        size = int(str(call.arguments[1]))
        opened.file.now = opened.file.now[:size].ljust(size, b"\0")
        return True

    def _truncate(self, call: Call) -> bool:
        place = self._found(paths(call, self.root)[0])
        if place is None:
            return False
        file = place[0].now[place[1]]
        assert isinstance(file, _File)
        size = int(str(call.arguments[1]))
        file.now = file.now[:size].ljust(size, b"\0")
        return True

    def _rename(self, call: Call) -> bool:
        source, target = (self._found(path) for path in paths(call, self.root))
        if source is None and target is None:
            return False
        assert source is not None
        assert target is not None
        target[0].now[target[1]] = source[0].now.pop(source[1])
        return True

    def _unlink(self, call: Call) -> bool:
        place = self._found(paths(call, self.root)[0])
        return place is not None and place[0].now.pop(place[1], None) is not None

    def _mkdir(self, call: Call) -> bool:
        place = self._found(paths(call, self.root)[0])
        if place is not None:
            place[0].now[place[1]] = _Folder()
        return place is not None


_SAME = {
    **dict.fromkeys(("pwrite64", "writev"), "write"),
    **dict.fromkeys(("renameat", "renameat2"), "rename"),
    **dict.fromkeys(("unlinkat", "rmdir"), "unlink"),
    **dict.fromkeys(("sendfile", "copy_file_range", "link", "linkat", "symlink"), "copied"),
    **dict.fromkeys(("dup2", "dup3"), "dup"),
    "mkdirat": "mkdir",
    "fdatasync": "fsync",
}


def read_tree(folder: Path) -> _Folder:
    """Read a folder from disk."""
    found: dict[str, _File | _Folder] = {}
    for path in folder.iterdir():
        content = b"" if path.is_dir() else path.read_bytes()
        found[path.name] = read_tree(path) if path.is_dir() else _File(content, content)
    return _Folder(found, dict(found))


def _left(tree: _Folder, how) -> _Folder:
    """Return what is left of a tree: by ``how``, of each part whether names, which content."""
    names, _ = how(tree)
    left: dict[str, _File | _Folder] = {}
    for name, each in (tree.now if names else tree.kept).items():
        if isinstance(each, _Folder):
            left[name] = _left(each, how)
        else:
            content = each.now if (kind := how(each)[1]) == "now" else each.kept
            if kind == "half":
                content = _half(each)
            left[name] = _File(content, content)
    return _Folder(left, dict(left))


def _half(file: _File) -> bytes:
    """Return a file of which half is written of what differs: what is behind stays as it was."""
    pairs = enumerate(zip(file.now, file.kept, strict=False))
    shorter = min(len(file.now), len(file.kept))
    same = next((place for place, (new, old) in pairs if new != old), shorter)
    cut = (same + len(file.now)) // 2
    return file.now[:cut] + file.kept[cut:]


def spread(tree: _Folder) -> dict[str, bytes | None]:
    """Return the files of a tree by path, folders with None."""
    found: dict[str, bytes | None] = {}
    for name, each in tree.now.items():
        if isinstance(each, _File):
            found[name] = each.now
        else:
            found[name] = None
            found |= {f"{name}/{inner}": value for inner, value in spread(each).items()}
    return found


def write_out(state: dict[str, bytes | None], folder: Path) -> None:
    """Write a tree to disk, in place of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in state.items():
        if content is None:
            (folder / name).mkdir(parents=True, exist_ok=True)
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
