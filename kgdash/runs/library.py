"""The folder of a user's runs: kept by name, listed, renamed, removed.

A run is a folder in it with a ``run.json``. It appears, changes its name and goes in one step each,
so that nobody ever finds half of one; what begins with a dot is not a run.
"""

import contextlib
import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from kgdash.errors import KgdashError, check_name
from kgdash.files.atomic import draft_folder, move, publish, sweep_drafts
from kgdash.files.bounds import check_room
from kgdash.files.roots import opened
from kgdash.files.user_data import data_folder
from kgdash.files.visitor import check_right, visitor
from kgdash.runs.bundled import DEMO, bundled_names
from kgdash.runs.description import describe_run
from kgdash.runs.owner import note_owner

#: what a name may be: letters, digits and _, between them also dots, hyphens and spaces
_NAME = re.compile(r"\w(?:[\w. -]*\w)?")

#: letters that nobody sees
_UNSEEN = re.compile(r"[\u115f\u1160\u3164\uffa0]")

_LONGEST = 80

#: runs that a server's visitors may have together: each page lists all of them
_MOST_RUNS = 1000


def runs_folder() -> Path:
    """Return the folder of runs: ``$KGDASH_RUNS`` if set, else in the user's data folder."""
    return Path(os.environ.get("KGDASH_RUNS") or data_folder() / "runs")


def own_names() -> list[str]:
    """Return the names of the runs in the folder of runs, sorted; no bundled one is hidden."""
    found = {path.parent.name for path in runs_folder().glob("*/run.json")}
    return sorted(name for name in found - set(bundled_names()) if _is_name(name))


def named_runs() -> dict[str, Path]:
    """Return the folders of all runs that go by a name: bundled ones, then the user's own."""
    bundled = {name: DEMO / name for name in bundled_names()}
    return bundled | {name: runs_folder() / name for name in own_names()}


def named_stamps() -> tuple[tuple[str, int, int], ...]:
    """Return what changes when the runs of `named_runs` do: name, number, change of each folder.

    Another run may be put under a name.
    """
    found = []
    for name, folder in named_runs().items():
        with contextlib.suppress(OSError):  # it was removed since
            about = folder.stat()
            found.append((name, about.st_ino, about.st_ctime_ns))
    return tuple(found)


def run_folder(source: str | Path, named: Mapping[str, Path] | None = None) -> Path:
    """Return the folder of what a user names: a run by its name, or a folder.

    :param named: of `named_runs`, which looks at all of them, for who asks for many
    :raises KgdashError: as `kgdash.files.roots.opened`
    """
    return (named_runs() if named is None else named).get(str(source)) or opened(source)


def list_runs() -> list[dict[str, Any]]:
    """Describe the user's own runs, latest first, then the bundled ones; no model is loaded.

    :return: as `describe_run`, and ``place``: "own" or "bundled"
    """
    own = [_describe_own(name) for name in own_names()]
    own.sort(key=lambda row: row["created"] or "", reverse=True)
    bundled = [describe_run(name, DEMO / name) for name in bundled_names()]
    return own + [row | {"place": "bundled"} for row in bundled]


def _describe_own(name: str) -> dict[str, Any]:
    """Describe one of the user's runs; one that does not say when it was written has its file's."""
    folder = runs_folder() / name
    row = describe_run(name, folder) | {"place": "own"}
    with contextlib.suppress(OSError):
        changed = datetime.fromtimestamp((folder / "run.json").stat().st_mtime, UTC)
        row["created"] = row["created"] or changed.isoformat(timespec="seconds")
    return row


def suggested_name(graph: str, model: str) -> str:
    """Make a free name for a run of a model on a graph: ``umls-transe``, ``umls-transe-2``, …"""
    return next(_free_names(_stem({"graph": graph, "model": model})))


def check_room_for_run() -> None:
    """Refuse a visitor's next run where the disk, or the folder of runs, is full.

    :raises KgdashError: saying so
    """
    check_room(runs_folder())
    if not visitor().is_local and len(own_names()) >= _MOST_RUNS:
        raise KgdashError(
            f"there are {_MOST_RUNS:,} runs here, as many as this server keeps: remove some on "
            "the page Runs, or ask who runs it"
        )


def keep_run(write: Callable[[Path], Any], name: str = "", numbered: bool = False) -> Path:
    """Let a run be written, then put it into the folder of runs under a name, whole.

    :param write: is given a path that does not exist, in a hidden folder; makes a run there
    :param name: if empty, made of the graph and the model, with a number where that is taken
    :param numbered: whether a name that is taken gets a number; else it is refused
    :return: the run's folder
    :raises KgdashError: if the name can not be had, or the folder of runs not be written; or as
        ``write``. Nothing is left then
    """
    if name:
        check_new_name(name, free=not numbered)
    folder = runs_folder()
    check_room_for_run()
    with ExitStack() as stack:
        try:
            hidden = stack.enter_context(draft_folder(folder / "new"))
        except OSError as error:
            raise KgdashError(f"can not write {folder}: {error.strerror or error}") from error
        draft = hidden / (name or "run")
        write(draft)
        note_owner(draft)
        check_room(folder)  # what was written may have taken it
        if name and not numbered:
            return _move(draft, folder / name, publish)
        for free in _free_names(name or _stem(describe_run("run", draft))):
            try:
                return _move(draft, folder / free, publish)
            except _Taken:
                continue
        raise AssertionError("there is always a next number")


def run_stamp(name: str) -> tuple[int, int]:
    """Return what another run under a name would not have: number and change of its folder.

    :raises KgdashError: if it is not there
    """
    try:
        about = _own_folder(name).lstat()
    except OSError as error:
        raise KgdashError(f"can not look at {name}: {error.strerror or error}") from error
    return about.st_ino, about.st_ctime_ns


def _check_same(name: str, stamp: tuple[int, int] | None) -> None:
    if stamp is not None and run_stamp(name) != stamp:
        raise KgdashError(f"{name} was changed meanwhile, or is another run by now: look again")


def _take_back(moved: Path, folder: Path, stamp: tuple[int, int] | None) -> None:
    """Move back what had the name in the last moment, and say so."""
    if stamp is not None and moved.lstat().st_ino != stamp[0]:
        _move(moved, folder)
        raise KgdashError(f"{folder.name} is another run by now: look again")


def rename_run(old: str, new: str, stamp: tuple[int, int] | None = None) -> Path:
    """Give one of the user's runs another name.

    :param stamp: of `run_stamp`: what has the name by now is left where it is another's
    :return: its folder
    :raises KgdashError: if it is not there any more, the new name can not be had, or they may not
    """
    check_right("change")
    folder = _own_folder(old)
    _check_same(old, stamp)
    if new == old:
        return folder
    check_new_name(new)
    moved = _move(folder, runs_folder() / new)
    _take_back(moved, folder, stamp)
    return moved


def remove_run(name: str, stamp: tuple[int, int] | None = None) -> None:
    """Delete one of the user's runs with all that stands in its folder.

    :param stamp: as `rename_run`
    :raises KgdashError: if it is not there (any more), can not be deleted, or they may not
    """
    check_right("change")
    folder = _own_folder(name)
    _check_same(name, stamp)
    with ExitStack() as stack:
        try:
            hidden = stack.enter_context(draft_folder(runs_folder() / "removed"))
        except OSError as error:
            raise KgdashError(f"can not remove {name}: {error.strerror or error}") from error
        _take_back(_move(folder, hidden / name), folder, stamp)


def check_new_name(name: str, free: bool = True) -> None:
    """Refuse a name that a run can not have.

    :param free: whether a name that one of the user's runs has is refused, too
    :raises KgdashError: saying why
    """
    if not _is_name(name):
        raise KgdashError(
            "expected a name of letters and digits, between them also dots, hyphens and spaces, "
            f"at most {_LONGEST} characters; found {name[: _LONGEST + 1]!r}"
        )
    looks = _look(name)
    if bundled := [each for each in bundled_names() if _look(each) == looks]:
        raise KgdashError(f"{bundled[0]} is the name of a bundled run; choose another one")
    if free and os.path.lexists(runs_folder() / name):
        raise _taken(name)


class _Taken(KgdashError):
    """The name is another run's."""


def _taken(name: str) -> _Taken:
    return _Taken(f"there is a run {name} already; choose another name")


def _stem(about: dict[str, Any]) -> str:
    text = f"{about['graph'] or ''}-{about['model'] or ''}".lower().replace("_", "-")
    return "-".join(re.findall(r"\w+", text))[: _LONGEST // 2].rstrip("-") or "run"


def _look(name: str) -> str:
    """Return what names have in common that differ in capitals, or in the width of letters."""
    return unicodedata.normalize("NFKC", name).casefold()


def _is_name(name: str) -> bool:
    short = len(name) <= _LONGEST and len(name.encode("utf-8", "replace")) <= 2 * _LONGEST
    return short and _NAME.fullmatch(name) is not None and not _UNSEEN.search(name)


def _free_names(name: str) -> Any:
    """Yield the name and those with a number that nothing has, as far as can be seen."""
    taken = set(bundled_names())
    for number in count(1):
        numbered = name if number == 1 else f"{name}-{number}"
        if numbered not in taken and not os.path.lexists(runs_folder() / numbered):
            yield numbered


def _own_folder(name: str) -> Path:
    if name in bundled_names():
        raise KgdashError(f"{name} is a bundled run: it can be neither removed nor renamed")
    sweep_drafts(runs_folder())
    check_name("run", name, own_names(), f"your runs, {runs_folder()}")
    return runs_folder() / name


def _move(folder: Path, target: Path, by: Callable[[Path, Path], None] = move) -> Path:
    """Move a run in one step; a folder that is not empty is never replaced.

    :raises _Taken: if something of that name is there
    """
    if os.path.lexists(target):
        raise _taken(target.name)
    try:
        by(folder, target)
    except FileNotFoundError:
        raise KgdashError(
            f"the run {folder.name} is not there any more: it was removed or renamed meanwhile"
        ) from None
    except OSError as error:
        if os.path.lexists(target):
            raise _taken(target.name) from None
        raise KgdashError(
            f"can not move {folder} to {target}: {error.strerror or error}"
        ) from error
    return target
