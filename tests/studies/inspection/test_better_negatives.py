"""The negatives that beat a triple are those of numbers.md#4-relik, one by one."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.graph.entity_types import entity_types
from kgdash.studies.inspection import better_negatives as module
from kgdash.studies.inspection.better_negatives import (
    UNTYPED,
    better_negatives,
    count_negatives_around,
)
from tests.support import brute_force
from tests.support.fakes import fake_run, make_graph, random_scorer, worlds


def expected_better(scorer, triple, side, known):
    """List the negatives that score higher, best first, equal ones by relation and entity."""
    size = scorer.num_entities, scorer.num_relations
    as_side, other = ("tail", 2) if side == "head" else ("head", 0)
    own = scorer(*triple, as_side)
    better = [
        y
        for y in brute_force.negatives(triple, side, known, *size)
        if y != triple and scorer(*y, as_side) > own
    ]
    return sorted(better, key=lambda y: (-scorer(*y, as_side), y[1], y[other])), as_side


def check(scorer, parts, triple, side, k):
    graph = make_graph(*parts, scorer.num_entities, scorer.num_relations)
    known = set().union(*map(set, parts))
    found = better_negatives(fake_run(graph, scorer), np.array(triple), side, k)
    expected, as_side = expected_better(scorer, triple, side, known)
    assert found.count == len(expected)
    others = set(
        brute_force.negatives(triple, side, known, graph.num_entities, graph.num_relations)
    )
    assert found.negatives == len(others - {triple})
    assert count_negatives_around(graph, np.array(triple), side) == found.negatives
    by_relation = Counter(y[1] for y in expected)
    assert found.by_relation.tolist() == [by_relation[r] for r in range(graph.num_relations)]
    by_entity = Counter(y[2 if side == "head" else 0] for y in expected)
    assert found.by_entity.tolist() == [by_entity[e] for e in range(graph.num_entities)]
    best = found.best[["head", "relation", "tail"]].to_numpy().tolist()
    assert [tuple(row) for row in best] == expected[:k]
    assert found.best["score"].tolist() == [scorer(*y, as_side) for y in expected[:k]]
    listed = found.relations()
    assert dict(zip(listed["relation"], listed["count"], strict=True)) == dict(by_relation)
    assert listed["count"].is_monotonic_decreasing


@given(worlds(), st.sampled_from(["head", "tail"]), st.integers(0, 5))
def test_brute_force(world, side, k):
    scorer, parts, evaluated = world
    check(scorer, parts, evaluated[0], side, k)


@pytest.mark.parametrize("side", ["head", "tail"])
def test_block_by_block(side, monkeypatch):
    """Blocks of one relation, the triple's own first, find what one block does."""
    monkeypatch.setattr(module, "block_bytes", lambda: 1)
    scorer = random_scorer(7, 5, seed=3, inverse=True)
    check(scorer, ([(0, 3, 1), (0, 1, 1)], [(0, 2, 5)], [(6, 4, 1)]), (0, 3, 1), side, 4)


def test_types_count_an_entity_for_each_of_its_own():
    scorer = random_scorer(6, 2, seed=1)
    found = better_negatives(
        fake_run(make_graph([(0, 0, 1)], entities=6, relations=2), scorer),
        np.array([0, 0, 1]),
        "head",
    )
    types = entity_types([(0, "a"), (1, "a"), (1, "b"), (2, "b"), (3, "c")])
    table = found.types(types).set_index("type")["count"].to_dict()
    counts = found.by_entity
    expected = {
        "a": counts[0] + counts[1],
        "b": counts[1] + counts[2],
        "c": counts[3],
        UNTYPED: counts[4] + counts[5],
    }
    assert table == {name: count for name, count in expected.items() if count}
    assert sum(table.values()) > found.count - 1


@pytest.mark.parametrize("side", ["head", "tail"])
def test_many_relations_tell_where_they_are(side):
    """Few entities make blocks of tens of thousands of relations, of which each takes a moment."""
    relations = 10_000
    graph = make_graph([(0, 0, 1)], [], [], 2, relations)
    run = fake_run(graph, random_scorer(2, relations))
    heard = []
    better_negatives(
        run, np.array([0, 7_000, 1]), side, progress=lambda done, total: heard.append(done / total)
    )
    assert len(heard) > 2
    assert heard[-1] == 1.0
