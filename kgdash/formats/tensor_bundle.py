"""Arrays out of checkpoints of TensorFlow, without TensorFlow: an index and its files of numbers.

The index is a table of LevelDB's: blocks of keys in order, each key given by what differs from the
one before it; values are messages of Protocol Buffers (``tensor_bundle.proto``). Nothing in it
runs, and nothing is allocated that the files do not hold. What TensorFlow, which looks a key up
where a block says that whole keys stand, may find other than who reads all of it, is refused.
"""

import io
import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.regular import open_regular
from kgdash.formats.proto_fields import fields, message, once, varint, whole

_MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER = 48

#: bytes of an index or a text, of a file of numbers, of a key; keys, of which models have tens
_MOST_INDEX, _MOST, _LONGEST_KEY, _MOST_KEYS = 2**22, 2**40, 4_096, 10_000

#: numbers by TensorFlow's count of types
_DTYPES = {1: "<f4", 2: "<f8", 19: "<f2"}
_TEXT = 7

#: bytes of a sum
_SUM = 4

_MOST_AXES = 8


@dataclass(frozen=True)
class _Entry:
    """Where something is: TensorFlow's count of its type, its shape, file, place and bytes."""

    kind: int
    shape: tuple[int, ...]
    shard: int
    place: int
    size: int


class Bundle:
    """A checkpoint: ``NAME.index``, with ``NAME.data-00000-of-00001`` and so on beside it."""

    def __init__(self, index: Path) -> None:
        """Read the index.

        :raises KgdashError: if it can not be read, or is damaged
        """
        self._index, self._shards = index, 1
        self._entries: dict[str, bytes] = {}
        with _damage_refused(index):
            with open_regular(index, _MOST_INDEX) as stream:
                data = stream.read()
            for key, value in _items(data):
                self._entries[key.decode()] = value
                if len(self._entries) > _MOST_KEYS:
                    raise KgdashError(f"{index} tells of more arrays than any model has")
            self._shards = _header(self._entries.pop("", b""))

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of everything that it holds, by key.

        :raises KgdashError: if the index is damaged
        """
        with _damage_refused(self._index):
            return {key: _entry(value).shape for key, value in self._entries.items()}

    def array(self, key: str) -> np.ndarray:
        """Return an array of floats.

        :raises KgdashError: if there is none under that key, or a file is damaged
        """
        with _damage_refused(self._index):
            entry = self._entry(key)
            if entry.kind not in _DTYPES:
                raise KgdashError(f"{self._index}: {key}: expected floats of 16 to 64 bits")
            dtype = np.dtype(_DTYPES[entry.kind])
            count = math.prod(entry.shape) if len(entry.shape) <= _MOST_AXES else 0
            if count * dtype.itemsize != entry.size or not count:
                raise ValueError(f"{key}: its shape and its bytes do not fit")
            with self._numbers(entry) as stream:
                return np.fromfile(stream, dtype, count).reshape(entry.shape)

    def text(self, key: str) -> bytes:
        """Return a single text.

        :raises KgdashError: as `array`
        """
        with _damage_refused(self._index):
            entry = self._entry(key)
            if entry.kind != _TEXT or entry.shape or entry.size > _MOST_INDEX:
                raise ValueError(f"{key}: other than one text")
            with self._numbers(entry) as stream:
                data = stream.read(entry.size)
            length, at = varint(data, 0)
            if at + _SUM + length != len(data):  # a sum of the lengths stands between
                raise ValueError(f"{key}: a text that is cut short")
            return data[at + _SUM :]

    def _entry(self, key: str) -> _Entry:
        if key not in self._entries:
            found = ", ".join(sorted(self._entries)) or "nothing"
            raise KgdashError(f"{self._index}: no {key}; it holds {found:.120}")
        return _entry(self._entries[key])

    @contextmanager
    def _numbers(self, entry: _Entry) -> Iterator[BufferedReader]:
        path = self._index.with_name(
            f"{self._index.stem}.data-{entry.shard:05d}-of-{self._shards:05d}"
        )
        with _damage_refused(path), open_regular(path, _MOST) as stream:
            held = stream.seek(0, io.SEEK_END)
            if entry.place > held - entry.size:
                raise ValueError(f"it ends at {held:,}, of {entry.place + entry.size:,} bytes")
            stream.seek(entry.place)
            yield stream


@contextmanager
def _damage_refused(path: Path) -> Iterator[None]:
    try:
        yield
    except KgdashError:
        raise
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error
    except (struct.error, LookupError, ValueError, OverflowError) as error:
        raise KgdashError(
            f"{path} is damaged or not of a checkpoint ({error!s:.80}); copy it again"
        ) from error


# The table


def _items(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Go through the table: key and value."""
    footer = data[-_FOOTER:]
    if len(footer) != _FOOTER or not footer.endswith(_MAGIC):
        raise ValueError("its end is another")
    at = 0
    for _ in range(2):  # past the handle of what describes the table
        _, at = varint(footer, at)
    left, last = len(data), None
    for _, handle in _block(data, footer, at):
        size, _ = varint(handle, varint(handle, 0)[1])
        left -= size
        if left < 0:
            raise ValueError("blocks that share their bytes")
        for key, value in _block(data, handle, 0):
            if last is not None and key <= last:
                raise ValueError("keys out of order")
            last = key
            yield key, value


def _block(data: bytes, handle: bytes, at: int) -> Iterator[tuple[bytes, bytes]]:
    place, at = varint(handle, at)
    size, _ = varint(handle, at)
    block = data[place : place + size]
    if len(block) < size or data[place + size : place + size + 1] != b"\0":
        raise ValueError("a block that is cut short or compressed")
    (count,) = struct.unpack_from("<I", block, size - 4)
    end, at, key = size - 4 - 4 * count, 0, b""
    if end < 0:
        raise ValueError("a block that is cut short")
    restarts = set(struct.unpack_from(f"<{count}I", block, end))
    while at < end:
        begin = at
        shared, at = varint(block, at)
        if not shared:
            restarts.discard(begin)
        own, at = varint(block, at)
        length, at = varint(block, at)
        if shared > len(key) or shared + own > _LONGEST_KEY or at + own + length > end:
            raise ValueError("a key or value that does not fit")
        key = key[:shared] + block[at : at + own]
        at += own + length
        yield key, block[at - length : at]
    if restarts:
        raise ValueError("whole keys elsewhere than it says")


# The values


def _header(value: bytes) -> int:
    """Return the number of files of numbers."""
    said = once(value)
    shards = whole(said.get(1, 1))
    if whole(said.get(2, 0)) or not 1 <= shards < 100_000:
        raise ValueError("numbers with the most significant byte first, or in too many files")
    return shards


def _entry(value: bytes) -> _Entry:
    said, shape = once(value), list[int]()
    if 7 in said:
        raise ValueError("an array in slices")
    for number, axis in fields(message(said.get(2, b""))):
        if number == 2:
            shape.append(whole(once(message(axis)).get(1, 0)))
    kind, shard, place, size = (whole(said.get(field, 0)) for field in (1, 3, 4, 5))
    return _Entry(kind, tuple(shape), shard, place, size)
