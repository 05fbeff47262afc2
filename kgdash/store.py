"""Tables on disk: Parquet files keyed by what they were computed from."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import platformdirs

#: what computes faster than this, in seconds, is not worth a file
_WORTH_KEEPING = 0.3


def cache_directory() -> Path:
    """Return the folder of the cache: ``$KGDASH_CACHE`` if set, else the user's cache directory."""
    return Path(os.environ.get("KGDASH_CACHE") or platformdirs.user_cache_dir("kgdash"))


def cached_table(key: Mapping[str, Any], compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return the table stored under a key, or compute it and store it if that took long.

    A stored table that can not be read is computed again. The file appears whole or not at all, so
    that an interruption or a second process does no harm; a full or read-only disk only costs the
    next caller the computation.

    :param key: all that the table depends on, as JSON can hold it
    :param compute: makes the table; may raise
    """
    name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:40]
    path = cache_directory() / f"{name}.parquet"
    if path.is_file():
        try:
            return pd.read_parquet(path)
        except (OSError, ValueError):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
    start = time.monotonic()
    table = compute()
    if time.monotonic() - start > _WORTH_KEEPING:
        _write(table, path)
    return table


def _write(table: pd.DataFrame, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        os.close(handle)
        try:
            table.to_parquet(temporary)
            os.replace(temporary, path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError:
        return


def cache_size() -> tuple[int, int]:
    """Return how many tables the cache holds, and their bytes together."""
    sizes = [p.stat().st_size for p in cache_directory().glob("*.parquet")]
    return len(sizes), sum(sizes)


def clear_cache() -> int:
    """Delete all stored tables and return how many there were."""
    paths = list(cache_directory().glob("*.parquet"))
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)
