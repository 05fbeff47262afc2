"""Text that people hand in: read with a limit, and errors that name file, line and cure."""

import csv
import gzip
import io
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.bounds import bounded
from kgdash.files.byte_sizes import written_size
from kgdash.files.regular import open_regular

_GZIP = b"\x1f\x8b"

#: bytes that any compressed file may unpack to, and how many times its size (tables of rules, which
#: repeat every rule: up to 30 times)
_FREE, _DENSEST = 2**22, 100

#: least byte of UTF-8 for a character that takes so many in memory, as all of its text do then
_WIDE = ((0xF0, 4), (0xC4, 2))

#: what is no blank; a line with its end
_PRINTED, _LINE = re.compile(r"\S"), re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")

#: characters at which a row of a table is refused: its cells take twenty-five times that
MAX_ROW = 2**20

#: bytes from which on JSON is no small file, and takes seconds to be looked through
_LARGE = 2**26

#: objects and lists that a record may have, and as many numbers; texts in JSON, which may hold
#: brackets: one without an end goes to the file's, since trying all ways to cut it would never end
_MOST_PARTS, _TEXTS = 2**18, re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)

#: half a pair of surrogates in JSON: a character that no file and no page can hold
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_content(source: str | Path | bytes, shown: str, max_bytes: int) -> bytes:
    """Return a file's content, unpacked if it is gzip, refusing what is too large unread.

    :param source: a path, or the bytes themselves
    :param max_bytes: most bytes, unpacked
    :raises KgdashError: if it can not be read, is too large, no whole gzip file, or a gzip
        file of far less than it holds, or than its text takes in memory
    """
    try:
        if not isinstance(source, bytes):
            with open_regular(source) as stream:
                # No more than there is: as much address space as is asked for would be taken.
                size = os.fstat(stream.fileno()).st_size
                source = stream.read(min(max_bytes, size) + 1)
        if source[:2] == _GZIP:
            most = min(max_bytes, max(_FREE, _DENSEST * len(source)))
            with gzip.open(io.BytesIO(source)) as stream:
                source = stream.read(most + 1)
            if len(source) <= max_bytes and most < len(source) * _width(source):
                raise KgdashError(
                    f"{shown} unpacks to more than {_DENSEST} times its size; unpack it first, if "
                    "that is what it holds"
                )
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise KgdashError(f"{shown} is not a whole gzip file ({error}); fetch it again") from error
    except OSError as error:
        raise KgdashError(f"can not read {shown}: {error.strerror or error}") from error
    if len(source) > max_bytes:
        raise KgdashError(f"{shown} holds more than {written_size(max_bytes)}; keep less in a file")
    return source


def _width(content: bytes) -> int:
    """Return the bytes that a text takes for each of its bytes in UTF-8, at most."""
    if content.isascii():
        return 1
    largest = np.frombuffer(content, np.uint8).max()
    return next((width for least, width in _WIDE if largest >= least), 1)


def decode_text(content: bytes, shown: str) -> str:
    """Decode UTF-8, with or without a byte order mark.

    :raises KgdashError: if it is not UTF-8, with the line of the first wrong byte
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise KgdashError(
            f"expected UTF-8 text; found byte 0x{content[error.start]:02x} ({shown}, line {line}). "
            "Save the file as UTF-8"
        ) from error


def parse_plain_json(content: bytes, numbers: int = _MOST_PARTS, parts: int = _MOST_PARTS) -> Any:
    """Parse JSON as `parse_json` does, of few objects and lists: each takes thirty times its text.

    Nobody else comes to a turn while Python parses, and it looks at all of them again and again.

    :param numbers: that there may be about, and other values that are no texts
    :param parts: objects and lists that there may be
    :raises ValueError: as there, or if a file of up to 64 MiB has more
    :raises RecursionError: as there
    """
    if len(content) > _LARGE:
        return parse_json(content)
    texts = (content.count(b'"') - content.count(b'\\"')) // 2
    most = numbers, parts
    if _is_crowded(content, texts, *most) and _is_crowded(*_TEXTS.subn(b"", content), *most):
        limit = min(most)
        raise ValueError(f"more than {limit:,} objects, lists or numbers")
    return parse_json(content)


def _is_crowded(content: bytes, texts: int, numbers: int, parts: int) -> bool:
    found = content.count(b"[") + content.count(b"{")
    return found > parts or content.count(b",") - texts > numbers


def parse_json(text: str | bytes) -> Any:
    """Parse JSON of which every text can be written again, and which says each thing once.

    :raises ValueError: if it is not valid JSON, holds half of a pair of surrogates, or a key twice
    :raises RecursionError: if it is nested too deep
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    value = json.loads(text, object_pairs_hook=_said_once)
    if _SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x}"
            raise ValueError(f"{half} is half of a character; write the whole one") from None
    return value


def _said_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object: of what stands twice Python takes the last, and others the first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"key {key!r:.100} stands twice in an object; keep one")
    return found


def table_rows(text: str, shown: str) -> Iterator[tuple[int, list[str]]]:
    """Return line number (from 1) and stripped columns of each line that is not blank.

    Columns are separated by tabs if the first line that is not blank holds one, else by commas,
    with the usual quoting.

    :raises KgdashError: if a quote is not closed, or a row has a million characters; as
        `kgdash.files.bounds.bounded`
    """
    return bounded(_table_rows(text, shown), shown)


def first_printed(text: str, start: int = 0) -> int:
    """Return where the first character stands that is no blank, or −1: nothing is copied."""
    found = _PRINTED.search(text, start)
    return found.start() if found else -1


def text_lines(text: str, shown: str) -> Iterator[tuple[int, str]]:
    """Yield the number (from 1) of each line, and the line without its end.

    They are made one after another: short ones take much together, as cells of a long one do.

    :param shown: the file's name
    :raises KgdashError: if a line has `MAX_ROW` characters
    """
    start, number = 0, 1
    while (end := text.find("\n", start)) >= 0:
        check_row(end - start, f"{shown}, line {number}")
        yield number, text[start:end]
        start, number = end + 1, number + 1
    check_row(len(text) - start, f"{shown}, line {number}")
    yield number, text[start:]


def csv_rows(lines: Iterable[str], shown: str, **form: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield line number (from 1) and cells of each row of CSV.

    :param lines: with their ends; quotes may hold several together
    :param shown: the file's name
    :param form: of `csv.reader`
    :raises KgdashError: if a row can not be, or has `MAX_ROW` characters, naming the line
    """
    held = number = 0

    def counted() -> Iterator[str]:
        nonlocal held, number
        for line in lines:
            number, held = number + 1, held + len(line)
            check_row(held, f"{shown}, line {number}")
            yield line

    reader = csv.reader(counted(), **form)
    try:
        for row in reader:
            held = 0
            yield reader.line_num, row
    except csv.Error as error:
        raise KgdashError(
            f"not valid CSV: {error} ({shown}, line {reader.line_num}). Close every quote"
        ) from error


def check_row(characters: int, where: str) -> None:
    """Refuse a row of so many characters before it is taken apart.

    :param where: file and line
    :raises KgdashError: if there are `MAX_ROW` or more
    """
    if characters >= MAX_ROW:
        raise KgdashError(
            f"expected rows of less than {MAX_ROW:,} characters ({where}). Close every quote"
        )


def _table_rows(text: str, shown: str) -> Iterator[tuple[int, list[str]]]:
    start = max(0, first_printed(text))
    end = text.find("\n", start)
    if text.find("\t", start, end if end >= 0 else len(text)) >= 0:
        for number, line in text_lines(text, shown):
            if line.strip():
                yield number, [column.strip() for column in line.rstrip("\r").split("\t")]
        return
    lines = (line.group() for line in _LINE.finditer(text))
    for number, row in csv_rows(lines, shown, strict=True, skipinitialspace=True):
        if any(column.strip() for column in row):
            yield number, [column.strip() for column in row]
