"""Runs that are loaded, once for all sessions."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.files.regular import file_stamp
from kgdash.files.roots import may_open
from kgdash.files.visitor import visitor
from kgdash.formats.run_directory import MANIFEST
from kgdash.runs import Run
from kgdash.runs.bundled import bundled_names
from kgdash.runs.call import remember
from kgdash.runs.library import named_runs, run_folder
from kgdash.runs.loading import load
from kgdash.runs.owner import owner_of
from kgdash.ui.runtime.held import held_bytes
from kgdash.ui.runtime.page_turns import turn_at
from kgdash.ui.runtime.short_memory import is_short

#: runs that stay loaded: as many as can be compared, and the next one; of those whose files are no
#: larger than so many bytes, all that a trust card may ask: names take fifty times that in memory
_LOADED, _SMALL, _SMALL_LOADED = 9, 2**18, 64

#: bytes that the runs of one page may hold together
_TOGETHER = 2**30

#: bytes beyond the bound of memory, which pages that run may need, from which on none is loaded
#: beside others
_BEYOND = 2**29

#: seconds for which a run counts as somebody's who asked for it
_LATELY = 600.0

#: files of a folder that are looked at
_FILES = 64


def load_source(source: str, dataset: str = "") -> Run:
    """Load a run, once for all sessions and again when its files change.

    :param source: the name of a run, or a folder
    :param dataset: for a PyKEEN directory; may be empty
    :raises KgdashError: as `kgdash.runs.loading.load`
    """
    return _load_asked(_asked_for(source, dataset))


def load_beside(source: str, dataset: str = "") -> Run:
    """Load a run beside others of a page, as `load_source`: where memory is short, none is added.

    :raises KgdashError: as `load_source`; on a server that has too much in use, saying so
    """
    return _load_asked(_asked_for(source, dataset), beside=True)


def _asked_for(source: str, dataset: str) -> _Key:
    name, of = source.strip(), dataset.strip() or None
    return name, of, _stamp(run_folder(name), of)  # refused here, whoever loaded it before


def _is_at_hand(key: _Key) -> bool:
    return (opened := _opened.get(key)) is not None and opened.run() is not None


def _load_asked(key: _Key, beside: bool = False) -> Run:
    name, dataset, stamp = key
    load_once = _load_small if not dataset and is_small(stamp) else _load
    # What a model is made of may take as much again.
    with nullcontext() if _is_at_hand(key) else turn_at("loads", 1):
        if beside and not _is_at_hand(key) and is_short(visitor().owner, _BEYOND):
            raise KgdashError(
                f"the server's memory is short, and {name} is not loaded: take fewer runs, or try "
                "again in a minute"
            )
        run: Run = load_once(*key)
    _note(load_once, key, run)
    return run


def loaded_runs() -> Iterator[tuple[Run, str]]:
    """Yield each run that is loaded, and who asked for it last: in which order they may go.

    First those that were let go of and are still in use; those that several visitors asked for
    lately come last, and the latest after them.
    """
    with _guard:
        opened = list(_opened.values())
        _left[:] = [(ref, owner) for ref, owner in _left if ref() is not None]
        left = [(run, owner) for ref, owner in _left if (run := ref()) is not None]
    yield from left
    since = time.monotonic() - _LATELY
    shared = [sum(at > since for at in each.askers.values()) > 1 for each in opened[:-1]]
    order = sorted(range(len(shared)), key=shared.__getitem__)
    for each in (*(opened[at] for at in order), *opened[-1:]):
        if (run := each.run()) is not None:
            yield run, _owner(each)


def forget_runs(graphs: Collection[int]) -> None:
    """Let go of runs whose graphs have some `id`."""
    with _guard:
        for key, each in list(_opened.items()):
            if (run := each.run()) is None or id(run.graph) in graphs:
                del _opened[key]
                each.loader.clear(*key)
                _left.append((each.run, _owner(each)))


def is_small(stamp: tuple[tuple[Any, ...], ...]) -> bool:
    """Tell whether a run is one of many that may stay loaded: ours, all of whose files are seen.

    :param stamp: of `_stamp`: name, bytes and more of the folder's files
    """
    names, sizes = {name for name, *_ in stamp}, sum(size for _, size, *_ in stamp)
    return MANIFEST in names and len(stamp) < _FILES and sizes <= _SMALL


def is_small_run(name: str, named: Mapping[str, Path] | None = None) -> bool:
    """Tell whether a run of a name is small; not one that can not be opened.

    :param named: of `kgdash.runs.library.named_runs`, for who asks for many
    """
    try:
        return is_small(_stamp(run_folder(name, named)))
    except KgdashError:
        return False


def check_together(runs: Iterable[Run]) -> None:
    """Refuse runs that one page would hold at once, if others need the memory, too.

    :raises KgdashError: on a server, of more than 1 GiB but for a single run
    """
    if not _fit_together(each := list(runs)):
        raise KgdashError(f"{len(each)} of these runs take more than 1 GiB together; take fewer")


def quick_runs(run: Run, names: Sequence[str], most: int | None = None) -> list[str]:
    """Return which other runs a run's pages may ask unasked: on a server, bundled and small ones.

    What visitors added may take minutes on everybody's page, and says itself what it is: beside a
    bundled run bundled ones are asked alone, beside an added one those of who added it, too.

    :param most: at which to stop; None: all
    """
    if visitor().is_local:
        return list(names[:most])
    bundled, named = bundled_names(), named_runs()
    owner = owner_of(named.get(run.name))

    def is_quick(name: str) -> bool:
        if run.name in bundled or owner_of(named.get(name)) != owner:
            return False
        return is_small_run(name, named)

    ours = [name for name in names if name in bundled]
    theirs = (name for name in names if name not in bundled and is_quick(name))
    return [*islice(chain(ours, theirs), most)]


def sound_runs(
    names: Iterable[str],
    most: int | None = None,
    beside: Sequence[Run] = (),
    say: Callable[[KgdashError], object] = lambda error: None,
) -> dict[str, Run]:
    """Load the runs of some names but those that are damaged: they are nobody's choice.

    On a server those that take more than 1 GiB together are not taken, and none after them; where
    memory is shorter than it may be, those that are loaded are taken alone.

    :param most: at which to stop; None: all
    :param beside: other runs of the page
    :param say: is given why one is left out that can not be loaded
    """
    found: dict[str, Run] = {}
    for name in names:
        if most is not None and len(found) >= most:
            break
        try:
            loaded = load_beside(name)
        except KgdashError as error:
            say(error)
            continue
        if not _fit_together([*beside, *found.values(), loaded]):
            break
        found[name] = loaded
    return found


@dataclass
class _Opened:
    """A run that was loaded, what keeps it so, and when each visitor asked, the last last."""

    loader: Any
    run: weakref.ref[Run]
    askers: dict[str, float]


_Key = tuple[str, str | None, Any]

#: by what was asked for; the latest last
_opened: dict[_Key, _Opened] = {}
#: those that were let go of, and whose they were
_left: list[tuple[weakref.ref[Run], str]] = []
_guard = threading.Lock()


def _owner(opened: _Opened) -> str:
    return next(reversed(opened.askers))


#: bytes that runs held when first weighed, by `id`: pages ask at each rerun
_weights: dict[int, tuple[weakref.ref[Run], int]] = {}


def _fit_together(runs: Sequence[Run]) -> bool:
    return len(runs) < 2 or visitor().is_local or sum(map(_weight, runs)) <= _TOGETHER


def _weight(run: Run) -> int:
    known = _weights.get(id(run))
    if known is None or known[0]() is not run:
        forgotten = id(run)
        known = weakref.ref(run, lambda _: _weights.pop(forgotten, None)), held_bytes(run)
        _weights[forgotten] = known
    return known[1]


def _note(loader: Any, key: _Key, run: Run) -> None:
    owner = visitor().owner
    with _guard:
        before = _opened.pop(key, None)
        askers = before.askers if before else {}
        askers.pop(owner, None)
        askers[owner] = time.monotonic()
        _opened[key] = _Opened(loader, weakref.ref(run), askers)
        if len(_opened) > _LOADED + _SMALL_LOADED:  # no more are loaded
            del _opened[next(iter(_opened))]


def _read(source: str, dataset: str | None, stamp: Any) -> Run:
    """Load a run; refuse one in whose place another was put meanwhile: the stamp is not its own."""
    run = load(source, dataset)
    if _stamp(run_folder(source), dataset) != stamp:
        raise KgdashError(f"{source} was changed meanwhile: open it anew")
    return remember(run, source, dataset)


@st.cache_resource(max_entries=_LOADED, show_spinner="Loading the model …")
def _load(source: str, dataset: str | None, stamp: Any) -> Run:
    return _read(source, dataset, stamp)


@st.cache_resource(max_entries=_SMALL_LOADED, show_spinner="Loading the model …")
def _load_small(source: str, dataset: str | None, stamp: Any) -> Run:
    return _read(source, dataset, stamp)


def _stamp(folder: Path, dataset: str | None = None) -> tuple[tuple[Any, ...], ...]:
    """Return what changes when the files of a run do, so that a changed run is loaded anew.

    :param dataset: a folder, whose files are the run's, too, or PyKEEN's name of one
    """
    stamp: list[tuple[Any, ...]] = []
    for each in (folder, *([Path(dataset)] if dataset and may_open(Path(dataset)) else [])):
        with suppress(OSError, ValueError):
            files = [p for p in sorted(each.iterdir()) if p.is_file()][:_FILES]
            stamp += [(p.name, *found) for p in files if (found := file_stamp(p))]
    return tuple(stamp)
