"""Names with the number of their row, as most libraries write them."""

from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.files.text import decode_text, read_content, text_lines

#: bytes of a list
_MOST = 2**30


def find_list(folders: tuple[Path | None, ...], file_names: tuple[str, ...]) -> Path:
    """Return the first of some files that is there.

    :raises KgdashError: if none is
    """
    for folder in folders:
        for name in file_names:
            if folder is not None and (folder / name).is_file():
                return folder / name
    places = " nor ".join(str(folder) for folder in folders if folder is not None)
    raise KgdashError(
        f"no list of names in {places}: expected {' or '.join(file_names)}; --names gives the "
        "folder that holds it"
    )


def read_numbered(path: Path, counted: bool = False) -> tuple[str, ...]:
    """Read rows of a number and a name, or of a name and its number, tab-separated.

    :param counted: whether the first line may tell how many there are
    :return: the names in the order of their numbers
    :raises KgdashError: if the numbers are not 0, 1, 2, …, each once
    """
    text = decode_text(read_content(path, str(path), _MOST), str(path))
    rows: list[tuple[str, str]] = []
    for line, content in enumerate(text_lines(text), start=1):
        columns = [column.strip() for column in content.split("\t")]
        if counted and line == 1 and len(columns) == 1 and _is_id(columns[0]):
            continue
        if not content.strip():
            continue
        if len(columns) == 1:  # some write blanks instead
            columns = content.rsplit(maxsplit=1)
        if len(columns) != 2:
            raise KgdashError(
                f"expected a number and a name; found {content.strip()!r:.60} ({path}, line {line})"
            )
        rows.append((columns[0], columns[1]))
    for own, other in ((0, 1), (1, 0)):
        numbers = [row[own] for row in rows]
        if rows and all(map(_is_id, numbers)):
            ids = [int(number) for number in numbers]
            if sorted(ids) == list(range(len(ids))):
                names = dict(zip(ids, (row[other] for row in rows), strict=True))
                return tuple(names[number] for number in range(len(ids)))
    raise KgdashError(f"{path}: expected the numbers 0, 1, 2, … of rows, each once, with a name")


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19
