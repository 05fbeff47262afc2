"""Reading triples and labels from text files, with errors that name file and line."""

import gzip
import io
import itertools
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import reads
from kgdash.files.bounds import bounded
from kgdash.files.regular import open_regular
from kgdash.files.text import csv_rows
from kgdash.graph import KnowledgeGraph

#: first rows that are column names, not a triple
HEADERS = {
    ("head", "relation", "tail"),
    ("h", "r", "t"),
    ("subject", "predicate", "object"),
    ("s", "p", "o"),
    ("source", "relation", "target"),
}

#: uncompressed size at which a text file is refused (Wikidata5M's training triples take 0.6 GB)
MAX_BYTES = 4 * 2**30

#: characters at which a line is refused, so that a compressed file can not fill the memory
MAX_LINE = 2**20

#: bytes that any compressed file may unpack to, and how many times its size (PyKEEN's own datasets:
#: up to 9 times)
_FREE, _DENSEST = 2**22, 50

#: bytes of a text besides its characters
_EMPTY = sys.getsizeof("")


def read_triples(path: Path, content: bytes | None = None) -> np.ndarray:
    """Read rows of head, relation, tail; a row of column names at the top is skipped.

    :param path: tab-separated, or comma-separated if it ends in .csv or .csv.gz; UTF-8
    :param content: of the file, where it is not on disk under that path
    :return: array of str objects, shape ``(n, 3)``
    :raises KgdashError: if a row does not have three filled columns, or the file can not be read
    """
    # A name's text is kept once, however often it occurs: a file of megabytes may hold millions.
    names: dict[str, str] = {}
    texts: list[str] = []
    for _, row in _triple_rows(path, content):
        texts.extend(names.setdefault(name, name) for name in row)
    return np.array(texts, dtype=object).reshape(-1, 3)


def _triple_rows(path: Path, content: bytes | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield line and columns of each triple, as `read_triples` reads them."""
    first = True
    for line, row in read_rows(path, content):
        if len(row) != 3 or not all(row):
            found = f"{len(row)}: {', '.join(row)[:80]}" if len(row) != 3 else "an empty one"
            raise KgdashError(
                f"expected 3 columns head, relation, tail; found {found} ({path}, line {line}). "
                "Separate them with tabs, or with commas in a .csv file"
            )
        if not (first and is_header(row, f"{path}, line {line}")):
            yield line, row
        first = False


def is_header(row: list[str], where: str) -> bool:
    """Tell whether a first row names the columns.

    :param where: file and line
    :raises KgdashError: if it names them in another order, by which they would be read wrongly
    """
    names = tuple(name.lower() for name in row)
    for header in HEADERS:
        if names != header and set(names) == set(header):
            raise KgdashError(
                f"expected columns {', '.join(header)}; found {', '.join(row)} ({where}). Put them "
                "in this order"
            )
    return names in HEADERS


def stream_graph_triples(path: Path, graph: KnowledgeGraph, size: int) -> Iterator[np.ndarray]:
    """Yield the ids of a file's triples, a part at a time, in the file's order.

    :param path: as for `read_triples`; names or labels
    :param size: triples in a part, ≥ 1
    :return: int64, ``(≤ size, 3)``
    :raises KgdashError: as `read_graph_triples`, naming the line, when that is reached
    """
    if not path.is_file():
        raise KgdashError(f"no triples file {path}")
    entities = {name: number for number, name in enumerate(graph.entities)}
    relations = {name: number for number, name in enumerate(graph.relations)}
    part: list[tuple[int, int, int]] = []
    empty = True
    for line, (head, relation, tail) in _triple_rows(path):
        try:
            row = (
                entities[head] if head in entities else graph.entity_id(head),
                relations[relation] if relation in relations else graph.relation_id(relation),
                entities[tail] if tail in entities else graph.entity_id(tail),
            )
        except KgdashError as error:
            raise KgdashError(f"{error} ({path}, line {line})") from None
        part.append(row)
        if len(part) == size:
            yield np.array(part, dtype=np.int64)
            part = []
        empty = False
    if empty:
        raise KgdashError(f"{path} holds no triples; expected rows of head, relation, tail")
    if part:
        yield np.array(part, dtype=np.int64)


@reads
def read_graph_triples(path: Path, graph: KnowledgeGraph) -> np.ndarray:
    """Read triples of a graph's names or labels (as `read_triples`) and return their ids.

    :return: int64, shape ``(n, 3)``, duplicates kept
    :raises KgdashError: if the file is malformed or empty, or a name is not in the graph
    """
    if not path.is_file():
        raise KgdashError(f"no triples file {path}")
    rows = read_triples(path)
    if not len(rows):
        raise KgdashError(f"{path} holds no triples; expected rows of head, relation, tail")
    find = (graph.entity_id, graph.relation_id, graph.entity_id)
    ids = np.empty((len(rows), 3), dtype=np.int64)
    for number, row in enumerate(rows):
        try:
            ids[number] = [look(name) for look, name in zip(find, row, strict=True)]
        except KgdashError as error:
            raise KgdashError(f"{error} ({path}, triple {number + 1})") from None
    return ids


def read_labels(path: Path) -> dict[str, str]:
    """Read rows of name, label.

    :raises KgdashError: if a row does not have two columns, or the file can not be read
    """
    labels = {}
    for line, row in read_rows(path):
        if len(row) != 2:
            raise KgdashError(
                f"expected 2 columns name, label; found {len(row)} ({path}, line {line})"
            )
        labels[row[0]] = row[1] or row[0]
    return labels


def read_rows(path: Path, content: bytes | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield the number (from 1) and the stripped columns of each line that is not blank.

    :param path: its extension tells the separator, and whether the file is compressed
    :param content: of the file, where it is not on disk under that path
    :raises KgdashError: if the file is missing, truncated, not UTF-8, beyond 4 GiB of text, or has
        a line beyond a million characters; of a content, as `kgdash.files.bounds.bounded`
    """
    suffixes = [suffix.lower() for suffix in reversed(path.suffixes)]
    extension = next((suffix for suffix in suffixes if suffix in _READERS), ".tsv")
    try:
        with _open_text(path, content) as stream:
            packed = None
            if path.suffix.lower() == ".gz":
                packed = os.path.getsize(path) if content is None else len(content)
            rows = _READERS[extension](_lines(stream, path, packed), str(path))
            yield from rows if content is None else bounded(rows, str(path))
    except UnicodeDecodeError as error:
        line = _undecodable_line(path, content)
        where = f" (line {line})" if line else ""
        raise KgdashError(f"{path} is not UTF-8 text{where}; convert it first") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise KgdashError(f"{path} is not a whole gzip file ({error}); fetch it again") from error
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error


def _tab_separated(lines: Iterator[str], shown: str) -> Iterator[tuple[int, list[str]]]:
    for number, text in enumerate(lines, start=1):
        if text.strip():
            yield number, [column.strip() for column in text.rstrip("\r\n").split("\t")]


def _comma_separated(lines: Iterator[str], shown: str) -> Iterator[tuple[int, list[str]]]:
    for number, row in csv_rows(lines, shown, skipinitialspace=True):
        columns = [column.strip() for column in row]
        if any("\n" in column or "\r" in column for column in columns):
            raise KgdashError(
                f"a name goes on over several lines, the last is {number:,} ({shown}). Close every "
                "quote"
            )
        if any(row):
            yield number, columns


#: extension -> what makes rows, with their line's number, of a file's lines and name
_READERS: dict[str, Callable[[Iterator[str], str], Iterator[tuple[int, list[str]]]]] = {
    ".tsv": _tab_separated,
    ".txt": _tab_separated,
    ".csv": _comma_separated,
}

#: of files that are read
EXTENSIONS = tuple(f"{name}{packed}" for packed in ("", ".gz") for name in _READERS)


def _open_text(path: Path, content: bytes | None) -> io.TextIOWrapper:
    return io.TextIOWrapper(_open_bytes(path, content), encoding="utf-8-sig", newline="")


def _open_bytes(path: Path, content: bytes | None) -> Any:
    if content is None:
        stream: Any = open_regular(path)
    else:
        stream = io.BytesIO(content)
    if path.suffix.lower() != ".gz":
        return stream
    unpacked = gzip.GzipFile(fileobj=stream)
    unpacked.myfileobj = stream  # closed with it
    return unpacked


def _lines(stream: io.TextIOWrapper, path: Path, packed: int | None) -> Iterator[str]:
    """Yield lines.

    :param packed: bytes of the file, if it is compressed
    """
    unchecked = taken = 0
    for number in itertools.count(1):
        text = stream.readline(MAX_LINE)
        if not text:
            return
        if len(text) >= MAX_LINE:
            raise KgdashError(
                f"expected lines of less than {MAX_LINE:,} characters ({path}, line {number})"
            )
        yield text
        unchecked += len(text)
        # One wide character makes all of its line wide.
        taken += sys.getsizeof(text) - _EMPTY
        if unchecked >= MAX_LINE:
            _check_size(stream.buffer.tell(), taken, path, packed)  # type: ignore[attr-defined]
            unchecked = 0


def _undecodable_line(path: Path, content: bytes | None) -> int:
    """Return the number of the first line that is not UTF-8; 0 if a gzip file is damaged there."""
    damaged = suppress(OSError, EOFError, zlib.error)
    with damaged, _open_bytes(path, content) as stream:
        number = 1
        while part := stream.readline(MAX_LINE):  # a line may have no end
            try:
                part.decode()
            except UnicodeDecodeError:
                return number
            number += part.endswith(b"\n")
    return 0


def _check_size(unpacked: int, taken: int, path: Path, packed: int | None) -> None:
    if unpacked > MAX_BYTES:
        raise KgdashError(f"{path} holds more than 4 GiB of text; split or filter it first")
    if packed is not None and max(unpacked, taken) > max(_FREE, _DENSEST * packed):
        raise KgdashError(
            f"{path} unpacks to more than {_DENSEST} times its size; unpack it first, if that is "
            "what it holds"
        )
