"""Runs that are loaded, once for all sessions."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.files.visitor import visitor
from kgdash.formats.run_directory import MANIFEST
from kgdash.runs import Run
from kgdash.runs.call import remember
from kgdash.runs.library import run_folder
from kgdash.runs.loading import load

#: runs that stay loaded: as many as can be compared, and the next one; of those whose files are no
#: larger than so many bytes, all that a trust card may ask: names take fifty times that in memory
_LOADED, _SMALL, _SMALL_LOADED = 9, 2**18, 64

#: on a server bytes of those that stay loaded besides the latest; what a byte of their files and a
#: name take in memory: in files, weights may be of half precision, and names of four bytes a letter
_MOST, _FILE, _NAME = 2**30, 5, 200

#: files of a folder that are looked at
_FILES = 64


def load_source(source: str, dataset: str = "") -> Run:
    """Load a run, once for all sessions and again when its files change.

    :param source: the name of a run, or a folder
    :param dataset: for a PyKEEN directory; may be empty
    :raises KgdashError: as `kgdash.runs.loading.load`
    """
    name = source.strip()
    folder = run_folder(name)  # refused here, whoever loaded it before
    of = dataset.strip() or None
    stamp = _stamp(folder, of)
    if not of and is_small(stamp):
        return _load_small(name, stamp)
    run = _load(name, of, stamp)
    if not visitor().is_local:
        _make_room((name, of, stamp), run)
    return run


def is_small(stamp: tuple[tuple[str, int, int], ...]) -> bool:
    """Tell whether a run is one of many that may stay loaded: ours, all of whose files are seen.

    :param stamp: name, bytes and time of the folder's files
    """
    names, sizes = {name for name, _, _ in stamp}, sum(size for _, size, _ in stamp)
    return MANIFEST in names and len(stamp) < _FILES and sizes <= _SMALL


def sound_runs(names: Iterable[str], most: int | None = None) -> dict[str, Run]:
    """Load the runs of some names but those that are damaged: they are nobody's choice.

    :param most: at which to stop; None: all
    """
    found: dict[str, Run] = {}
    for name in names:
        if most is not None and len(found) >= most:
            break
        with suppress(KgdashError):
            found[name] = load_source(name)
    return found


def _make_room(latest: tuple[str, str | None, Any], run: Run) -> None:
    """Let go of runs that were opened before the latest, if these are too large together."""
    bytes_ = _FILE * sum(size for _, size, _ in latest[2]) + _NAME * run.graph.num_entities
    with _guard:
        _sizes.pop(latest, None)
        _sizes[latest] = bytes_
        while len(_sizes) > 1 and (sum(_sizes.values()) > _MOST or len(_sizes) > _LOADED):
            oldest = next(iter(_sizes))
            del _sizes[oldest]
            _load.clear(*oldest)


#: bytes of the runs that `_load` keeps, by its arguments, the latest last
_sizes: dict[tuple[str, str | None, Any], int] = {}
_guard = threading.Lock()


@st.cache_resource(max_entries=_LOADED, show_spinner="Loading the model …")
def _load(source: str, dataset: str | None, stamp: Any) -> Run:
    return remember(_unchanged(load(source, dataset), source, dataset, stamp), source, dataset)


@st.cache_resource(max_entries=_SMALL_LOADED, show_spinner="Loading the model …")
def _load_small(source: str, stamp: Any) -> Run:
    return remember(_unchanged(load(source), source, None, stamp), source, None)


def _unchanged(run: Run, source: str, dataset: str | None, stamp: Any) -> Run:
    """Refuse a run in whose place another was put while it was read: the stamp is not its own."""
    if _stamp(run_folder(source), dataset) != stamp:
        raise KgdashError(f"{source} was changed meanwhile: open it anew")
    return run


def _stamp(folder: Path, dataset: str | None = None) -> tuple[tuple[str, int, int], ...]:
    """Return what changes when the files of a run do, so that a changed run is loaded anew.

    :param dataset: a folder, whose files are the run's, too, or PyKEEN's name of one
    """
    stamp: list[tuple[str, int, int]] = []
    for each in (folder, *([Path(dataset)] if dataset else [])):
        with suppress(OSError, ValueError):
            files = [p for p in sorted(each.iterdir()) if p.is_file()][:_FILES]
            stamp += [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in files]
    return tuple(stamp)
