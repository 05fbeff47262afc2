"""Texts of rules, as AMIE and AnyBURL write them, read as rules of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.graph.entity_search import told_apart
from kgdash.studies.rules.notation import Names, WrittenAtom, split_rule
from kgdash.studies.rules.rule import Atom, Rule, make_rule, rule_reading


def readings(texts: Iterable[str], graph: KnowledgeGraph) -> dict[str, str]:
    """Put rules in labels, each another; what is no rule of ours (a user's id) stays as it is."""
    words = {text: text for text in texts}
    parsed = parsed_rules(words, graph)
    return told_apart(words | {text: rule_reading(rule, graph) for text, rule in parsed.items()})


def parsed_rules(texts: Iterable[str], graph: KnowledgeGraph) -> dict[str, Rule]:
    """Read those texts that are rules of this graph; see `parse_rule`."""
    rules, names = {}, cache(lambda: Names.of(graph))
    for text in texts:
        with suppress(KgdashError):
            rules[text] = _parsed(text, names, graph)
    return rules


def parse_rule(text: str, graph: KnowledgeGraph) -> Rule:
    """Read a rule as AMIE or AnyBURL writes it; variables may have any names.

    :param text: e.g. ``?a  P27  ?h  ?h  P37  ?b   => ?a  P1412  ?b`` (two blanks between the parts
        where names hold blanks) or ``P1412(X,Y) <= P27(X,A), P37(A,Y)`` (single upper-case letters
        are variables); relations and constants are names or labels
    :raises KgdashError: if it is not a connected rule of one to three body atoms, or names an
        unknown relation or entity
    """
    return _parsed(text, lambda: Names.of(graph), graph)


def _parsed(text: str, names: Callable[[], Names], graph: KnowledgeGraph) -> Rule:
    if (written := split_rule(text, names)) is None:
        raise _not_a_rule(text, "it is not in the form of a rule")
    head, body = resolved(written, graph)
    try:
        return make_rule(head, body)
    except KgdashError as error:
        raise _not_a_rule(text, str(error)) from error


def resolved(
    written: tuple[WrittenAtom, Sequence[WrittenAtom]], graph: KnowledgeGraph
) -> tuple[Atom, list[Atom]]:
    """Find the ids of a head's and a body's names, as `make_rule` takes them.

    :raises KgdashError: if a name is unknown, or several entries have it as their label
    """
    head, body = written
    return _resolve(head, graph), [_resolve(atom, graph) for atom in body]


def _resolve(atom: WrittenAtom, graph: KnowledgeGraph) -> Atom:
    start, end = (
        f"?{term.name}" if term.variable else _bare(term.name, graph.entity_id)
        for term in (atom.start, atom.end)
    )
    return _bare(atom.relation, graph.relation_id), start, end


def _bare(name: str, find: Callable[[str], int]) -> int:
    """Find a name; AMIE puts names of RDF in angle brackets."""
    try:
        return find(name)
    except KgdashError:
        if not (name.startswith("<") and name.endswith(">")):
            raise
    return find(name[1:-1])


def _not_a_rule(text: str, why: str) -> KgdashError:
    return KgdashError(
        f"expected a rule such as '?a  lives_in  ?h  ?h  part_of  ?b   => ?a  lives_in  ?b' or "
        f"'lives_in(X,Y) <= lives_in(X,A), part_of(A,Y)'; found {text.strip()[:200]!r}: {why}"
    )
