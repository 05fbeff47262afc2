"""Links of HDF5 groups: as messages in an object's header, and in heaps where they are many.

Many links lie in a fractal heap, in rows of blocks, those of a row twice as large as those before;
a B-tree of version 2 says where in the heap each is. By the HDF5 File Format Specification, 3.0.
"""

import struct
from collections.abc import Callable, Iterator

#: reads bytes of the file: place, length
Take = Callable[[int, int], bytes]

#: bytes of a record of the tree: a hash, then where in the heap its link is
_RECORD, _HASH = 11, 4

#: bytes around what a node of the tree, and before what a block of the heap, holds
_AROUND, _BEFORE = 10, 13

#: bytes of a place's name in the heap, and bits of places, as the library has them for links
_NAME, _BITS = 7, 32

#: levels of a tree, rows of blocks: far more than any file needs
_DEEPEST, _MOST_ROWS = 16, 64


def number(data: bytes, place: int, size: int = 8) -> int:
    """Return a number, least byte first."""
    if place < 0 or len(data) < place + size:
        raise ValueError("a number that is cut short")
    return int.from_bytes(data[place : place + size], "little")


def link(body: bytes) -> tuple[str, int | None]:
    """Read a link message: name, and address of what it is of if that lies in this file.

    :raises ValueError: if it is none
    """
    version, flags = body[:2]
    if version != 1:
        raise ValueError("no link")
    hard = not flags & 8 or body[2] == 0
    at = 2 + bool(flags & 8) + 8 * bool(flags & 4) + bool(flags & 16)
    width = 1 << (flags & 3)
    length = number(body, at, width)
    at += width
    name = body[at : at + length].decode()
    return name, number(body, at + length) if hard else None


def links_of_heap(take: Take, heap: int, tree: int) -> Iterator[tuple[str, int | None]]:
    """Go through the links of a group that has many, as `link` returns them.

    :param heap: address of the heap's header
    :param tree: address of the tree's header
    :raises ValueError: if they are damaged
    """
    head = take(heap, 142)
    others = (number(head, 5, 2), number(head, 7, 2), number(head, 128, 2)) != (_NAME, 0, _BITS)
    if head[:4] != b"FRHP" or others:
        raise ValueError("no heap of links, or one that is compressed")
    for record in _records(take, tree):
        # Its kind, where in the heap it is, and its bytes.
        kind, offset, length = struct.unpack_from("<BIH", record, _HASH)
        if kind:
            raise ValueError("a link outside the heap")
        yield link(take(_in_heap(take, head, offset), length))


def _in_heap(take: Take, head: bytes, offset: int) -> int:
    """Return the address of a place in the heap."""
    width, first, largest = number(head, 110, 2), number(head, 112), number(head, 120)
    root, rows = number(head, 132), number(head, 140, 2)
    if not rows:
        return root + offset
    if not width or not first:
        raise ValueError("a heap of blocks without room")
    size = largest + 1
    while size > largest:  # of blocks of blocks
        start = 0
        for row in range(min(rows, _MOST_ROWS)):
            size = first << max(0, row - 1)
            if offset < start + width * size:
                break
            start += width * size
        else:
            raise ValueError("a place beyond the heap")
        index = row * width + (offset - start) // size
        root = number(take(root + _BEFORE + 4 + 8 * index, 8), 0)
        offset, rows = (offset - start) % size, (size // (width * first)).bit_length()
    return root + offset


def _records(take: Take, tree: int) -> Iterator[bytes]:
    """Go through a tree's records."""
    head = take(tree, 34)
    room, depth = number(head, 6, 4) - _AROUND, number(head, 12, 2)
    known = head[:4] == b"BTHD" and head[5] == 5 and number(head, 10, 2) == _RECORD
    if not known or depth > _DEEPEST:
        raise ValueError("no tree of links")
    in_leaf = room // _RECORD
    count_size, most, sizes = _bytes_of(in_leaf), in_leaf, [0]
    for _ in range(depth):  # of pointers to children, and of the counts below them
        each = 8 + count_size + (sizes[-1] if len(sizes) > 1 else 0)
        in_node = (room - each) // (_RECORD + each)
        most = (in_node + 1) * most + in_node
        sizes.append(_bytes_of(most))
    pending = [(number(head, 16), number(head, 24, 2), depth)]
    while pending:
        place, count, level = pending.pop()
        if take(place, 4) != (b"BTIN" if level else b"BTLF"):
            raise ValueError("no node of a tree")
        records = take(place + 6, _RECORD * count)
        yield from (records[at : at + _RECORD] for at in range(0, len(records), _RECORD))
        if level:
            each = 8 + count_size + (sizes[level - 1] if level > 1 else 0)
            below = take(place + 6 + len(records), each * (count + 1))
            for at in range(0, len(below), each):
                held = number(below, at + 8, count_size)
                pending.append((number(below, at), held, level - 1))


def _bytes_of(most: int) -> int:
    """Return how many bytes numbers up to one take."""
    if most < 1:
        raise ValueError("nodes without room")
    return (most.bit_length() - 1) // 8 + 1
