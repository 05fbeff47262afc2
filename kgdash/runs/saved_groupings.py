"""A user's groupings, saved with the run.

They stand in ``groupings.json`` in the run's folder, if that is one in our safe form and can be
written; else (bundled runs, PyKEEN directories, read-only folders) among the user's own data,
shared by all such runs on the same graph. There, too, stand those of a server's visitors.
"""

import json
import os
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from kgdash.breakdowns.custom_grouping import CustomGrouping, grouping_from_json
from kgdash.errors import KgdashError, check_name
from kgdash.files.atomic import atomic_file, make_folder, share
from kgdash.files.byte_sizes import written_size
from kgdash.files.lock import hold_lock
from kgdash.files.text import decode_text, parse_plain_json, read_content
from kgdash.files.user_data import own_folder
from kgdash.files.visitor import visitor
from kgdash.formats.run_directory import MANIFEST
from kgdash.runs import Run
from kgdash.runs.bundled import bundled_names
from kgdash.runs.library import run_folder

_FILE, _FORMAT, _VERSION = "groupings.json", "kgdash-groupings", 2

#: of the file: it is read whenever a page shows the run's groupings
_MAX_BYTES = 2**25

#: groupings in a file, and types of all of them: each is a list, which Python reads while nobody
#: else comes to a turn
_MOST, _MOST_TYPES = 100, 2**16

_ByName = dict[str, dict[str, Any]]


def groupings_file(run: Run) -> Path:
    """Return where a run's groupings are saved; the file need not exist."""
    source = str(run.provenance.get("source", ""))
    if visitor().is_local and source and source not in bundled_names():
        own = run_folder(source) / _FILE
        shared = own.with_name(MANIFEST).is_file()
        if shared and os.access(own if own.exists() else own.parent, os.W_OK):
            return own
    return own_folder() / "groupings" / f"{run.graph.digest}.json"


def saved_groupings(run: Run) -> dict[str, CustomGrouping]:
    """Read a run's groupings, by name, in the order in which they were saved.

    :raises KgdashError: if the file can not be read or holds something else
    """
    path = groupings_file(run)
    groupings = [grouping_from_json(value, run.graph, str(path)) for value in _read(path)]
    return {grouping.name: grouping for grouping in groupings}


def save_grouping(run: Run, grouping: CustomGrouping) -> Path:
    """Save a grouping with a run, in place of one of that name; return the file.

    :raises KgdashError: if the file holds something else, or can not be written
    """
    return _change(run, lambda saved: saved | {grouping.name: grouping.to_json(run.graph)})


def delete_grouping(run: Run, name: str) -> Path:
    """Delete one of a run's groupings; return the file.

    :raises KgdashError: if there is none of that name, or as `save_grouping`
    """

    def without(saved: _ByName) -> _ByName:
        check_name("grouping", name, saved, f"run {run.name}")
        return {other: grouping for other, grouping in saved.items() if other != name}

    return _change(run, without)


def _change(run: Run, change: Callable[[_ByName], _ByName]) -> Path:
    """Change the groupings as they stand in the file, also those that can not be used."""
    path = groupings_file(run)
    try:
        make_folder(path.parent)
        with hold_lock(path.with_suffix(".lock")), atomic_file(path) as part:
            groupings = change({str(value["name"]): value for value in _read(path)})
            if len(groupings) > _MOST:
                raise KgdashError(f"{_MOST} groupings are saved: delete one that you need no more")
            if sum(map(_types, groupings.values())) > _MOST_TYPES:
                raise KgdashError(
                    f"the groupings of a run have at most {_MOST_TYPES:,} types together, and "
                    "these have more: delete one that you need no more, or take one of fewer types"
                )
            content = {
                "format": _FORMAT,
                "version": _VERSION,
                "groupings": list(groupings.values()),
            }
            _write(content, part)
            share(part)
    except OSError as error:
        raise KgdashError(f"can not write {path}: {error.strerror or error}") from error
    return path


def _types(grouping: dict[str, Any]) -> int:
    types = grouping.get("types")
    return len(types) if isinstance(types, dict) else 0


def _write(content: dict[str, Any], part: Path) -> None:
    """Write JSON bit by bit, since as one text it takes four bytes a character at times."""
    size = 0
    with part.open("wb") as stream:
        for text in chain(json.JSONEncoder(ensure_ascii=False, indent=1).iterencode(content), "\n"):
            size += stream.write(text.encode())
            if size > _MAX_BYTES:
                raise KgdashError(
                    f"the groupings of a run take at most {written_size(_MAX_BYTES)} together, and "
                    "these take more: delete one that you need no more, or take one of fewer "
                    "entities"
                )


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    read = read_content(path, str(path), _MAX_BYTES)
    decode_text(read, str(path))
    try:
        content = parse_plain_json(read, parts=2 * _MOST_TYPES)
    except (ValueError, RecursionError) as error:
        raise KgdashError(f"can not read {path}: {error}; mend or remove it") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise KgdashError(f"{path} holds no groupings of kgdash; mend or remove it")
    if content.get("version") != _VERSION or not isinstance(content.get("groupings"), list):
        raise KgdashError(
            f"{path}: expected groupings of version {_VERSION}; found version "
            f"{content.get('version')!r}; save them again, or remove the file"
        )
    if len(content["groupings"]) > _MOST:
        raise KgdashError(f"{path} holds more than {_MOST} groupings; mend or remove it")
    for value in content["groupings"]:
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            raise KgdashError(f"{path}: expected groupings, each with a name; found {value!r:.80}")
    groupings: list[dict[str, Any]] = content["groupings"]
    return groupings
