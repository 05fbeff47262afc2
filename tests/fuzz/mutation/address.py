"""Changes of addresses: parameters left out, repeated, and given odd values."""

import re
from functools import cache
from random import Random
from urllib.parse import parse_qsl, quote_plus, urlencode

from tests.fuzz.mutation.text import ODD
from tests.support.paths import ROOT

#: values that choices and numbers of pages know, and some that are nearly such
_VALUES = (
    *("test", "train", "valid", "both", "head", "tail", "exact", "sampled", "mrr", "hits@10", "e0"),
    *(
        "umls-transe",
        "umls",
        "1",
        "0",
        "60",
        "2000",
        "1e400",
        "-1",
        "1.5",
        "1e9",
        "1_0",
        "0x10",
        "٣",
    ),
    *(
        "true",
        "false",
        "True",
        "on",
        "[]",
        "[1]",
        "?",
        "all",
        "*",
        "a|b",
        "a,b",
        "e0,e1",
        "E0",
        "/",
    ),
    *("relation", "overview", "Groups", "Table", "Map", "x" * 3000, "9" * 400, "+1", "1e-400", "∞"),
)

#: what opens a run: where that can not be, a page says so and shows nothing else
_SOURCE = {"run", "folder", "dataset"}


def parsed(data: bytes) -> tuple[str, dict[str, str]]:
    """Return the page of an address, and its parameters."""
    page, _, query = data.decode("utf-8", "replace").partition("?")
    return page, dict(parse_qsl(query, keep_blank_values=True, max_num_fields=None))


def written(page: str, parameters: dict[str, str]) -> bytes:
    """Return an address."""
    return f"{page}?{urlencode(parameters, quote_via=quote_plus, errors='replace')}".encode()


def change_address(data: bytes, random: Random) -> bytes:
    """Change a parameter of an address, or add some."""
    page, parameters = parsed(data)
    for _ in range(random.choice((1, 2, 4, 10))):
        known = [name for name in parameters if name not in _SOURCE or random.random() < 0.1]
        name = random.choice(known if known and random.random() < 0.7 else names())
        parameters[name] = _value(random)
    if random.random() < 0.1:
        del parameters[random.choice(list(parameters))]
    return written(page, parameters)


def _value(random: Random) -> str:
    kind = random.random()
    if kind < 0.4:
        return random.choice(texts())
    return random.choice(_VALUES if kind < 0.8 else [odd for odd in ODD if len(odd) < 9_999])


@cache
def names() -> tuple[str, ...]:
    """Return what may be a parameter of a page."""
    found = {key for text in _sources() for key in re.findall(r'"([a-z_0-9]{2,30})"', text)}
    return tuple(sorted(found - _SOURCE))


@cache
def texts() -> tuple[str, ...]:
    """Return what may be the text of a choice."""
    found = {text for source in _sources() for text in re.findall(r'"([^"\n{}\\]{1,40})"', source)}
    return tuple(sorted(found))


@cache
def _sources() -> tuple[str, ...]:
    paths = sorted(path for part in ("kgdash/ui", "pages") for path in (ROOT / part).rglob("*.py"))
    return tuple(path.read_text(encoding="utf-8") for path in paths)
