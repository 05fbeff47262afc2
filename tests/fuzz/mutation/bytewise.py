"""Changes of bytes, whatever they mean."""

import struct
from random import Random

#: what readers of text and of numbers stumble over
TOKENS = (
    *(b"\0", b"\r", b"\n", b"\r\n", b"\t", b'"', b"'", b",", b"\\", b"^", b"#", b" "),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\x80"),
    *("\u2028".encode(), "\x85".encode(), "\u00a0".encode(), "\u202e".encode(), "é".encode()),
    *(b"-1", b"0", b"1e400", b"-inf", b"nan", b"9" * 25, b"0x10", b"1_0", "٣".encode()),
    *(b"true", b"null", b"[", b"]", b"{", b"}", b"()", b"=>", b"<=", b"../", b"%s", b"\x1b[2J"),
)

_EDGES = (0, 1, 2, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)

#: bytes at which nothing more is added
MOST = 1 << 20


def change_bytes(data: bytes, random: Random) -> bytes:
    """Change a few bytes, a run of them or a number among them; or add, repeat and cut."""
    place = random.randrange(len(data) + 1)
    length = min(len(data) - place, 1 << random.randrange(9))
    kind = random.randrange(9)
    if kind == 0:
        changed = bytearray(data)
        for _ in range(random.randint(1, 4)):
            if changed:
                changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        return bytes(changed)
    if kind == 1:
        return data[:place] + data[place + length :]
    if kind == 2:
        return data[:place]
    if kind == 3 and len(data) < MOST:
        times = random.choice((1, 1, 2, 8, 200, 5000))
        return (
            data[:place]
            + data[place : place + min(length, MOST // times)] * (times + 1)
            + (data[place + length :])
        )
    if kind == 4:
        width = random.choice("BHIQ")
        value = random.choice(_EDGES) % (1 << 8 * struct.calcsize(width))
        packed = struct.pack(random.choice("<>") + width, value)
        return data[:place] + packed + data[place + len(packed) :]
    if kind == 5:
        other = random.randrange(len(data) + 1)
        return data[:place] + data[other : other + length] + data[place:]
    if kind == 6:
        return data[:place] + random.randbytes(random.randint(1, 16)) + data[place:]
    token = random.choice(TOKENS)
    return data[:place] + token + data[place + (len(token) if kind == 7 else 0) :]
