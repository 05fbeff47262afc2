"""Tables on disk: Parquet files keyed by what they were computed from."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from kgdash.files.atomic import atomic_file, sync
from kgdash.files.cache_folder import (
    GRAPH,
    TABLE,
    TRAININGS,
    cache_directory,
    cache_limit,
    make_room,
    note_use,
    own_files,
    remove,
    stored_files,
    sweep,
    sweep_once,
)
from kgdash.files.event_log import Stopwatch, note
from kgdash.files.lock import hold_lock
from kgdash.files.provenance import provenance
from kgdash.files.shipped_tables import offered_table
from kgdash.files.table_note import DAMAGED, NUMBERS, TEXTS, checked_frame, read_note, with_note
from kgdash.files.visitor import check_right
from kgdash.progress import Progress, silent
from kgdash.version import __version__

#: what computes faster than this, in seconds, is not worth a file
_WORTH_KEEPING = 0.3

#: what is stored; "graph": a large one, to be mapped; "unknown": a file without a note, or damaged
KINDS = (
    *("ranks", "relik", "rules", "comparison", "scores", "patterns", "study"),
    *("classification", "calibration", "audit", "discovery", "why", "graph", "unknown"),
)

#: columns of `list_cache`
_TEXTS = tuple(name for name in TEXTS if name not in ("created", "version"))
_COLUMNS = ("key", *_TEXTS, *NUMBERS, "bytes", "created", "used", "version")


def cached_table(
    key: Mapping[str, Any],
    compute: Callable[[], pd.DataFrame],
    about: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return the table stored under a key, or compute it and store it if that took long.

    Where another process or thread is computing the same table, this one waits for it; if that one
    fails, stops or dies, this one computes. A stored table that can not be read is computed again.
    The file appears whole or not at all; a full or read-only disk only costs the next caller the
    computation. What was not asked for longest goes when all tables together exceed `cache_limit`.

    :param key: all that the table depends on, as JSON can hold it
    :param compute: makes the table; may raise
    :param about: what `list_cache` shall say of it: ``kind``, ``run``, ``run_digest``, ``graph``,
        ``graph_digest``, ``method``, ``filter``, ``sides``, ``triples``, ``seed``, where they apply
    :param progress: called with (0, 1) while waiting for another process; may raise to give up
    :raises KgdashError: if the limit of the cache is no size
    """
    limit = cache_limit()
    path = _path(key)
    about = {**_told_by(key), **(about or {})}
    kind = str(about.get("kind", "unknown"))
    stored = _read(path)
    if stored is not None:
        note("cache", kind=kind, found="disk")
        return stored
    with hold_lock(table_lock(key), waiting=lambda: progress(0.0, 1.0)):
        stored = _read(path)
        if stored is not None:
            note("cache", kind=kind, found="disk")
            return stored
        watch = Stopwatch()
        table = compute()
        seconds = watch.seconds
        note("cache", kind=kind, found="computed", seconds=seconds)
        if worth_keeping(seconds):
            _write(table, path, {**about, "seconds": seconds}, limit)
    return table


def stored_table(key: Mapping[str, Any]) -> pd.DataFrame | None:
    """Return the table stored under a key, or None."""
    return _read(_path(key))


def replace_table(key: Mapping[str, Any], table: pd.DataFrame, about: Mapping[str, Any]) -> None:
    """Store a table under a key, in place of what was there; a full disk keeps nothing.

    :param about: as for `cached_table`, and ``seconds``
    :raises KgdashError: if the limit of the cache is no size
    """
    _write(table, _path(key), {**_told_by(key), **about}, cache_limit())


def drop_table(key: Mapping[str, Any]) -> None:
    """Delete the table under a key, if there is one."""
    remove(_path(key))


def table_note(key: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is noted of the table under a key, and note that it was used.

    :return: ``created``, ``seconds`` and what it is of; empty if there is none
    """
    path = _path(key)
    if not path.is_file():
        offered = offered_table(path.name)
        return {} if offered is None else read_note(offered)
    note_use(path)
    return read_note(path)


def table_lock(key: Mapping[str, Any]) -> Path:
    """Return the lock file of the table under a key."""
    return _path(key).with_suffix(".lock")


def worth_keeping(seconds: float) -> bool:
    """Tell whether what took so long to compute is stored."""
    return seconds > _WORTH_KEEPING


def list_cache() -> pd.DataFrame:
    """List the stored tables, the latest used first.

    :return: one row per table: ``key`` (the name of its file), ``kind`` (of `KINDS`), ``run``,
        ``run_digest``, ``graph``, ``graph_digest``, ``method``, ``filter``, ``sides`` (texts, empty
        where they do not apply), ``command``, ``machine``, ``libraries`` (as
        `kgdash.files.provenance` has them), ``triples``, ``seed`` (Int64), ``seconds`` (float64:
        what computing it took), ``bytes`` (int64), ``created`` and ``used`` (UTC), ``version`` (of
        kgdash)
    """
    rows = []
    for path, stat in stored_files(TABLE, GRAPH):
        used = datetime.fromtimestamp(stat.st_mtime, UTC)
        about = {"kind": "unknown", **read_note(path)}
        created = pd.to_datetime(about.get("created"), utc=True, errors="coerce")
        row = {column: about.get(column, "") for column in (*_TEXTS, "version")}
        row |= {column: about.get(column) for column in NUMBERS}
        row |= {"key": path.stem, "bytes": stat.st_size, "used": used, "created": created}
        rows.append(row)
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    kinds = {"triples": "Int64", "seed": "Int64", "seconds": "float64", "bytes": "int64"}
    table = table.astype(dict.fromkeys((*_TEXTS, "key", "version"), "str") | kinds)
    for column in ("created", "used"):
        table[column] = pd.to_datetime(table[column], utc=True).astype("datetime64[us, UTC]")
    return table


def cache_size() -> tuple[int, int]:
    """Return how many tables the cache holds, and their bytes together."""
    sizes = [stat.st_size for _, stat in stored_files(TABLE, GRAPH)]
    return len(sizes), sum(sizes)


def clear_cache(
    keys: Collection[str] | None = None,
    run: str | None = None,
    kind: str | None = None,
    older_than: timedelta | None = None,
) -> int:
    """Delete stored tables, and what processes that died left in the folder.

    Only tables that meet all given conditions go; without any, all do. A table that is being read
    is read to its end; one that is being computed is stored afterwards.

    :param keys: of `list_cache`
    :param run: name of the run, or its digest
    :param kind: of `KINDS`
    :param older_than: not used for so long
    :return: how many tables were deleted
    :raises KgdashError: if the visitor may not
    """
    check_right("clear")
    sweep()
    listed = list_cache()
    chosen = pd.Series(True, index=listed.index)
    if keys is not None:
        chosen &= listed["key"].isin(list(keys))
    if run is not None:
        chosen &= (listed["run"] == run) | (listed["run_digest"] == run)
    if kind is not None:
        chosen &= listed["kind"] == kind
    if older_than is not None:
        chosen &= listed["used"] < pd.Timestamp.now("UTC") - older_than
    if keys is None and run is None and kind is None and older_than is None:
        for path in own_files(TRAININGS):
            remove(path)
    going = set(listed["key"][chosen])
    removed = sum(remove(path) for path, _ in stored_files(TABLE, GRAPH) if path.stem in going)
    with contextlib.suppress(OSError):  # gone for good, also when the power goes
        sync(cache_directory())
    return removed


def _told_by(key: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a key says that a note should, too: a seed, and a graph's digest."""
    named = {"seed": key.get("seed"), "graph_digest": key.get("graph")}
    return {name: value for name, value in named.items() if value is not None}


def _path(key: Mapping[str, Any]) -> Path:
    name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:40]
    return cache_directory() / f"{name}{TABLE}"


def _read(path: Path) -> pd.DataFrame | None:
    """Read a table and note that it was used; None if there is none, or a damaged one (removed).

    One that comes with kgdash stands in for one that is not there.
    """
    sweep_once()
    is_own = path.is_file()
    source = path if is_own else offered_table(path.name)
    if source is None:
        return None
    try:
        # Opened once: what is replaced meanwhile is read to its end.
        with source.open("rb") as file:
            stored = pq.read_table(file, page_checksum_verification=True)
        table = checked_frame(stored, path.stem)
    except DAMAGED:
        if is_own:
            remove(path)
        return None
    if is_own:
        note_use(path)
    return table


def _write(table: pd.DataFrame, path: Path, about: Mapping[str, Any], limit: int) -> None:
    made = datetime.now(UTC).isoformat()
    note = {**about, **provenance(), "created": made, "version": __version__}
    stored = with_note(pa.Table.from_pandas(table), path.stem, note)
    with contextlib.suppress(OSError):
        with atomic_file(path) as part:
            pq.write_table(stored, part, write_page_checksum=True)
            if part.stat().st_size > limit:
                raise OSError(errno.EFBIG, "the table alone exceeds the limit of the cache")
        make_room(limit, TABLE)
