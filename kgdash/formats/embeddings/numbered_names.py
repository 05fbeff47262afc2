"""Names with the number of their row, as most libraries write them."""

import os
from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.files.text import decode_text, read_content, text_lines

#: bytes of a list
_MOST = 2**30


def find_list(folder: Path, file_names: tuple[str, ...]) -> Path:
    """Return the one of some files of a folder that is there.

    :raises KgdashError: if none is, or several are, whose names may stand in other rows
    """
    found = [name for name in file_names if os.path.isfile(folder / name)]
    if len(found) > 1:
        raise KgdashError(f"{folder} holds {' and '.join(found)}, which may differ; keep one")
    if found:
        return folder / found[0]
    raise KgdashError(
        f"no list of names in {folder}: expected {' or '.join(file_names)}; --names gives the "
        "folder that holds it"
    )


def read_numbered(path: Path, openke: bool = False, first: bool = False) -> tuple[str, ...]:
    """Read rows of a number and a name, or of a name and its number, tab-separated.

    :param openke: whether the first line may tell how many there are, and the number comes last
        where names are numbers, too
    :param first: whether the number comes first where names are numbers, too
    :return: the names in the order of their numbers
    :raises KgdashError: if the numbers are not 0, 1, 2, …, each once, or either column may be they
    """
    text = decode_text(read_content(path, str(path), _MOST), str(path))
    # Either column may hold the numbers: a list ends where neither can, and takes no more memory.
    found: dict[int, dict[int, str]] = {0: {}, 1: {}}
    told = None
    for line, content in text_lines(text, str(path)):
        columns = [column.strip() for column in content.split("\t")]
        if openke and line == 1 and len(columns) == 1 and _is_id(columns[0]):
            told = int(columns[0])
            continue
        if not content.strip():
            continue
        if len(columns) == 1:  # some write blanks instead
            columns = content.rsplit(maxsplit=1)
        if len(columns) != 2:
            raise KgdashError(
                f"expected a number and a name; found {content.strip()!r:.60} ({path}, line {line})"
            )
        for own, names in list(found.items()):
            if not _is_id(columns[own]) or int(columns[own]) in names:
                del found[own]
            else:
                names[int(columns[own])] = columns[1 - own]
        if not found:
            break
    readings = [
        tuple(names[number] for number in range(len(names)))
        for names in found.values()
        if names and max(names) == len(names) - 1
    ]
    if len(readings) == 2 and not (openke or first) and readings[0] != readings[1]:
        raise KgdashError(
            f"{path}: either column may be the numbers of rows, and they differ; write names that "
            "are no such numbers, such as e12 for 12"
        )
    if readings and told not in (None, len(readings[0])):
        raise KgdashError(
            f"{path}: line 1 tells of {told:,} names, {len(readings[0]):,} follow; write it again"
        )
    if readings:
        return readings[-1 if openke else 0]
    raise KgdashError(f"{path}: expected the numbers 0, 1, 2, … of rows, each once, with a name")


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19
