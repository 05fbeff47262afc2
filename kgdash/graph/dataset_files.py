"""Which file of a dataset's folder holds what; none that may be a split is passed by."""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.graph.triple_files import EXTENSIONS

#: split -> file names, without extension and in any case, under which a folder may hold it
STEMS = {
    "train": ("train", "training"),
    "valid": ("valid", "validation", "val", "dev"),
    "test": ("test", "testing"),
}

#: names that a split may have elsewhere: which of ours is meant is for people to say
_EVALUATION = ("eval", "evaluate", "evaluation")
_ELSEWHERE = {
    "train": (),
    "valid": ("validate", "validating", "devel", "development", *_EVALUATION),
    "test": ("tests", *_EVALUATION),
}

#: names of files beside the splits that hold known facts: Neural-LP's and DRUM's, MINERVA's
_FACTS = ("facts", "graph", "background")

#: endings of data; those of logs, settings, results and copies are none
_DATA = re.compile(
    "tsv|txt|csv|text|tab|dat|data|del|psv|ssv|triples|edges|edgelist|nt|nq|n3|ttl|rdf|owl|hdt|"
    "jsonl|ndjson|jsonld|parquet|feather|arrow|npy|npz|pt|pkl|pickle|xlsx|xls|ods|tar|tgz"
)
_PACKED = re.compile("gz|xz|bz2|zst|lz4|lzma|z|zip|7z|rar")


def find_split(folder: Path, split: str) -> Path | None:
    """Return the file in ``folder`` that holds a split, if there is one.

    :raises KgdashError: if there are several, or none but files that are not read and look like it
    """
    found, stems = find_file(folder, STEMS[split]), STEMS[split]
    if found is None and (unread := _files(folder, lambda name: _may_hold(name, split))):
        names = ", ".join(path.name for path in unread[:3])
        raise KgdashError(
            f"{folder} holds {names}, which may be its {split} triples but is not read: expected "
            f"{', '.join(stems[:-1])} or {stems[-1]}, as .tsv, .txt or .csv, plain or .gz. Convert "
            "or rename it, or move it away if it is something else"
        )
    return found


def files_of_facts(folder: Path) -> list[Path]:
    """List the files in ``folder`` that are no split and may hold known facts, by their names."""
    names = [f"{stem}{extension}" for stem in _FACTS for extension in EXTENSIONS]
    return _files(folder, lambda name: name in names)


def find_file(folder: Path, stems: Sequence[str]) -> Path | None:
    """Return the file in ``folder`` with a stem and an extension, in any case, if there is one.

    :raises KgdashError: if there are several, since one would be ignored silently
    """
    names = [f"{stem}{extension}" for stem in stems for extension in EXTENSIONS]
    found = _files(folder, lambda name: name in names)
    if len(found) > 1:
        found.sort(key=lambda path: names.index(path.name.lower()))
        several = ", ".join(path.name for path in found)
        raise KgdashError(f"{folder} holds several files for {stems[0]}: {several}; keep one")
    return found[0] if found else None


def _files(folder: Path, fits: Callable[[str], bool]) -> list[Path]:
    """List what has a name that fits, in lower case, and is no folder.

    A link that leads nowhere, or to a pipe, is refused when it is read.
    """
    try:
        names = sorted(name for name in os.listdir(folder) if fits(name.lower()))
    except OSError as error:
        raise KgdashError(f"can not list {folder}: {error.strerror or error}") from error
    return [path for name in names if not os.path.isdir(path := folder / name)]


def _may_hold(name: str, split: str) -> bool:
    """Tell whether a file, by its name in lower case, may hold a split and is not read as such."""
    stem, *endings = name.split(".")
    if stem not in STEMS[split] and stem not in _ELSEWHERE[split]:
        return False
    if endings and _PACKED.fullmatch(endings[-1]):
        endings.pop()
    # JSON of another name is what an evaluation found, or a part of something.
    is_json = endings == ["json"] and stem in STEMS[split]
    return is_json or not any(endings) or bool(_DATA.fullmatch(endings[-1]))
