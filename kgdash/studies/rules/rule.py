"""Horn rules of one to three body atoms: what they are, how they are written and read.

Defined in numbers.md#9-rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain, pairwise, permutations

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.graph.entity_search import told_apart
from kgdash.studies.rules.notation import Names, WrittenAtom, is_plain, split_rule

#: a variable's name, or an entity's id
Term = str | int

#: relation id and its two arguments
Atom = tuple[int, Term, Term]

#: most atoms of a body
MOST_ATOMS = 3

_INNER = ("h", "i", "j")


@dataclass(frozen=True)
class Rule:
    """A rule ``body ⇒ head``, connected by its variables; made by `make_rule` or `path_rule`.

    Variables are "a" for the head's first argument, "b" for its second, "h", "i", "j" for those of
    the body alone; an entity's id in place of a variable is a constant. Rules that differ only in
    the names of variables or in the order of atoms are equal.
    """

    head: Atom
    body: tuple[Atom, ...]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Return the body's atoms, then the head."""
        return (*self.body, self.head)

    @property
    def head_variables(self) -> tuple[str, ...]:
        """Return the head's variables, each once: one or two."""
        return tuple(dict.fromkeys(term for term in self.head[1:] if isinstance(term, str)))


@dataclass(frozen=True)
class Rules:
    """Rules of a graph, and what is known of each.

    ``table``: one row per rule: the columns of `kgdash.studies.rules.confidence.METRICS`, NaN where
    they are not known, and either ``rule`` (str, as `rule_text` writes it) and ``reading`` (str, in
    labels), or what `kgdash.studies.rules.mining.mine_bodies` tells. ``notes`` say what was left
    out. ``read``: the same rules, where they were read already.
    """

    graph: KnowledgeGraph
    table: pd.DataFrame
    notes: tuple[str, ...] = ()
    read: tuple[Rule, ...] | None = None

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Return the rules in the table's order; of a table, read when first asked for."""
        if self.read is not None:
            return self.read
        if "rule" not in self.table:
            return _mined(self.table, self.graph)
        return tuple(parse_rule(text, self.graph) for text in self.table["rule"])

    def take(self, at: slice | np.ndarray) -> Rules:
        """Return some rules, by their positions: a slice, or int64 ``(n,)``."""
        places = np.arange(len(self.table))[at]
        read = None if self.read is None else tuple(self.read[place] for place in places)
        table = self.table.iloc[places].reset_index(drop=True)
        return replace(self, table=table, read=read)

    def written(self) -> pd.DataFrame:
        """Return the table with ``rule`` and ``reading``: mined rules are only written here."""
        return self.table if "rule" in self.table else written_rules(self.table, self.graph)


def make_rule(head: Atom, body: Sequence[Atom]) -> Rule:
    """Bring a rule with any names of variables, and atoms in any order, into its one form.

    :raises KgdashError: unless it has one to three body atoms, each with a variable, that are
        linked by variables and hold every variable of the head, which has one at least
    """
    distinct = list(dict.fromkeys(body))
    if not 1 <= len(distinct) <= MOST_ATOMS:
        raise KgdashError(f"expected one to three body atoms; found {len(distinct)}")
    inside = [_variables([atom]) for atom in distinct]
    if not all(inside) or not _variables([head]):
        raise KgdashError("expected a variable in every atom")
    if missing := _variables([head]) - set().union(*inside):
        raise KgdashError(f"variable {min(missing)} of the head is not in the body")
    if not _linked(inside):
        raise KgdashError("the body falls into parts that no variable links")
    return min((_named(head, order) for order in permutations(distinct)), key=_place)


def path_rule(head: int, steps: Sequence[int], num_relations: int, joint: bool = False) -> Rule:
    """Make a closed rule out of the way from a to b.

    :param head: relation of ``head(a, b)``
    :param steps: one step ``a → b``, two ``a → h → b``, or three; a relation's id, or the id + |R|
        if the relation is followed from tail to head
    :param joint: the steps are conditions on the same pair (a, b) instead
    """
    stops = ["a", *_INNER[: len(steps) - 1], "b"]
    ways = [("a", "b")] * len(steps) if joint else list(pairwise(stops))
    body: list[tuple[int, str, str]] = [
        (step, start, end) if step < num_relations else (step - num_relations, end, start)
        for step, (start, end) in zip(steps, ways, strict=True)
    ]
    # As `make_rule` would order and name them, which takes longer.
    return Rule((head, "a", "b"), tuple(sorted(set(body)) if joint else body))


def written_rules(table: pd.DataFrame, graph: KnowledgeGraph) -> pd.DataFrame:
    """Write mined rules: ``rule``, ``reading`` and ``body`` (before the arrow), then their counts.

    :param table: as `kgdash.studies.rules.mining.mine_bodies` returns it
    :raises KgdashError: as `rule_text`
    """
    rules = _mined(table, graph)
    texts = [rule_text(rule, graph) for rule in rules]
    words = {"rule": texts, "reading": [rule_reading(rule, graph) for rule in rules]}
    words["body"] = [text.partition("   => ")[0] for text in texts]
    counts = table.drop(columns=["first", "second", "joint"])
    return pd.concat([pd.DataFrame(words, index=table.index, dtype=str), counts], axis=1)


def _mined(table: pd.DataFrame, graph: KnowledgeGraph) -> tuple[Rule, ...]:
    columns = (table[name].tolist() for name in ("head_relation", "first", "second", "joint"))
    return tuple(
        path_rule(head, (first,) if atoms == 1 else (first, second), graph.num_relations, joint)
        for head, first, second, joint, atoms in zip(*columns, table["atoms"].tolist(), strict=True)
    )


def rule_text(rule: Rule, graph: KnowledgeGraph) -> str:
    """Write a rule as AMIE does, in names: ``?a  P20  ?b   => ?a  P19  ?b``.

    `parse_rule` reads it back.

    :raises KgdashError: if a name can not stand in it: one that begins with "?", or holds "=>" or
        two blanks in a row
    """

    def word(term: Term) -> str:
        return f"?{term}" if isinstance(term, str) else _plain(graph.entities[term])

    body, head = (
        "  ".join(f"{word(x)}  {_plain(graph.relations[r])}  {word(y)}" for r, x, y in part)
        for part in (rule.body, [rule.head])
    )
    return f"{body}   => {head}"


def rule_reading(rule: Rule, graph: KnowledgeGraph) -> str:
    """Write a rule in labels told apart: ``place of death(a, b) ⇒ place of birth(a, b)``."""

    def word(term: Term) -> str:
        return term if isinstance(term, str) else graph.entity_lookup.distinct_label(term)

    label = graph.relation_lookup.distinct_label
    words = [f"{label(r)}({word(x)}, {word(y)})" for r, x, y in rule.atoms]
    return f"{' ∧ '.join(words[:-1])} ⇒ {words[-1]}"


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


def _variables(atoms: Iterable[Atom]) -> set[str]:
    return {term for _, *ends in atoms for term in ends if isinstance(term, str)}


def _linked(inside: Sequence[set[str]]) -> bool:
    """Tell whether atoms, by their variables, hang together."""
    reached, waiting = set(inside[0]), list(inside[1:])
    while waiting:
        near = [variables for variables in waiting if variables & reached]
        if not near:
            return False
        reached.update(*near)
        waiting = [variables for variables in waiting if variables not in near]
    return True


def _named(head: Atom, body: Sequence[Atom]) -> Rule:
    """Name the variables: those of the head by its arguments, others in order of appearance."""
    names: dict[Term, str] = {}
    for term, name in zip(head[1:], "ab", strict=True):
        if isinstance(term, str):
            names.setdefault(term, name)
    free = iter(_INNER)
    for term in chain.from_iterable(ends for _, *ends in body):
        if isinstance(term, str) and term not in names:
            names[term] = next(free)
    named = [(r, names.get(x, x), names.get(y, y)) for r, x, y in (*body, head)]
    return Rule(named[-1], tuple(named[:-1]))


def _place(rule: Rule) -> tuple[list[list[int]], list[tuple[int, ...]]]:
    """Order the ways to write a rule: along the way from a to b, then by relations."""
    ranks = {"a": 0, "h": 1, "i": 2, "j": 3, "b": 4}
    atoms = [
        (r, *(ranks[t] if isinstance(t, str) else len(ranks) + t for t in ends))
        for r, *ends in rule.body
    ]
    return [sorted(ends) for _, *ends in atoms], atoms


def _plain(name: str) -> str:
    if not is_plain(name):
        raise KgdashError(
            f"{name!r} can not stand in the text of a rule: it is empty, begins with '?', or holds "
            "'=>', two blanks in a row, a tab or a line break; rename it first"
        )
    return name


def _not_a_rule(text: str, why: str) -> KgdashError:
    return KgdashError(
        f"expected a rule such as '?a  lives_in  ?h  ?h  part_of  ?b   => ?a  lives_in  ?b' or "
        f"'lives_in(X,Y) <= lives_in(X,A), part_of(A,Y)'; found {text.strip()[:200]!r}: {why}"
    )
