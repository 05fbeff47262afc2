"""Changes of text: of the fields of tables, and of the lines of configuration files."""

from random import Random

from tests.fuzz.mutation.bytewise import TOKENS

#: what may stand where a name or a number belongs
ODD = (
    *("", " ", "\0", "-1", "0", "1", "1e400", "nan", "inf", "1,5", "9" * 400, "0x1", "١", "²"),
    *("true", "false", "head", "relation", "tail", "rule", "type", "answer", "hard", "e0", "E0"),
    *(
        '"',
        '""',
        '"a',
        "a\u2028b",
        "\u202e",
        "é" * 50,
        "x" * 140_000,
        "^r0",
        "?a",
        "<e0>",
        "r0(X,Y)",
    ),
    *("../..", "/dev/null", "~", "a/b", "=1+1", "\x1b[31m", "'", "\\", "#", "\ufeff", "e" * 300),
)


def change_table(data: bytes, random: Random) -> bytes:
    """Change fields, columns or lines of a table; the separator is the one that it uses."""
    separator = b"\t" if b"\t" in data else random.choice((b",", b","))
    lines = data.split(b"\n")
    place = random.randrange(len(lines))
    kind = random.randrange(10)
    fields = lines[place].split(separator)
    column = random.randrange(len(fields))
    if kind <= 3:
        fields[column] = odd(random)
    elif kind == 4:
        fields.insert(column, odd(random))
    elif kind == 5:
        del fields[column]
    elif kind == 6:
        other = random.choice(lines).split(separator)
        fields[column] = random.choice(other)
    elif kind == 7:
        lines.insert(random.randrange(len(lines) + 1), lines[place])
        return b"\n".join(lines)
    elif kind == 8:
        del lines[place]
        return b"\n".join(lines)
    else:
        random.shuffle(fields)
    lines[place] = separator.join(fields)
    return b"\n".join(lines)


def change_settings(data: bytes, random: Random) -> bytes:
    """Change a line of TOML: its key, its value, or both."""
    lines = data.split(b"\n")
    place = random.randrange(len(lines))
    key, sign, value = lines[place].partition(b"=")
    kind = random.randrange(6)
    if kind == 0:
        lines.insert(place, random.choice(lines))
    elif kind == 1:
        del lines[place]
    elif kind == 2:
        lines[place] = odd(random) + sign + value
    elif kind == 3:
        lines[place] = key + b" = " + random.choice(_VALUES)
    elif kind == 4:
        lines[place] = b"[" * random.choice((1, 2, 3000)) + key.strip() + b"]"
    else:
        other = random.choice(lines).partition(b"=")
        lines[place] = key + b"=" + other[2]
    return b"\n".join(lines)


_VALUES = (
    *(b"1", b"-1", b"1.5", b"inf", b"nan", b"true", b'"a"', b"'a'", b"[]", b"[1]", b'["a"]', b"{}"),
    *(b"[[1]]", b"{a = 1}", b"1979-05-27", b"1979-05-27T07:32:00Z", b"07:32:00", b"9" * 5000),
    *(b"0x" + b"f" * 5000, b"1e999", b'"""a\nb"""', b'"\\ud800"', b'"\\u0000"', b"[" * 3000),
    *(b"{a=" * 2000, b'["a", 1]', b'[["a"]]', b'"' + b"x" * 10000 + b'"', b'"1"', b"1_000"),
)


def odd(random: Random) -> bytes:
    """Return something odd to stand in a field."""
    return random.choice(TOKENS) if random.random() < 0.3 else random.choice(ODD).encode()
