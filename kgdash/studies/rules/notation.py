"""How AMIE and AnyBURL write rules: text → atoms of names (numbers.md#9-rules).

AMIE: ``?a  P27  ?h  ?h  P37  ?b   => ?a  P1412  ?b``, two blanks between the parts where names hold
blanks. AnyBURL: ``P1412(X,Y) <= P27(X,A), P37(A,Y)``, single upper-case letters being variables. In
the latter names may hold brackets and commas: which reading is meant is decided by the names that a
graph has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kgdash.graph import KnowledgeGraph

#: AnyBURL's constant for "the other argument of the atom": r(X,me_myself_i) is r(X,X)
_SELF = "me_myself_i"

#: longest text that is read as a rule, and most of each of its signs on one side of the arrow
_LONGEST, _SIGNS = 4000, 20

_ARROW, _BACK = re.compile(r"\s=>(?:\s|$)"), re.compile(r"\)\s*<=(?:\s|$)")


class WrittenTerm(NamedTuple):
    """A variable or constant as it is written, without a question mark."""

    name: str
    variable: bool


class WrittenAtom(NamedTuple):
    """An atom as it is written."""

    start: WrittenTerm
    relation: str
    end: WrittenTerm


@dataclass(frozen=True)
class Names:
    """The names and labels that a graph has."""

    relations: Collection[str]
    entities: Collection[str]

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> Names:
        """Collect the names and labels of a graph."""
        return cls(
            {*graph.relations, *graph.relation_labels}, {*graph.entities, *graph.entity_labels}
        )


class _Anything:
    """Holds every name: the reading of an unknown rule, for a message that names what is unknown.

    Without brackets, which belong to the notation then.
    """

    def __contains__(self, name: object) -> bool:
        return bool(name) and not set("()") & set(str(name))


def split_rule(
    text: str, names: Callable[[], Names]
) -> tuple[WrittenAtom, list[WrittenAtom]] | None:
    """Split the text of a rule into its head and its body's atoms, or None if it is no rule.

    :param names: what the graph has; asked for only where AnyBURL's notation needs it
    """
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    if arrow := _ARROW.search(text):
        body, heads = _amie_atoms(text[: arrow.start()]), _amie_atoms(text[arrow.end() :])
    elif back := _BACK.search(text):
        parts = text[: back.start() + 1], text[back.end() :]
        known = names()
        heads, body = (
            _anyburl_atoms(part, known.relations, known.entities)
            or _anyburl_atoms(part, _Anything(), _Anything())
            for part in parts
        )
    else:
        return None
    return (heads[0], body) if len(heads) == 1 and body else None


def is_plain(name: str) -> bool:
    """Tell whether a name can stand in AMIE's notation without being taken for something else."""
    return bool(name) and name == name.strip() and not re.search(r"^\?|\s{2}|[\t\r\n]|=>", name)


def _amie_atoms(text: str) -> list[WrittenAtom]:
    parts = [part for part in re.split(r"\s{2,}|\t", text.strip()) if part]
    if len(parts) % 3:
        parts = text.split()
    if len(parts) % 3:
        return []
    return [
        WrittenAtom(_amie_term(parts[i]), parts[i + 1], _amie_term(parts[i + 2]))
        for i in range(0, len(parts), 3)
    ]


def _amie_term(text: str) -> WrittenTerm:
    return WrittenTerm(text.removeprefix("?"), text.startswith("?"))


def _anyburl_atoms(
    text: str, relations: Collection[str] | _Anything, entities: Collection[str] | _Anything
) -> list[WrittenAtom]:
    """Find the first way to cut a text into atoms whose names are known; none: an empty list."""
    if any(text.count(sign) > _SIGNS for sign in "(),"):
        return []
    return _cut(text, relations, entities, set())


def _cut(
    text: str,
    relations: Collection[str] | _Anything,
    entities: Collection[str] | _Anything,
    dead: set[str],
) -> list[WrittenAtom]:
    """Cut a text as `_anyburl_atoms` does.

    :param dead: texts that can not be cut: each is tried once, however many ways lead to it
    """
    text = text.strip()
    if text in dead:
        return []
    for end in (match.end() for match in re.finditer(r"\)(?=\s*(?:,|$))", text)):
        rest = text[end:].lstrip()
        # Any other way to read the atom leaves the same rest.
        atom = next(_anyburl_atom(text[:end], relations, entities), None)
        if atom is not None and not rest:
            return [atom]
        if atom is not None and (more := _cut(rest[1:], relations, entities, dead)):
            return [atom, *more]
    dead.add(text)
    return []


def _anyburl_atom(
    text: str, relations: Collection[str] | _Anything, entities: Collection[str] | _Anything
) -> Iterator[WrittenAtom]:
    """Yield the ways to read ``relation(start,end)``."""
    for opening in (match.start() for match in re.finditer(r"\(", text)):
        relation, inside = text[:opening], text[opening + 1 : -1]
        if relation not in relations:
            continue
        for comma in (match.start() for match in re.finditer(",", inside)):
            start, end = inside[:comma].strip(), inside[comma + 1 :].strip()
            if start == _SELF or end == _SELF:
                start = end = end if start == _SELF else start
            if all(_is_variable(term) or term in entities for term in (start, end)):
                yield WrittenAtom(
                    WrittenTerm(start, _is_variable(start)),
                    relation,
                    WrittenTerm(end, _is_variable(end)),
                )


def _is_variable(text: str) -> bool:
    return len(text) == 1 and "A" <= text <= "Z"
