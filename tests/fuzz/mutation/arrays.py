"""Changes of arrays: of the headers that say what the bytes behind them mean."""

import json
import struct
from random import Random

from tests.fuzz.mutation.bytewise import change_bytes
from tests.fuzz.mutation.json_tree import change_json

_DTYPES = (
    *("F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2", "I64", "I32", "I16", "I8", "U64", "U32"),
    *("U16", "U8", "BOOL", "C64", "F4", "", "X"),
)

_DESCRIPTIONS = (
    *(
        "<i8",
        "<i4",
        ">i8",
        "|u1",
        "<u8",
        "<f8",
        "|O",
        "|b1",
        "<U4",
        "|S1",
        "<M8[s]",
        "|V8",
        "i",
        "",
    ),
    *("<i8, <f4", "[('a', '<i8')]", "'<i8'", "O", "<c16", "|V0"),
)

_SHAPES = (
    *(
        "()",
        "(0,)",
        "(0, 10)",
        "(2, 10)",
        "(-1, 10)",
        "(10,)",
        "(2, 10, 1)",
        "(2.0, 10)",
        "[2, 10]",
    ),
    *("(True, 10)", f"({2**62}, 10)", f"({10**30}, 10)", "('2', 10)", "None", "(4, 10)", "(1, 20)"),
)


def change_npy(data: bytes, random: Random) -> bytes:
    """Change the header of NumPy's format, or the numbers behind it."""
    if data[:6] != b"\x93NUMPY" or len(data) < 12 or random.random() < 0.2:
        return change_bytes(data, random)
    length = struct.unpack("<H", data[8:10])[0]
    header, body = data[10 : 10 + length], data[10 + length :]
    kind = random.randrange(5)
    if kind == 0:
        body = change_bytes(body, random)
    elif kind == 1:
        header = change_bytes(header, random)
    else:
        header = (
            f"{{'descr': '{random.choice(_DESCRIPTIONS)}', "
            f"'fortran_order': {random.choice(('False', 'True', '1', 'None'))}, "
            f"'shape': {random.choice(_SHAPES)}, }}\n"
        ).encode()
        if kind == 2:
            header = header.replace(b"fortran_order", random.choice((b"fortran", b"", b"shape")))
    version = data[6:8] if random.random() < 0.9 else random.randbytes(2)
    return data[:6] + version + struct.pack("<H", len(header) & 0xFFFF) + header + body


def change_safetensors(data: bytes, random: Random) -> bytes:
    """Change the header of safetensors, or the numbers behind it."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 + length or length > len(data) or random.random() < 0.2:
        return change_bytes(data, random)
    header, body = data[8 : 8 + length], data[8 + length :]
    try:
        tensors = json.loads(header)
        name = random.choice([key for key in tensors if key != "__metadata__"])
        entry = tensors[name]
        kind = random.randrange(6)
        if kind == 0:
            body = change_bytes(body, random)
        elif kind == 1:
            entry["dtype"] = random.choice(_DTYPES)
        elif kind == 2:
            shape = entry["shape"]
            entry["shape"] = random.choice(
                (shape[::-1], [], [0, *shape[1:]], [*shape, 1], [2**62, 4], shape[:1], [-1])
            )
        elif kind == 3:
            _other_type(entry, random)
        elif kind == 4:
            tensors[random.choice((*tensors, "", "a", "é", "__metadata__"))] = entry
        else:
            return _safetensors(change_json(header, random), body)
        header = json.dumps(tensors).encode()
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        header = change_bytes(header, random)
    return _safetensors(header, body)


_HDF5 = (b"TREE", b"SNOD", b"HEAP", b"OHDR", b"\x11\x20\x1f", b"\x08\0\x18\0", b"\x11\0\x10\0")


def change_hdf5(data: bytes, random: Random) -> bytes:
    """Change an address or a size in HDF5's structures, or how a message is described."""
    start = random.randrange(len(data) or 1)
    found = [place for mark in _HDF5 if (place := data.find(mark, start)) > 0]
    if not found or random.random() < 0.2:
        return change_bytes(data, random)
    place = random.choice(found) + random.randrange(64)
    if random.random() < 0.3:
        return data[:place] + random.randbytes(1) + data[place + 1 :]
    place -= place % 8
    other = 8 * random.randrange(max(1, len(data) // 8))
    word = random.choice(
        (data[other : other + 8], *(struct.pack("<Q", n) for n in (0, 1, 96, len(data), 2**63)))
    )
    return data[:place] + word + data[place + len(word) :]


def _other_type(entry: dict, random: Random) -> None:
    """Give a tensor another type, and a shape that fits its bytes still."""
    size = entry["data_offsets"][1] - entry["data_offsets"][0]
    name, width = random.choice((("U8", 1), ("I16", 2), ("BF16", 2), ("F8_E4M3", 1), ("I64", 8)))
    columns = entry["shape"][-1] if entry["shape"] else 1
    entry["dtype"] = name
    entry["shape"] = [size // max(1, width * columns), columns]


def _safetensors(header: bytes, body: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + body
