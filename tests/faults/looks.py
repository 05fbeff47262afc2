"""What a sandbox holds: whether all of it is whole, and what it says, times of day left out."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from kgdash.errors import KgdashError
from kgdash.files.table_note import DAMAGED, check_shape
from kgdash.formats.run_directory import GRAPH, MANIFEST, TRIPLES, WEIGHTS, read_run
from kgdash.hpo.study_file import ENDED, read_study

#: what says when something was, or how long it took
_TIMES = ("created", "seconds", "at")

_OF_RUN = (MANIFEST, WEIGHTS, GRAPH, TRIPLES)


def left_over(sandbox: Path) -> list[str]:
    """Return drafts and locks: what only a process at work may have."""
    return sorted(
        str(path.relative_to(sandbox))
        for path in sandbox.rglob("*")
        if ".kgdash-part" in path.name or path.suffix == ".lock"
    )


def is_draft(path: Path) -> bool:
    """Tell whether a path lies in a draft, or is a lock."""
    return any(part.startswith(".") or part.endswith(".lock") for part in path.parts)


def contents(sandbox: Path) -> dict[str, Any]:
    """Say what each file of a sandbox holds, by its path; drafts are left out.

    :raises AssertionError: if a file under its own name is not whole
    """
    found = {}
    for path in sorted(sandbox.rglob("*")):
        name = path.relative_to(sandbox)
        if is_draft(name):
            continue
        if path.is_dir():
            _check_run(path, name)
        else:
            found[str(name)] = _content(path, name, str(sandbox))
    return found


def check_whole(sandbox: Path, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Fail unless each file is whole: as before, as after, or of a kind that fills up.

    :raises AssertionError: naming the file
    """
    for name, value in contents(sandbox).items():
        fills = (name.endswith((".parquet", ".db", ".jsonl")) and "/" in name) or name[-3:] == ".db"
        known = [str(every.get(name)) for every in (before, after) if name in every]
        if not fills and name.partition("/")[0] != "runs":
            assert str(value) in known, f"{name} is neither as before nor as after"


def _check_run(folder: Path, name: Path) -> None:
    """A folder that holds a part of a run holds a whole one; the folder of runs holds only such."""
    is_run = any((folder / part).exists() for part in _OF_RUN)
    assert is_run or str(name.parent) != "runs", f"{name} is an empty run"
    if is_run:
        try:
            read_run(folder)
        except KgdashError as error:
            raise AssertionError(f"{name}: {error}") from error


def _content(path: Path, name: Path, place: str) -> Any:
    """Read a file; ``place`` is the sandbox, which on a disk of its own has another path."""
    try:
        if path.suffix == ".parquet":
            table = pq.read_table(path, page_checksum_verification=True)
            if path.parent.name in ("cache", "filled"):
                check_shape(table, path.stem)
            return _timeless(table.to_pandas().to_dict("list"))
        if path.suffix == ".json" and name.parts[0] != "pykeen":
            return _timeless(json.loads(_bytes(path, place)))
        if path.suffix == ".jsonl":
            # A line counts once it is whole.
            whole = _bytes(path, place).split(b"\n")[:-1]
            return [_timeless(json.loads(line)) for line in whole]
        if path.suffix == ".db":
            return _study(path)
        return _bytes(path, place)
    except (*DAMAGED, sqlite3.Error) as error:
        raise AssertionError(f"{name} is half-written: {type(error).__name__} {error}") from error


def _bytes(path: Path, place: str) -> bytes:
    return path.read_bytes().replace(place.encode(), b"")


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(inner) for key, inner in value.items() if key not in _TIMES}
    return [_timeless(inner) for inner in value] if isinstance(value, list) else value


def _study(path: Path) -> list[Any]:
    """Read a study, which is whole without anything beside it."""
    trials = read_study(path).trials
    ended: pd.DataFrame = trials[trials["state"].isin(ENDED)]
    return ended.drop(columns="seconds").to_dict("records")
