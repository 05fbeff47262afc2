"""How much of a file that a visitor hands in is read."""

import shutil
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.visitor import NOBODY, visitor

_Rows = Iterator[tuple[int, list[str]]]

#: bytes of a disk that visitors' runs leave free: two of the largest that may be added
_ROOM = 2**31

#: names that pages list, in each tab, and their characters together
_LISTED, _LETTERS = 2**16, 2**21

#: bytes of all that is written for the names in a visitor's triples, in tables and files of them,
#: and of texts that are written once, which each page that shows them holds
_WRITTEN_OUT, _HELD = 2**27, 2**25


def bounded(rows: _Rows, shown: str) -> _Rows:
    """Return rows, refused where they are more, or of longer names, than the visitor may hand in.

    :param rows: line number and columns
    :param shown: the file's name
    :raises KgdashError: when such a row is reached, naming the line
    """
    who = visitor()
    if who.most_rows is None and who.longest_label is None:
        return rows
    return _bounded(rows, shown, who.most_rows, who.longest_label)


def check_count(count: int, shown: str, what: str = "rows") -> None:
    """Refuse more rows than the visitor may hand in.

    :param shown: the file's name
    :raises KgdashError: saying how many they may
    """
    _check_count(count, shown, visitor().most_rows, what)


def check_room(folder: Path) -> None:
    """Refuse a visitor's what would take a disk's last room: that is for labels.

    :param folder: on the disk; need not exist
    :raises KgdashError: saying so
    """
    if visitor().is_local:
        return
    there = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    with suppress(OSError):
        if shutil.disk_usage(there).free < _ROOM:
            raise KgdashError("the server's disk is nearly full: remove runs, or ask who runs it")


def check_labels(labels: Iterable[str], where: str) -> None:
    """Refuse names that are longer than the visitor may hand in.

    :param where: file and line
    :raises KgdashError: saying how long they may be
    """
    _check_labels(labels, where, visitor().longest_label)


def check_listed(names: Collection[str], shown: str, what: str) -> None:
    """Refuse a visitor's names that pages list, in each tab, where they are too many or too long.

    :param shown: the file's name
    :param what: they are of
    :raises KgdashError: saying how many, and how long together, they may be
    """
    long = sum(map(len, names))
    if not visitor().is_local and (long > _LETTERS or len(names) > _LISTED):
        raise KgdashError(
            f"the names of {what} in {shown}, which pages list, are {len(names):,} of {long:,} "
            f"characters together; expected at most {_LISTED:,} of {_LETTERS:,}"
        )


def check_written_out(
    triples: np.ndarray, entities: Iterable[str], relations: Iterable[str], shown: str
) -> None:
    """Refuse a visitor's triples of which tables and files would be too long.

    :param triples: ids, whole numbers, shape ``(n, 3)``
    :param entities: what is written of each, and ``relations``
    :param shown: the file's name
    :raises KgdashError: saying how long they may be
    """
    if visitor().is_local:
        return
    ends, middle = (
        np.array([held_bytes(name) for name in names], dtype=np.int64)
        for names in (entities, relations)
    )
    long = int(ends[triples[:, [0, 2]]].sum() + middle[triples[:, 1]].sum())
    _check_length(long, f"the triples in {shown}", _WRITTEN_OUT)


def written_once(make: Callable[..., str], what: str) -> Callable[..., str]:
    """Return how to make texts once each, a visitor's only until they are too long together.

    :param make: a text of hashable arguments
    :param what: they are, in the plural
    :return: which raises KgdashError, saying how long they may be
    """
    length = 0

    @cache
    def once(*arguments: Hashable) -> str:
        nonlocal length
        text = make(*arguments)
        length += held_bytes(text)
        _check_length(length, what, _HELD)
        return text

    return once


def _check_length(length: int, what: str, most: int) -> None:
    if not visitor().is_local and length > most:
        raise KgdashError(
            f"{what}, written out, have {length:,} bytes; expected at most {most:,}: "
            "shorten names and labels, or take fewer"
        )


def held_bytes(text: str) -> int:
    """Return the bytes that Python may hold a text with: four a character if one is wide."""
    return len(text) if text.isascii() else 4 * len(text)


def _bounded(rows: _Rows, shown: str, most: int | None, longest: int | None) -> _Rows:
    for count, (line, columns) in enumerate(rows, start=1):
        _check_count(count, shown, most)
        _check_labels(columns, f"{shown}, line {line}", longest)
        yield line, columns


def _check_count(count: int, shown: str, most: int | None, what: str = "rows") -> None:
    if most is not None and count > most:
        if most == NOBODY.most_rows:
            raise KgdashError(f"your log-in has ended: log in again, and hand {shown} in once more")
        raise KgdashError(f"{shown} holds more than {most:,} {what}; hand in fewer")


def _check_labels(labels: Iterable[str], where: str, longest: int | None) -> None:
    found = max(map(len, labels), default=0)
    if longest is not None and found > longest:
        raise KgdashError(
            f"expected names of at most {longest:,} characters; found {found:,} ({where})"
        )
