"""Changes of JSON: of a value somewhere in it, a key, the order."""

import json
from random import Random
from typing import Any

from tests.fuzz.mutation.bytewise import change_bytes
from tests.fuzz.mutation.text import ODD

#: written as they are: JSON's writer has no form for some of them
_RAW = {
    "@big": "1" + "0" * 400,
    "@huge": "1e400",
    "@nan": "NaN",
    "@infinity": "-Infinity",
    "@deep": "[" * 3000 + "]" * 3000,
    "@deeper": '{"a":' * 1500 + "1" + "}" * 1500,
    "@digits": "9" * 5000,
    "@surrogate": '"\\ud800"',
    "@surrogates": '"a\\udfff b"',
    "@zero": "-0.0",
}

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, -(2**63) - 1, 1.5, 1e308, -1e308, 5e-324),
    *("", [], {}, [[]], [None], {"": None}, [{}], ["a", 1], {"a": []}, *_RAW),
)


def change_json(data: bytes, random: Random) -> bytes:
    """Change a value, a key or the order somewhere in a JSON text."""
    try:
        root = [json.loads(data)]
    except (ValueError, RecursionError):
        return change_bytes(data, random)
    holder, key = random.choice(list(_places(root)))
    value, kind = holder[key], random.randrange(8)
    if kind <= 2:
        holder[key] = _odd(random)
    elif kind == 3 and holder is not root:
        del holder[key]
    elif kind == 4:
        holder[key] = random.choice([h[k] for h, k in _places(root)])
    elif kind == 5 and isinstance(holder, dict):
        other = random.choice([*holder, *(word for word in ODD if len(word) < 60)])
        holder[other] = holder.pop(key)
    elif kind == 6 and isinstance(value, list):
        value.insert(random.randrange(len(value) + 1), random.choice(value) if value else None)
    else:
        holder[key] = [value] if random.random() < 0.5 else {"a": value}
    try:
        text = json.dumps(root[0], ensure_ascii=random.random() < 0.7)
    except (ValueError, RecursionError):
        return data
    for word, raw in _RAW.items():
        text = text.replace(f'"{word}"', raw)
    return text.encode("utf-8", "surrogatepass")


def change_json_lines(data: bytes, random: Random) -> bytes:
    """Change one of several lines of JSON, or their order."""
    lines = data.split(b"\n")
    place = random.randrange(len(lines))
    kind = random.randrange(8)
    if kind == 0:
        lines.insert(random.randrange(len(lines) + 1), lines[place])
    elif kind == 1:
        del lines[place]
    elif kind == 2:
        lines[place] = change_bytes(lines[place], random)
    else:
        lines[place] = change_json(lines[place], random)
    return b"\n".join(lines)


def _odd(random: Random) -> Any:
    return random.choice(_VALUES) if random.random() < 0.7 else random.choice(ODD)


def _places(root: Any) -> list[tuple[Any, Any]]:
    """List what holds a value, and under which key, for all values of a tree."""
    found, pending = [], [root]
    while pending and len(found) < 500:
        holder = pending.pop()
        keys = holder if isinstance(holder, dict) else range(min(len(holder), 60))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], list | dict):
                pending.append(holder[key])
    return found
