"""Small graphs, and a run that needs no model, for the tests of instances, queries and rules."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.progress import silent
from kgdash.studies.rules.rule import make_rule, path_rule
from tests.support.fakes import make_graph
from tests.support.paths import SHARED

#: benchmark graphs that lie beside the repository in our workshop, not in a checkout elsewhere
AMIE = SHARED / "rules" / "amie-codex-s.txt"
ANYBURL = SHARED / "rules" / "anyburl-codex-s.txt"
CODEX = SHARED / "codex-s"
needs_codex = pytest.mark.skipif(
    not (AMIE.exists() and CODEX.exists()), reason=f"no benchmark graphs in {SHARED}"
)


def small_graph(train, valid=(), test=(), entities=None, relations=None) -> KnowledgeGraph:
    """Make a graph of ids, with names e0, e1, … and r0, r1, …"""
    graph = make_graph(train, valid, test, entities, relations)
    return replace(graph, entity_labels=graph.entities, relation_labels=graph.relations)


def graphs(entities: int = 5, relations: int = 2, held_out: bool = True):
    """Draw small random graphs; with ``held_out``, some triple is outside train."""
    triple = st.tuples(
        st.integers(0, entities - 1), st.integers(0, relations - 1), st.integers(0, entities - 1)
    )
    triples = st.lists(triple, min_size=3, max_size=25, unique=True)

    def cut(rows, seed):
        parts = np.random.default_rng(seed).choice(3, size=len(rows), p=[0.6, 0.2, 0.2])
        parts[0], parts[1] = 0, 2 if held_out else 0
        split = [[row for row, p in zip(rows, parts, strict=True) if p == n] for n in range(3)]
        return small_graph(*split, entities=entities, relations=relations)

    return st.builds(cut, triples, st.integers(0, 1000))


class FakeScorer:
    """Scores a triple 10 · head − tail, and counts how often it was asked."""

    calls = 0

    def score_triples(self, triples, side="tail", progress=silent):
        self.calls += 1
        return (10 * triples[:, 0] - triples[:, 2]).double()


class FakeRun:
    """Gives every triple figures that follow from its ids, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[np.ndarray] = []
        self.scorer = FakeScorer()

    def ranks_of_mixed(self, triples, sides=("head", "tail"), progress=silent):
        self.asked.append(triples)
        progress(1, 1)
        parts = []
        for side in sides:
            table = pd.DataFrame(triples, columns=["head", "relation", "tail"])
            table["side"] = side
            table["realistic"] = self.rank(triples, side).astype(float)
            parts.append(table)
        return pd.concat(parts, ignore_index=True)

    def relik(self, split="test", triples=None, method="exact", progress=silent):
        self.asked.append(triples)
        progress(1, 1)
        table = pd.DataFrame(triples, columns=["head", "relation", "tail"])
        return table.assign(relik=1.0 / (1 + triples @ np.array([1, 2, 4])))

    @staticmethod
    def rank(triples, side):
        return 1 + triples[:, {"head": 0, "relation": 1, "tail": 2}[side]]


def all_rules(relations):
    """Yield all closed rules of one or two body atoms that are no tautology, each once."""
    steps = range(2 * relations)
    for head in range(relations):
        yield from (path_rule(head, (first,), relations) for first in steps if first != head)
        yield from (path_rule(head, pair, relations) for pair in product(steps, repeat=2))
        yield from (
            path_rule(head, pair, relations, joint=True)
            for pair in product(steps, repeat=2)
            if pair[0] < pair[1] and head not in pair
        )


def rules(entities: int, relations: int):
    """Draw rules of one to three body atoms with constants, loops and dangling variables."""

    def rule(seed):
        rng = np.random.default_rng(seed)
        while True:
            terms = [*"abhij", *rng.integers(entities, size=2).tolist()]
            atoms = [
                (int(rng.integers(relations)), *(terms[at] for at in rng.integers(7, size=2)))
                for _ in range(rng.integers(2, 5))
            ]
            with contextlib.suppress(KgdashError):
                return make_rule(atoms[0], atoms[1:])

    return st.builds(rule, st.integers(0, 10**6))


def body_values(rule, graph):
    """Try all values of all variables: every way in which the body holds on train, as dicts."""
    facts = {tuple(row) for row in graph.splits["train"].tolist()}
    variables = sorted({term for atom in rule.body for term in atom[1:] if isinstance(term, str)})
    for values in product(range(graph.num_entities), repeat=len(variables)):
        value = dict(zip(variables, values, strict=True))
        if all((value.get(x, x), r, value.get(y, y)) in facts for r, x, y in rule.body):
            yield value


def body_pairs(rule, graph):
    """Return the (head, tail) pairs that a rule gives, by trying all values."""
    _, x, y = rule.head
    return {(value.get(x, x), value.get(y, y)) for value in body_values(rule, graph)}


def count_rule(rule, graph):
    """Count support, body, body of known ones and facts of a rule; name its functional variable."""
    relation, start, end = rule.head
    pairs = body_pairs(rule, graph)
    facts = {(h, t) for h, r, t in graph.splits["train"].tolist() if r == relation}
    heads, tails = {h for h, _ in facts}, {t for _, t in facts}
    by_head = len(heads) >= len(tails)
    constants = [place for place in (start, end) if not isinstance(place, str)]
    if constants:
        by_head = end in constants
    known = [(a, b) for a, b in pairs if (a in heads if by_head else b in tails)]
    variable = "?a" if by_head or start == end else "?b"
    return len(pairs & facts), len(pairs), len(known), len(facts), variable
