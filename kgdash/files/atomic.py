"""Files and folders that appear whole or not at all, and stay so when the power goes.

What is written is on the disk (fsync) before it gets its name, and the name before the writer says
so. Until then it is a draft, a hidden name that ends in ``.kgdash-part``, which its writer holds
locked: what a process that died has left nobody holds, and the next writer into the folder removes
it, where nobody else may give other things such names.

Who may rename in the folder, or in one above, can put something else under the path meanwhile. So
what is named, shared and removed is what was made, in the folder that was opened for it
(`kgdash.files.drafts`), and nothing else.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kgdash.errors import KgdashError
from kgdash.files.drafts.draft import folders, held_draft, made_as, move, sweep
from kgdash.files.drafts.held_folder import HeldFolder, sync
from kgdash.files.regular import check_no_system_link, check_regular

#: what others may not do with what this process writes, as it was started
_UMASK = os.umask(0o077)
os.umask(_UMASK)


@contextmanager
def atomic_file(out: Path) -> Iterator[Path]:
    """Give the block another path in the same folder to write, and move that file to ``out``.

    If the block raises, what it wrote is removed and ``out`` stays as it was.

    :raises OSError: if the folder can not be made or written, or something else has the draft's
        name or path by then
    """
    make_folder(out.parent)
    with held_draft(out, HeldFolder.make_file) as draft:
        yield draft.path
        draft.folder.sync(draft.name)
        move(draft.path, out, over=True)


def write_atomically(out: Path, write: Callable[[Path], Any]) -> None:
    """Write a file that somebody asked for and may share: whole or not at all, see `share`.

    :param write: writes the content to the path that it is given
    :raises KgdashError: if the file can not be written, or is a device, a pipe, or a link to one or
        to what a process has open: a file would take its place, for all who use it
    """
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            check_regular(out)
        check_no_system_link(out)
        with atomic_file(out) as part:
            write(part)
            share(part, out)
    except OSError as error:
        raise KgdashError(f"can not write {out}: {error.strerror or error}") from error


def share(path: Path, out: Path | None = None) -> None:
    """Let others read what was a draft, as far as the umask does.

    :param out: the file whose place it will take: who may read and write that may go on, if it is
        one's own; nobody may run it, under whoever's name
    :raises OSError: if that can not be, or something else has a draft's name by then
    """
    with folders(path) as (folder,):
        made = made_as(path) or folder.look(path.name)
        mode = (0o777 if stat.S_ISDIR(made.st_mode) else 0o666) & ~_UMASK
        if out is not None:
            with contextlib.suppress(OSError):
                before = out.lstat()
                if stat.S_ISREG(before.st_mode) and before.st_uid == made.st_uid:
                    mode = before.st_mode & 0o666
        folder.set_mode(path.name, made, mode)


@contextmanager
def draft_folder(out: Path) -> Iterator[Path]:
    """Give the block a hidden, empty folder beside ``out``; it is gone when the block ends.

    What is to stay leaves it by `publish`.

    :raises OSError: if it can not be made
    """
    make_folder(out.parent)
    with held_draft(out, HeldFolder.make_folder) as draft:
        yield draft.path


def publish(draft: Path, out: Path) -> None:
    """Give a folder that was written its name, once all in it is on the disk.

    :raises OSError: if it can not be moved: ``out`` is in the way, something else has the draft's
        name or path by then, or the disk fails
    """
    with folders(draft) as (folder,):
        made = made_as(draft) or folder.look(draft.name)
        folder.check_path(draft.name, made)
        with folder.inside(draft.name, made) as written:
            written.sync_all()
    move(draft, out)


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder and those above it, unless they are there.

    :param mode: of those that are made, as far as the umask lets
    :raises OSError: if that can not be
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in (*reversed(missing), folder):
        each.mkdir(mode, parents=True, exist_ok=True)
    for each in missing:
        sync(each.parent)


def sweep_drafts(folder: Path) -> None:
    """Remove the drafts in a folder whose writers died; those of living ones stay.

    None where somebody else may give anything a draft's name.
    """
    with contextlib.suppress(OSError), HeldFolder.opened(folder) as held:
        sweep(held)
