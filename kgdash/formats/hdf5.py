"""Arrays out of HDF5 files of strangers, without the HDF5 library.

That library was not made for files that mean harm: some make it write where it should not. What
arrays of numbers take of the format is little, and is read here: superblocks 0 to 3, object headers
1 and 2, groups as symbol tables or as links, arrays in one piece. Whatever else a
file may say (chunks, filters, links elsewhere, other files) is refused by name, and so is what it
says twice, of which the library takes the other. Nothing is allocated that the file does not hold.
By the HDF5 File Format Specification, version 3.0.
"""

import io
import math
import struct
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.regular import open_regular
from kgdash.formats.hdf5_links import link, links_of_heap, number

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_UNDEFINED = 2**64 - 1

#: superblock's version → where it gives the root group's header, the sizes of an address and of a
#: length, the address that others count from, and that of more: a driver's, or what may stand for
#: parts of the file
_ROOT = {0: (64, 13, 24, 48), 1: (68, 13, 28, 52), 2: (36, 9, 12, 20), 3: (36, 9, 12, 20)}

# Messages of object headers
_SHAPE, _LINK_INFO, _NUMBERS, _LINK, _EXTERNAL, _LAYOUT = 0x01, 0x02, 0x03, 0x06, 0x07, 0x08
_FILTERS, _CONTINUED, _SYMBOLS = 0x0B, 0x10, 0x11
_WANTED = (_SHAPE, _LINK_INFO, _NUMBERS, _LINK, _EXTERNAL, _LAYOUT, _FILTERS, _SYMBOLS)

#: bit of a message's flags: it stands elsewhere, and may be that of other objects too
_SHARED = 2

#: IEEE numbers, least byte first, as a datatype says so after its class → how NumPy names them
_FLOATS = {
    bytes.fromhex("200f00 02000000 00001000 0a05000a 0f000000"): "<f2",
    bytes.fromhex("201f00 04000000 00002000 17080017 7f000000"): "<f4",
    bytes.fromhex("203f00 08000000 00004000 340b0034 ff030000"): "<f8",
}
_FLOAT_CLASS = 1

#: bytes of a file; of all that it says of its arrays; of a name; axes
_MOST, _MOST_STRUCTURE, _LONGEST_NAME, _MOST_AXES = 2**40, 2**28, 255, 8

_CURE = "write the numbers as h5py does without options"


@contextmanager
def open_hdf5(path: Path) -> Iterator["Hdf5File"]:
    """Open a file for reading.

    :raises KgdashError: if it can not be read, is no HDF5 file, or damaged
    """
    try:
        with open_regular(path, _MOST) as stream:
            yield Hdf5File(stream, str(path))
    except KgdashError:
        raise
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error
    except (struct.error, LookupError, ValueError, OverflowError) as error:
        raise KgdashError(f"{path} is damaged or cut short; copy it again") from error


class Hdf5File:
    """An open file; its methods raise ValueError and the like where it is damaged."""

    def __init__(self, stream: BufferedReader, where: str) -> None:
        """Find the root group."""
        self._stream, self._where = stream, where
        self._size = stream.seek(0, io.SEEK_END)
        # However a file points at its parts, no more is read than if each were read once.
        self._structure_left = min(self._size + 2**16, _MOST_STRUCTURE)
        self._numbers_left = self._size
        self._groups: dict[int, dict[str, int | None]] = {}
        start = self._take(0, min(self._size, 96))
        if not start.startswith(_SIGNATURE):
            raise KgdashError(f"{where} is no HDF5 file")
        if start[8] not in _ROOT:
            raise self._refused(f"version {start[8]} of the format")
        root, sizes, base, more = _ROOT[start[8]]
        if start[sizes : sizes + 2] != b"\x08\x08" or number(start, base) != 0:
            raise self._refused("addresses of other than 64 bits, or not from the file's start")
        if number(start, more) != _UNDEFINED:
            raise self._refused("a superblock that goes on elsewhere")
        self._root = number(start, root)

    def array(self, path: str) -> np.ndarray:
        """Return an array of floats; one without any has shape (0,).

        :param path: names of groups and of the array, separated by "/"
        :raises KgdashError: if there is none, or it is kept in a form that is not read
        """
        address, passed = self._root, ""
        for name in path.split("/"):
            members = self._members(address)
            if name not in members:
                found = ", ".join(sorted(members)) or "nothing"
                raise KgdashError(f"{self._where}: no {path}; {passed or 'it'} holds {found:.120}")
            found_at, passed = members[name], f"{passed}/{name}".strip("/")
            if found_at is None:
                raise self._refused(f"{passed}: a link to elsewhere")
            address = found_at
        return self._array(address, path)

    # Arrays

    def _array(self, address: int, path: str) -> np.ndarray:
        said: dict[int, bytes] = {}
        for kind, flags, body in self._messages(address):
            if flags & _SHARED:
                raise self._refused(f"{path}: a type that is shared")
            said[kind] = body
        if _EXTERNAL in said:
            raise self._refused(f"{path}: numbers in other files")
        if not {_SHAPE, _NUMBERS, _LAYOUT} <= said.keys():
            raise KgdashError(f"{self._where}: {path} is no array of numbers")
        layout = said[_LAYOUT]
        if _FILTERS in said or layout[0] not in (3, 4) or layout[1] != 1:
            raise self._refused(f"{path}: chunks or compression")
        dtype, shape = self._dtype(said[_NUMBERS], path), self._shape(said[_SHAPE], path)
        place, held = struct.unpack_from("<QQ", layout, 2)
        wanted = math.prod(shape) * dtype.itemsize
        if not wanted:
            return np.zeros(0, dtype)
        if place == _UNDEFINED or held != wanted or not 0 <= place <= self._size - wanted:
            raise KgdashError(
                f"{self._where} is cut short or damaged: {path}, shape {shape}, takes {wanted:,} "
                f"bytes; copy it again"
            )
        self._numbers_left -= wanted
        if self._numbers_left < 0:
            raise self._refused(f"{path}: arrays that share their numbers")
        self._stream.seek(place)
        return np.fromfile(self._stream, dtype, math.prod(shape)).reshape(shape)

    def _dtype(self, body: bytes, path: str) -> np.dtype:
        if body[0] & 15 != _FLOAT_CLASS or body[1:20] not in _FLOATS:
            raise self._refused(f"{path}: other than floats of 16 to 64 bits, least byte first")
        return np.dtype(_FLOATS[body[1:20]])

    def _shape(self, body: bytes, path: str) -> tuple[int, ...]:
        version, axes = body[:2]
        if version not in (1, 2) or (version == 2 and body[3] == 2) or axes > _MOST_AXES:
            raise self._refused(f"{path}: other than an array of up to {_MOST_AXES} axes")
        return struct.unpack_from(f"<{axes}Q", body, 8 if version == 1 else 4)

    # Groups

    def _members(self, address: int) -> dict[str, int | None]:
        """Return a group's members: name → address of its header, None of what lies elsewhere."""
        if address not in self._groups:
            found, places = dict[str, int | None](), set[int]()
            for kind, _, body in self._messages(address):
                links: Iterable[tuple[str, int | None]] = ()
                if kind == _SYMBOLS:
                    links = self._symbols(*struct.unpack_from("<QQ", body))
                elif kind == _LINK:
                    links = [link(body)]
                elif kind == _LINK_INFO:
                    heap, tree = struct.unpack_from("<QQ", body, 2 + 8 * (body[1] & 1))
                    if heap == _UNDEFINED:
                        continue
                    links = links_of_heap(self._take, heap, tree)
                else:
                    continue
                places.add(kind)
                for name, place in links:
                    if name in found or "\0" in name:
                        raise self._refused(f"two links of one name, {name!r:.80}")
                    found[name] = place
            if len(places) > 1:
                raise self._refused("a group of links in two forms")
            self._groups[address] = found
        return self._groups[address]

    def _symbols(self, tree: int, heap: int) -> Iterator[tuple[str, int | None]]:
        """Read a symbol table: nodes of a B-tree down to lists of entries, names in a heap."""
        head = self._take(heap, 32)
        if head[:4] != b"HEAP":
            raise ValueError("no heap")
        names = self._take(number(head, 24), number(head, 8))
        pending, seen = [tree], set[int]()
        while pending:
            node = pending.pop()
            if node in seen:
                raise ValueError("a node twice")
            seen.add(node)
            head = self._take(node, 8)
            (count,) = struct.unpack_from("<H", head, 6)
            if head[:4] == b"TREE":
                # After two addresses of neighbours keys and children take turns.
                pending += struct.unpack(f"<{2 * count}Q", self._take(node + 24, 16 * count))[1::2]
            elif head[:4] == b"SNOD":
                entries = self._take(node + 8, 40 * count)
                for offset, address, linked in struct.iter_unpack("<QQI20x", entries):
                    name = names[offset : names.index(0, offset, offset + _LONGEST_NAME + 1)]
                    yield name.decode(), None if linked == 2 else address
            else:
                raise ValueError("no node")

    # Object headers

    def _messages(self, address: int) -> Iterator[tuple[int, int, bytes]]:
        """Go through an object's header: kind, flags and body of each message that is read.

        :raises KgdashError: if one other than a link stands there twice
        """
        seen = set[int]()
        start = self._take(address, 16)
        new = start.startswith(b"OHDR")
        if start[4 if new else 0] != (2 if new else 1):
            raise ValueError("no object header")
        if new:
            flags = start[5]
            at = address + 6 + 16 * bool(flags & 0x20) + 4 * bool(flags & 0x10)
            width = 1 << (flags & 3)
            blocks = deque([(at + width, int.from_bytes(self._take(at, width), "little"))])
            head = 6 if flags & 4 else 4
        else:
            blocks, head = deque([(address + 16, *struct.unpack_from("<I", start, 8))]), 8
        while blocks:
            block, at = self._take(*blocks.popleft()), 0
            while at + head <= len(block):
                kind, size, flags = struct.unpack_from("<BHB" if new else "<HHB", block, at)
                at += head + size
                body = block[at - size : at]
                if len(body) < size:
                    raise ValueError("a message that is cut short")
                if kind == _CONTINUED:
                    place, length = struct.unpack_from("<QQ", body)
                    # A signature stands before and a sum behind the newer ones.
                    blocks.append((place + 4, length - 8) if new else (place, length))
                elif kind in seen and kind != _LINK:
                    raise self._refused("two messages of one kind")
                elif kind in _WANTED:
                    seen.add(kind)
                    yield kind, flags, body

    # The file

    def _take(self, place: int, length: int) -> bytes:
        """Read bytes that tell of arrays."""
        self._structure_left -= length
        if self._structure_left < 0 or length < 0 or not 0 <= place <= self._size - length:
            raise ValueError("beyond the file's end, or the same again and again")
        self._stream.seek(place)
        return self._stream.read(length)

    def _refused(self, what: str) -> KgdashError:
        return KgdashError(f"{self._where}: refused: {what}, which is not read; {_CURE}")
