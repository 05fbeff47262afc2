"""Changes of pickles: opcodes left out, repeated, moved, and put in."""

import io
import pickle
import pickletools
from collections import OrderedDict, defaultdict
from random import Random

from tests.fuzz.mutation.bytewise import change_bytes

#: opcodes with arguments that a file may hold anywhere
_OPCODES = (
    *(b"N", b"\x88", b"\x89", b"(", b")", b"]", b"}", b"\x8f", b"t", b"l", b"d", b"0", b"1", b"2"),
    *(b"\x85", b"\x86", b"\x87", b"a", b"e", b"s", b"u", b"\x90", b"\x91", b"R", b"\x81", b"\x92"),
    *(
        b"b",
        b"Q",
        b"\x93",
        b"\x94",
        b".",
        b"h\0",
        b"h\1",
        b"q\0",
        b"j\0\0\0\1",
        b"r\xff\xff\xff\xff",
    ),
    *(b"K\0", b"K\xff", b"M\xff\xff", b"J\xff\xff\xff\xff", b"J\0\0\0\x80", b"\x8a\0"),
    *(b"\x8a\x09" + b"\xff" * 9, b"\x8a\x09" + b"\0" * 8 + b"\1", b"G\x7f\xf0" + b"\0" * 6),
    *(
        b"G\x7f\xf8" + b"\0" * 6,
        b"G" + b"\0" * 8,
        b"I01\n",
        b"L5L\n",
        b"F1.5\n",
        b"Vabc\n",
        b"S'a'\n",
    ),
    *(b"X\1\0\0\0a", b"X\xff\xff\xff\x7fa", b"\x8c\1a", b"\x8c\2\xed\xa0", b"\x8c\3\xed\xa0\x80"),
    *(b"\x8d" + b"\xff" * 8, b"C\1a", b"B\1\0\0\0a", b"\x8e" + b"\xff" * 8, b"\x96" + b"\0" * 8),
    *(b"cbuiltins\nset\n", b"cos\nsystem\n", b"ccollections\ndefaultdict\n", b"cbuiltins\neval\n"),
    *(b"ctorch._utils\n_rebuild_tensor_v2\n", b"ccollections\nOrderedDict\n", b"P0\n", b"\x98"),
    *(
        b"\x80\x02",
        b"\x80\x05",
        b"\x80\xff",
        b"\x95" + b"\0" * 8,
        b"\x97",
        b"\x82\1",
        b"g0\n",
        b"p9\n",
    ),
)


def change_pickle(data: bytes, random: Random) -> bytes:
    """Change the opcodes of a pickle, or write another of odd containers."""
    if random.random() < 0.15:
        return pickle.dumps(_odd_value(random, 4), random.choice((2, 4, 5)))
    places = [0]
    try:
        places += [place for _, _, place in pickletools.genops(io.BytesIO(data)) if place]
    except Exception:  # damaged by an earlier change: the opcodes up to there
        if len(places) < 2:
            return change_bytes(data, random)
    parts = [data[i:j] for i, j in zip(places, [*places[1:], len(data)], strict=True)]
    at, other = random.randrange(len(parts)), random.randrange(len(parts))
    kind = random.randrange(7)
    if kind == 0:
        del parts[at]
    elif kind == 1:
        parts.insert(at, parts[other])
    elif kind == 2:
        parts[at], parts[other] = parts[other], parts[at]
    elif kind == 3:
        parts[at] = random.choice(_OPCODES)
    elif kind == 4:
        parts.insert(at, random.choice(_OPCODES))
    elif kind == 5:
        first, last = sorted((at, min(other, at + 40)))
        parts[at:at] = parts[first:last] * random.choice((1, 1, 2, 30))
    else:
        parts[at] = change_bytes(parts[at], random)
    return b"".join(parts)


def _odd_value(random: Random, depth: int):
    if not depth or random.random() < 0.3:
        return random.choice(_SCALARS)
    inner = [_odd_value(random, depth - 1) for _ in range(random.randrange(5))]
    kind = random.randrange(6)
    if kind == 0:
        return inner
    if kind == 1:
        return tuple(inner)
    hashable = [each for each in inner if isinstance(each, int | str | float | None)]
    if kind == 2:
        return set(hashable)
    if kind == 3:
        return defaultdict(set, zip(hashable, inner, strict=False))
    if kind == 4:
        return OrderedDict(zip(hashable, inner, strict=False))
    return dict(zip(hashable, inner, strict=False))


_SCALARS = (0, 1, -1, 2**31, 2**70, 1.5, float("nan"), "", "e", "r", "u", "e0", None, True, b"a")
