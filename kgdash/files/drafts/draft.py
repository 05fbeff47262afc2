"""Drafts: made beside what they become, held by their writers, removed when nobody holds them."""

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from kgdash.files.drafts.held_folder import HeldFolder

try:
    import fcntl
except ImportError:  # Windows: drafts of processes that died stay there
    fcntl = None  # type: ignore[assignment]

_DRAFT = ".kgdash-part"

#: names of drafts
_OURS = re.compile(r"\..*-[a-z0-9_]{8}\.kgdash-part", re.DOTALL)

#: bytes of a file's name that its draft's begins with, and names that are tried: a folder that was
#: removed refuses each
_NAME, _TRIES = 80, 100


@dataclass(frozen=True)
class Draft:
    """What is being written, in the folder that was opened for it."""

    folder: HeldFolder
    name: str
    made: os.stat_result

    @property
    def path(self) -> Path:
        """Where to write; may lead elsewhere by then, see `HeldFolder.check_path`."""
        return self.folder.path / self.name


#: drafts that this process writes, by their paths
_living: dict[Path, Draft] = {}


@contextmanager
def held_draft(out: Path, make: Callable[[HeldFolder, str], os.stat_result]) -> Iterator[Draft]:
    """Make a draft beside ``out`` that is held during the block and gone after it.

    :param make: makes it, and returns what the system knows of it
    :raises OSError: if it can not be made
    """
    with HeldFolder.opened(out.parent) as folder:
        sweep(folder)
        draft, lock = _new(folder, out.name, make)
        _living[draft.path] = draft
        try:
            yield draft
        finally:
            with contextlib.suppress(OSError):
                if _living.pop(draft.path, None) is not None:
                    folder.remove(draft.name, draft.made)
            if lock is not None:
                os.close(lock)


def move(source: Path, target: Path, over: bool = False) -> None:
    """Rename a file or folder in one step, for good, see `folders`.

    :param over: whether a file that is there goes, on Windows, too
    :raises OSError: if that can not be, or something else has a draft's name or path by then
    """
    with folders(source, target) as (here, there):
        if made := made_as(here.path / source.name):
            here.check_path(source.name, made)
        here.rename(source.name, there, target.name or ".", over)
        _living.pop(here.path / source.name, None)  # what has its name by now is no draft
        for folder in {each.path: each for each in (here, there)}.values():
            folder.sync()


def made_as(path: Path) -> os.stat_result | None:
    """Return what the system knew of a draft as it was made; None of what is no draft."""
    draft = _living.get(path.absolute())
    return None if draft is None else draft.made


@contextmanager
def folders(*paths: Path) -> Iterator[list[HeldFolder]]:
    """Give the folders that paths lie in: as a living draft among them holds it, or opened now.

    :raises OSError: if one is not there
    """
    above = [path.parent.absolute() for path in paths]
    held: dict[Path, HeldFolder] = {}
    with ExitStack() as stack:
        for path in (*above, *(here / path.name for here, path in zip(above, paths, strict=True))):
            if draft := _living.get(path):
                held[draft.folder.path] = draft.folder
                if path in above:
                    held[path] = stack.enter_context(draft.folder.inside(draft.name, draft.made))
        for path in above:
            if path not in held:
                held[path] = stack.enter_context(HeldFolder.opened(path))
        yield [held[path] for path in above]


def sweep(folder: HeldFolder) -> None:
    """Remove the drafts in a folder whose writers died; those of living ones stay.

    None where somebody else may give anything a draft's name, or where names can not be read.
    """
    if fcntl is None or not _is_own(folder.about()):
        return
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = folder.names()
    for name in filter(_OURS.fullmatch, names):
        with contextlib.suppress(OSError, RecursionError):
            held = _lock(folder, name)
            try:
                found = os.fstat(held)
                if found.st_uid == os.geteuid():  # others' folders may hold what is ours
                    folder.remove(name, found)
            finally:
                os.close(held)


def _is_own(about: os.stat_result) -> bool:
    """Tell whether nobody else may name anything in a folder.

    A sticky one is not: what is ours elsewhere, where others may write, can be moved there.
    """
    # The group's bits are those of an access control list, too, where there is one.
    alone = not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return alone and about.st_uid in (os.geteuid(), 0)


def _new(
    folder: HeldFolder, name: str, make: Callable[[HeldFolder, str], os.stat_result]
) -> tuple[Draft, int | None]:
    """Make a draft and hold it; also return what to close to let go of it."""
    beginning = name.encode()[:_NAME].decode(errors="ignore")
    for left in reversed(range(_TRIES)):
        drawn = f".{beginning}-{secrets.token_hex(4)}{_DRAFT}"
        try:
            draft = Draft(folder, drawn, make(folder, drawn))
            return draft, _hold(draft)
        except (FileExistsError, BlockingIOError, FileNotFoundError):
            # Another process has the name, or swept or exchanged it before it was held.
            if not left:
                raise
    raise AssertionError("the last try returns or raises")


def _hold(draft: Draft) -> int | None:
    """Lock a draft of this process; None on file systems without locks: nobody sweeps there.

    :raises BlockingIOError: if another process holds it
    :raises FileNotFoundError: if it is gone, or something else has its name
    """
    try:
        held = _lock(draft.folder, draft.name)
    except (BlockingIOError, FileNotFoundError):
        raise
    except OSError:
        return None
    if not os.path.samestat(os.fstat(held), draft.made):
        os.close(held)
        raise FileNotFoundError(errno.ENOENT, "exchanged", draft.name)
    return held


def _lock(folder: HeldFolder, name: str) -> int:
    """Lock a draft; the system lets go of it when the process ends, however that happens.

    :return: what to close to let go of it
    :raises BlockingIOError: if it is held
    :raises OSError: if it can not be locked, or is gone
    """
    if fcntl is None:
        raise OSError(errno.ENOLCK, "no locks here")
    held = folder.open(name)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not folder.is_same(name, os.fstat(held)):
            raise FileNotFoundError(errno.ENOENT, "swept", name)
    except BaseException:
        os.close(held)
        raise
    return held
