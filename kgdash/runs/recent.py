"""Folders of runs that were opened lately, kept over sessions."""

import json
import os
from pathlib import Path
from typing import Any

from kgdash.files.atomic import atomic_file
from kgdash.files.lock import hold_lock, remove_unless_held
from kgdash.files.regular import check_regular
from kgdash.files.roots import may_open
from kgdash.files.text import parse_json
from kgdash.files.user_data import own_folder
from kgdash.runs.description import describe_run

_FORMAT, _MOST, _MOST_BYTES = "kgdash-recent-runs", 6, 2**20

#: folder, and dataset of a PyKEEN directory (else "")
Opened = tuple[str, str]


def recent_folders() -> list[Opened]:
    """Return the folders that the visitor opened last and still may, latest first.

    A list that can not be read is an empty one: nothing depends on it.
    """
    return [row for row in _read() if may_open(row[0]) and os.path.isdir(row[0])]


def describe_recent() -> list[dict[str, Any]]:
    """Describe the runs in `recent_folders` without loading a model.

    :return: as `kgdash.runs.description.describe_run`, and ``place``: "recent", ``folder``
    """
    rows = []
    for folder, dataset in recent_folders():
        row = describe_run(Path(folder).name, Path(folder)) | {"place": "recent", "folder": folder}
        rows.append(row | {"graph": row["graph"] or dataset or None})
    return rows


def note_opened(folder: str, dataset: str = "") -> None:
    """Remember that a folder was opened; where that can not be written, it is not."""
    opened = (str(Path(folder).absolute()), dataset)
    path = _file()
    lock = path.with_suffix(".lock")
    if _read()[:1] == [opened]:
        remove_unless_held(lock)
        return
    try:
        with hold_lock(lock), atomic_file(path) as part:
            others = [each for each in _read() if each[0] != opened[0]]
            content = {"format": _FORMAT, "folders": [opened, *others][:_MOST]}
            part.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")
    except (OSError, UnicodeEncodeError):
        return


def _file() -> Path:
    return own_folder() / "recent-runs.json"


def _read() -> list[Opened]:
    try:
        check_regular(_file(), _MOST_BYTES)
        content = parse_json(_file().read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    rows = content.get("folders") if isinstance(content, dict) else None
    texts = [row for row in rows if _is_opened(row)] if isinstance(rows, list) else []
    return [(folder, dataset) for folder, dataset in texts][:_MOST]


def _is_opened(row: object) -> bool:
    if not isinstance(row, list) or len(row) != 2:
        return False
    return all(isinstance(text, str) and "\0" not in text for text in row)
