"""Lists of names beside matrices, and the rows of a matrix in the order of a dataset's names."""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.text import decode_text, read_content, text_lines

#: bytes of a list
_MOST = 2**30


def read_names(path: Path, values: np.ndarray, rows_file: object) -> tuple[str, ...]:
    """Read a list of names, one a line, blanks around them left out.

    :param values: the matrix, whose rows they name
    :param rows_file: its file, for messages
    :raises KgdashError: if a name stands twice, a line is blank, there are more or fewer names than
        rows, or it is no text
    """
    text = decode_text(read_content(path, str(path), _MOST), str(path))
    text = text.rstrip(" \t\r").removesuffix("\n")
    where, lines_of = f"{path}, line", dict[str, int]()
    rows = len(values) if values.ndim else 0
    for number, line in text_lines(text, str(path)):
        add_name(lines_of, line.strip(), number, where)
        if number > rows:
            check_length(range(text.count("\n") + 1), rows, path, rows_file)
    check_length(lines_of, rows, path, rows_file)
    return tuple(lines_of)


def check_distinct(names: Sequence[str], where: str) -> None:
    """Refuse names that are empty or stand twice.

    :param where: file and what is counted in it, as in "entities.txt, line"
    """
    if not names:
        raise KgdashError(f"{where} 1: expected a name; found none")
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        add_name(first, name, number, where)


def add_name(first: dict[str, int], name: str, number: int, where: str) -> None:
    """Add a name to those before it, unless it is empty or one of them.

    A file that says one name again and again is refused where it first does, and takes no memory.

    :param first: name → where it stands, changed
    :param number: where this one stands
    :param where: as for `check_distinct`
    """
    if not name:
        raise KgdashError(f"{where} {number}: expected a name; found a blank line")
    if first.setdefault(name, number) != number:
        raise KgdashError(
            f"{where} {number}: {name!r:.80} stands at {first[name]} already; a row has one "
            "name, a name one row"
        )


def check_length(
    names: Collection[object], rows: int, names_file: object, rows_file: object
) -> None:
    """Refuse a list of another length than its matrix has rows."""
    if len(names) != rows:
        raise KgdashError(
            f"{names_file} has {len(names):,} names, {rows_file} {rows:,} rows; give a name for "
            "each row, in their order"
        )


def rows_of(
    kind: str, names: Sequence[str], wanted: Sequence[str], where: str, drop_unknown: bool
) -> tuple[np.ndarray, list[str]]:
    """Find the rows of a dataset's names.

    :param kind: what the names are of, "entities" or "relations"
    :param names: of the rows
    :param wanted: the dataset's, in the order of its ids
    :param drop_unknown: leave out rows of names that the dataset lacks, instead of refusing them
    :return: row of each wanted name, int64, and notes for the user
    :raises KgdashError: if names are missing, or unknown and not to be dropped
    """
    rows = {name: row for row, name in enumerate(names)}
    missing = [name for name in wanted if name not in rows]
    known = set(wanted)
    unknown = [name for name in names if name not in known]
    if missing or (unknown and not drop_unknown):
        parts = [
            f"{len(some):,} {kind} {text} ({', '.join(map(repr, some[:3]))}"
            f"{', …' * (len(some) > 3)})"
            for some, text in (
                (missing, "of the dataset's training triples have no row"),
                (unknown, "have rows but are in none of the dataset's training triples"),
            )
            if some
        ]
        cure = (
            "give the dataset that the embedding was made of"
            if missing
            else "--drop-unknown leaves their rows out"
        )
        raise KgdashError(f"{where}: {'; '.join(parts)}; {cure}")
    notes = []
    if unknown:
        notes.append(
            f"{len(unknown):,} {kind} of the embedding were left out: no training triple of the "
            "dataset holds them, so they are no candidates here"
        )
    return np.array([rows[name] for name in wanted], dtype=np.int64), notes
