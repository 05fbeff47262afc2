"""Queries with their answers as text: JSON lines, or a table with one row per answer.

A JSON file holds one object per query, one after another or in one list::

    {"type": "2i", "anchors": ["bird", "fish"], "relations": ["eats", "^part_of"],
     "easy": ["worm"], "hard": ["insect"]}

``relations`` are those of the branches, then those after the join; ``^`` before a name: followed
from tail to head. ``easy`` or ``hard`` may be absent.

A table (tabs, or commas with the usual quoting) has the columns type, anchor_1, relation_1, answer,
hard (true or false), and where a query needs them anchor_2, anchor_3, relation_2, relation_3. Rows
with the same query belong together.
"""

import json
import re
from array import array
from collections.abc import Iterator
from difflib import get_close_matches

import numpy as np

from kgdash.errors import KgdashError, unknown_name
from kgdash.files.bounds import check_count
from kgdash.files.text import first_printed, table_rows
from kgdash.studies.queries.named_queries import WIDTH, NamedQueries
from kgdash.studies.queries.query_types import QUERY_TYPES

#: what Query2box calls the types
QUERY2BOX_TYPES = {
    "1c": "1p",
    "2c": "2p",
    "3c": "3p",
    "2i": "2i",
    "3i": "3i",
    "ci": "pi",
    "ic": "ip",
    "2u": "2u",
    "uc": "up",
}

_KEYS = {"type", "anchors", "relations", "easy", "hard"}
_ANCHORS, _RELATIONS = (
    tuple(f"{what}_{number}" for number in range(1, WIDTH + 1)) for what in ("anchor", "relation")
)
_COLUMNS = ("type", _ANCHORS[0], _RELATIONS[0], "answer", "hard")

#: an object that may be a query, and the keys that it may have: Python parses at one go, while
#: nobody else comes to a turn, and lists and keys take it far longer than texts
_TEXT = r'"(?:[^"\\]++|\\.)*+"'
_LIST = rf"\[\s*+(?:{_TEXT}\s*+,?\s*+)*+\]"
_QUERY = re.compile(
    rf"\{{\s*+(?:{_TEXT}\s*+:\s*+(?:{_TEXT}|{_LIST})\s*+,?\s*+){{0,16}}+\}}", re.DOTALL
)

#: characters up to which an object is looked at at one go, also to say what it is if no query
_LOOKED_AT = 2**16

#: a part of a longer one, keys and lists apart, of which there may be so many
_PART = re.compile(r'(?:[\s,\]]{1,65536}+|"(?:[^"\\]++|\\.){0,65536}+"){1,16384}+', re.DOTALL)
_MOST_LISTS = 64

#: numbers that are kept of a query, and of an answer
_OF_QUERY, _OF_ANSWER = 2 + 2 * WIDTH, 4

_HARD = {"true": True, "hard": True, "1": True, "false": False, "easy": False, "0": False}


def from_json(text: str, shown: str) -> NamedQueries:
    """Read the JSON form.

    :raises KgdashError: if anything is wrong, with file and line
    """
    found = _Gathered()
    for line, value in _objects(text, shown):
        where = f"{shown}, line {line}"
        if not isinstance(value, dict) or not {"type", "anchors", "relations"} <= value.keys():
            raise KgdashError(
                "expected an object with type, anchors, relations and easy or hard answers; found "
                f"{json.dumps(value, ensure_ascii=False):.80} ({where})"
            )
        strange = sorted(value.keys() - _KEYS)
        if strange:
            raise unknown_name("key", strange[0], sorted(_KEYS), f"a query ({where})")
        parts = {key: _names(value.get(key, []), key, where) for key in _KEYS - {"type"}}
        check_count(found.count + len(parts["easy"]) + len(parts["hard"]), shown, "answers")
        if not parts["easy"] and not parts["hard"]:
            raise KgdashError(f"expected easy or hard answers of the query; found none ({where})")
        found.query(value["type"], parts["anchors"], parts["relations"], line, where)
        for key in ("easy", "hard"):
            found.answers(parts[key], key == "hard", line)
    return found.queries()


def from_table(text: str, shown: str) -> NamedQueries:
    """Read the form with one row per answer, likewise."""
    rows = table_rows(text, shown)
    line, header = next(rows, (1, []))
    place = _columns([name.lower() for name in header], f"{shown}, line {line}")
    found = _Gathered()
    for line, row in rows:
        where = f"{shown}, line {line}"
        if len(row) != len(header):
            raise KgdashError(
                f"expected {len(header)} columns, as in the first line; found {len(row)} ({where})"
            )
        value = {column: row[index] for column, index in place.items()}
        hard = value["hard"].lower()
        if hard not in _HARD:
            near = get_close_matches(hard, _HARD, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise KgdashError(
                f"expected hard true or false; found {value['hard']!r} ({where}){hint}"
            )
        if not value["answer"]:
            raise KgdashError(f"expected an answer; found none ({where})")
        anchors, relations = (
            [name for column in columns if (name := value.get(column, ""))]
            for columns in (_ANCHORS, _RELATIONS)
        )
        found.query(value["type"], anchors, relations, line, where)
        found.answers([value["answer"]], _HARD[hard], line)
    return found.queries()


def to_json(named: NamedQueries) -> Iterator[str]:
    """Yield the lines of the JSON form, one query each."""
    for query in range(len(named)):
        kind, anchors, relations, answers, hard = _one(named, query)
        value = {
            "type": kind,
            "anchors": anchors,
            "relations": relations,
            "easy": [name for name, flag in zip(answers, hard, strict=True) if not flag],
            "hard": [name for name, flag in zip(answers, hard, strict=True) if flag],
        }
        yield json.dumps(value, ensure_ascii=False) + "\n"


def to_table(named: NamedQueries) -> Iterator[str]:
    """Yield the lines of the form with one row per answer, tab-separated.

    :raises KgdashError: if a name holds a tab or a line break, is empty, or has outer blanks
    """
    yield "\t".join(["type", *_ANCHORS, *_RELATIONS, "answer", "hard"]) + "\n"
    for query in range(len(named)):
        kind, anchors, relations, answers, hard = _one(named, query)
        for name in (*anchors, *relations, *answers):
            if not name or name != name.strip() or set(name) & set("\t\r\n"):
                raise KgdashError(
                    f"{name!r} can not stand in a tab-separated table: it is empty, or holds a "
                    "tab, a line break or outer blanks; write .jsonl instead"
                )
        padded = [*anchors, *[""] * (WIDTH - len(anchors))]
        padded += [*relations, *[""] * (WIDTH - len(relations))]
        for name, flag in zip(answers, hard, strict=True):
            yield "\t".join([kind, *padded, name, "true" if flag else "false"]) + "\n"


def _one(named: NamedQueries, query: int) -> tuple[str, list[str], list[str], list[str], list]:
    first, last = np.searchsorted(named.owner, [query, query + 1])
    return (
        list(QUERY_TYPES)[named.kinds[query]],
        [named.entities[i] for i in named.anchors[query] if i >= 0],
        [named.relation_names[i] for i in named.relations[query] if i >= 0],
        [named.entities[i] for i in named.answers[first:last]],
        named.hard[first:last].tolist(),
    )


class _Gathered:
    """Queries gathered line by line, as numbers: lists of lists become an array only at one go."""

    def __init__(self) -> None:
        self._entities: dict[str, int] = {}
        self._relations: dict[str, int] = {}
        self._queries, self._answers = array("q"), array("q")

    def query(
        self, kind: object, anchors: list[str], relations: list[str], line: int, where: str
    ) -> None:
        """Begin a query: the answers that follow are its own.

        :raises KgdashError: if the type is unknown or has another number of anchors or relations
        """
        name = QUERY2BOX_TYPES.get(str(kind), str(kind))
        if name not in QUERY_TYPES:
            raise KgdashError(
                f"{unknown_name('query type', name, list(QUERY_TYPES), 'kgdash')} ({where})"
            )
        shape = QUERY_TYPES[name]
        expected = (len(shape.branches), shape.num_relations)
        if (len(anchors), len(relations)) != expected:
            raise KgdashError(
                f"a query of type {name} has {expected[0]} anchors and {expected[1]} relations; "
                f"found {len(anchors)} and {len(relations)} ({where})"
            )
        cells = [
            [table.setdefault(name, len(table)) for name in names] + [-1] * (WIDTH - len(names))
            for table, names in ((self._entities, anchors), (self._relations, relations))
        ]
        self._queries.extend((list(QUERY_TYPES).index(name), *cells[0], *cells[1], line))

    def answers(self, names: list[str], hard: bool, line: int) -> None:
        """Add answers to the latest query."""
        table, query = self._entities, len(self._queries) // _OF_QUERY - 1
        for name in names:
            self._answers.extend((query, table.setdefault(name, len(table)), hard, line))

    @property
    def count(self) -> int:
        """Return the number of answers so far."""
        return len(self._answers) // _OF_ANSWER

    def queries(self) -> NamedQueries:
        """Return all as arrays."""
        queries = np.array(self._queries).reshape(-1, _OF_QUERY)
        answers = np.array(self._answers).reshape(-1, _OF_ANSWER)
        return NamedQueries(
            tuple(self._entities),
            tuple(self._relations),
            queries[:, 0],
            queries[:, 1 : 1 + WIDTH],
            queries[:, 1 + WIDTH : 1 + 2 * WIDTH],
            answers[:, 0],
            answers[:, 1],
            answers[:, 2].astype(bool),
            queries[:, -1],
            answers[:, 3],
        )


def _objects(text: str, shown: str) -> Iterator[tuple[int, object]]:
    """Yield the line (from 1) and value of each object, one after another or in one list."""
    decoder, between, line, at = json.JSONDecoder(), re.compile(r"[\s,]*"), 1, 0
    first, last = first_printed(text), text.rfind("]")
    inside = text[first : first + 1] == "["
    if inside and (last < 0 or first_printed(text, last + 1) >= 0):
        raise KgdashError(f"{shown} ends within a list; fetch or write it again")
    start, end = (first + 1, last) if inside else (0, len(text))
    while True:
        start = between.match(text, start).end()  # type: ignore[union-attr]
        if start >= end:
            return
        line, at = line + text.count("\n", at, start), start
        part, cut = text, 0
        short = _QUERY.match(text, start, start + _LOOKED_AT)
        if not short and not _is_long_query(text, start, shown):
            part, cut = text[start : start + _LOOKED_AT], start
        try:
            value, stop = decoder.raw_decode(part, start - cut)
        except (ValueError, RecursionError) as error:
            place = line + part.count("\n", start - cut, getattr(error, "pos", start - cut))
            reason = getattr(error, "msg", "nested too deeply")
            raise KgdashError(
                f"not valid JSON: {reason} ({shown}, line {place}). Expected one object per query"
            ) from error
        yield line, value
        start = cut + stop


def _is_long_query(text: str, start: int, shown: str) -> bool:
    """Tell whether an object may be a query, part by part: others come to a turn in between.

    :raises KgdashError: if it has more names than the visitor may hand in
    """
    at, lists, names = start + 1, 0, 0
    while text[start] == "{" and at < len(text) and lists <= _MOST_LISTS:
        part = _PART.match(text, at)
        if part:
            names += (text.count('"', at, part.end()) - text.count('\\"', at, part.end())) // 2
            check_count(names - _MOST_LISTS, shown, "names")
            at = part.end()
        elif text[at] in ":[":
            at, lists = at + 1, lists + 1
        else:
            return text[at] == "}"
    return False


def _names(value: object, key: str, where: str) -> list[str]:
    if isinstance(value, list) and all(isinstance(name, str) and name for name in value):
        return value
    found = json.dumps(value, ensure_ascii=False)
    raise KgdashError(f"expected a list of names under {key!r}; found {found:.80} ({where})")


def _columns(header: list[str], where: str) -> dict[str, int]:
    known = ("type", *_ANCHORS, *_RELATIONS, "answer", "hard")
    missing = [column for column in _COLUMNS if column not in header]
    twice = [column for column in known if header.count(column) > 1]
    if missing or twice:
        fault = f"{', '.join(missing)} missing" if missing else f"{twice[0]} occurs twice"
        raise KgdashError(
            f"expected columns {', '.join(_COLUMNS)} (and anchor_2, anchor_3, relation_2, "
            f"relation_3 where queries need them); found {', '.join(header):.200}: {fault} "
            f"({where}). Name the columns in the first line"
        )
    return {column: header.index(column) for column in known if column in header}
