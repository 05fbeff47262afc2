"""Horn rules of one to three body atoms: what they are, and how they are written.

Defined in numbers.md#9-rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, permutations

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.studies.rules.notation import is_plain

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
