"""Horn rules of one or two body atoms: how they are written, read and put in words (§9)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph

#: relation id and its two variables, out of "a", "b" (those of the head) and "h"
Atom = tuple[int, str, str]


@dataclass(frozen=True)
class Rule:
    """A closed rule ``body ⇒ head(a, b)``.

    The body is kept as the way from a to b: one step ``a → b``, two steps ``a → h → b``, or two
    conditions on the same pair (``joint``). A step is a relation's id, or the id + |R| if the
    relation is followed from tail to head.
    """

    head: int
    steps: tuple[int, ...]
    joint: bool = False

    def atoms(self, num_relations: int) -> list[Atom]:
        """Return the body's atoms, each in its relation's own direction."""
        ways = [("a", "b")] * len(self.steps)
        if len(self.steps) == 2 and not self.joint:
            ways = [("a", "h"), ("h", "b")]
        return [
            (step, start, end) if step < num_relations else (step - num_relations, end, start)
            for step, (start, end) in zip(self.steps, ways, strict=True)
        ]


def rule_text(rule: Rule, graph: KnowledgeGraph) -> str:
    """Write a rule as AMIE does, in relation names: ``?a  P20  ?b   => ?a  P19  ?b``."""
    atoms = [*rule.atoms(graph.num_relations), (rule.head, "a", "b")]
    body, head = (
        "  ".join(f"?{x}  {graph.relations[r]}  ?{y}" for r, x, y in part)
        for part in (atoms[:-1], atoms[-1:])
    )
    return f"{body}   => {head}"


def rule_reading(rule: Rule, graph: KnowledgeGraph) -> str:
    """Write a rule in relation labels: ``place of death(a, b) ⇒ place of birth(a, b)``."""
    atoms = [*rule.atoms(graph.num_relations), (rule.head, "a", "b")]
    words = [f"{graph.relation_labels[r]}({x}, {y})" for r, x, y in atoms]
    return f"{' ∧ '.join(words[:-1])} ⇒ {words[-1]}"


def readings(texts: Iterable[str], graph: KnowledgeGraph) -> dict[str, str]:
    """Put rules in labels, as a mapping; what is no rule of ours (a user's id) stays as it is."""
    words = {}
    for text in texts:
        try:
            words[text] = rule_reading(parse_rule(text, graph), graph)
        except KgdashError:
            words[text] = text
    return words


def parse_rule(text: str, graph: KnowledgeGraph) -> Rule:
    """Read a rule as AMIE writes it; variables may have any names.

    :param text: e.g. ``?a  P27  ?h  ?h  P37  ?b   => ?a  P1412  ?b``; relations are names or labels
        (names that hold spaces need two spaces around them)
    :raises KgdashError: if it is not a closed rule of one or two body atoms over variables, or
        names an unknown relation
    """
    body, arrow, head = text.partition("=>")
    atoms, heads = _atoms(body), _atoms(head)
    if not arrow or len(heads) != 1 or len(atoms) not in (1, 2):
        raise _not_a_rule(text)
    start, relation, end = heads[0]
    target = graph.relation_id(relation)
    inverse = graph.num_relations
    ids = [(x, graph.relation_id(r), y) for x, r, y in atoms]
    pair = {start, end}
    if start != end and all({x, y} == pair for x, _, y in ids):
        steps = tuple(r if x == start else r + inverse for x, r, _ in ids)
        return Rule(target, steps, joint=len(steps) == 2)
    first = next((atom for atom in ids if start in (atom[0], atom[2])), None)
    second = next((a for a in ids if a is not first and end in (a[0], a[2])), None)
    if first is None or second is None:
        raise _not_a_rule(text)
    middle = ({first[0], first[2]} - {start}) | ({second[0], second[2]} - {end})
    if len(middle) != 1 or middle & pair:
        raise _not_a_rule(text)
    return Rule(
        target,
        (
            first[1] if first[0] == start else first[1] + inverse,
            second[1] if second[2] == end else second[1] + inverse,
        ),
    )


def _atoms(text: str) -> list[list[str]]:
    parts = [part for part in re.split(r"\s{2,}|\t", text.strip()) if part]
    if len(parts) % 3 or not parts:
        parts = text.split()
    atoms = [parts[i : i + 3] for i in range(0, len(parts), 3)]
    good = all(len(a) == 3 and a[0].startswith("?") and a[2].startswith("?") for a in atoms)
    return atoms if good else []


def _not_a_rule(text: str) -> KgdashError:
    return KgdashError(
        "expected a closed rule of one or two body atoms over variables, such as "
        f"'?a  lives_in  ?h  ?h  part_of  ?b   => ?a  lives_in  ?b'; found {text.strip()[:200]!r}"
    )
