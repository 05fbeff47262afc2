"""The index of known triples against sets of tuples."""

from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.graph import known_triples
from kgdash.graph.known_triples import KnownTriples, holds_twice, with_inverses
from tests.support.fakes import array

TRIPLE = st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 4))
TRIPLES = st.lists(TRIPLE, max_size=20)


def test_inverses_by_hand():
    facts = array([(0, 0, 1), (3, 1, 3)])
    assert with_inverses(facts, 2).tolist() == [[0, 0, 1], [3, 1, 3], [1, 2, 0], [3, 3, 3]]
    assert with_inverses(array([]), 2).shape == (0, 3)


def test_answers_by_hand():
    known = KnownTriples(array([(0, 0, 1), (0, 0, 2), (0, 1, 1), (3, 0, 1)]), 5, 2)
    query = array([(0, 0, 1), (4, 1, 4)])
    assert [a.tolist() for a in known.known_answers(query, "tail")] == [[0, 0], [1, 2]]
    assert [a.tolist() for a in known.known_answers(query, "head")] == [[0, 0], [0, 3]]
    assert [a.tolist() for a in known.known_answers(query, "relation")] == [[0, 0], [0, 1]]


@given(TRIPLES, TRIPLES)
def test_equals_a_set_of_tuples(triples, asked):
    known, facts = KnownTriples(array(triples), 5, 3), set(triples)
    assert len(known) == len(facts)
    assert known.contains(array(asked)).tolist() == [x in facts for x in asked]
    for side, column in (("head", 0), ("relation", 1), ("tail", 2)):
        owner, value = known.known_answers(array(asked), side)
        assert (np.diff(owner) >= 0).all()
        found = {(int(o), int(v)) for o, v in zip(owner, value, strict=True)}
        assert len(found) == len(owner)
        assert found == {
            (number, fact[column])
            for number, query in enumerate(asked)
            for fact in facts
            if all(fact[c] == query[c] for c in range(3) if c != column)
        }


@given(TRIPLES, TRIPLES, st.sets(st.integers(0, 4)))
def test_places_of_triples_in_their_order_and_those_inside(triples, asked, entities):
    with patch.object(known_triples, "_BLOCK", 3):
        known, facts = KnownTriples(array(triples), 5, 3), sorted(set(triples))
        assert known.triples().tolist() == list(map(list, facts))
        assert [len(block) for block in known.blocks()][:-1] == [3] * ((len(facts) - 1) // 3)
    found = known.positions(array(asked)).tolist()
    assert found == [facts.index(x) if x in facts else -1 for x in asked]
    rows = np.array([at for at in found if at >= 0], dtype=np.int64)
    assert known.at(rows).tolist() == [list(facts[at]) for at in rows]
    inside = known.inside(np.array(sorted(entities), dtype=np.int64))
    assert inside.tolist() == [list(x) for x in facts if {x[0], x[2]} <= entities]


@given(TRIPLES, st.sampled_from([("head",), ("tail",), ("head", "tail")]), st.integers(1, 30))
def test_neighbours_in_blocks(triples, sides, block):
    known, facts = KnownTriples(array(triples), 5, 3), set(triples)
    with patch.object(known_triples, "_BLOCK", block):
        blocks = [np.stack(found).T.tolist() for found in known.neighbours(sides)]
    ends = [(f[0], f[2]) if side == "head" else (f[2], f[0]) for side in sides for f in facts]
    assert sorted(tuple(pair) for found in blocks for pair in found) == sorted(ends)
    tops = [[own for own, _ in found] for found in blocks if found]
    assert all(max(one) < min(other) for one, other in pairwise(tops))


def test_neighbours_of_few_triples_among_many_names():
    """The end of the last block was beyond 64 bits: all were lost, and subgraphs had one entity."""
    rows = array([(2**20, 4999, 7), (3, 0, 2**20)])
    known = KnownTriples(rows, 2**20 + 1, 5000)
    found = [np.stack(pair).T for pair in known.neighbours(("head", "tail"))]
    pairs = np.concatenate(found).tolist()
    assert sorted(pairs) == [[3, 2**20], [7, 2**20], [2**20, 3], [2**20, 7]]


@given(TRIPLES, st.lists(st.integers(0, 4), max_size=4))
def test_around_an_anchor(triples, anchors):
    known, facts = KnownTriples(array(triples), 5, 3), set(triples)
    for side, own, other in (("head", 0, 2), ("tail", 2, 0)):
        owner, value = known.triples_with_entity(np.array(anchors, dtype=np.int64), side)
        expected = [
            (number, position)
            for number, anchor in enumerate(anchors)
            for position in sorted(f[1] * 5 + f[other] for f in facts if f[own] == anchor)
        ]
        assert list(zip(owner.tolist(), value.tolist(), strict=True)) == expected
        counted = known.count_with_entity(np.array(anchors, dtype=np.int64), side)
        assert counted.tolist() == np.bincount(owner, minlength=len(anchors)).tolist()


@pytest.mark.parametrize("side", ["head", "relation", "tail"])
def test_nothing_is_known_of_nothing(side):
    known = KnownTriples(np.empty((0, 3), dtype=np.int64), 3, 2)
    assert len(known) == 0
    assert not known.contains(array([(0, 0, 0)])).any()
    assert [len(part) for part in known.known_answers(array([(2, 1, 2)]), side)] == [0, 0]


def test_keys_do_not_overflow_at_the_size_of_wikidata5m():
    last = (4_594_484, 821, 4_594_484)
    known = KnownTriples(array([last]), 4_594_485, 822)
    assert known.contains(array([last, (last[0], 820, last[2])])).tolist() == [True, False]
    for side, answer in (("head", last[0]), ("relation", last[1]), ("tail", last[2])):
        assert known.known_answers(array([last]), side)[1].tolist() == [answer]


@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=6), st.sampled_from(["u1", "i4", "u8"])
)
def test_a_triple_that_occurs_twice(rows, dtype):
    triples = np.array(rows, dtype).reshape(-1, 3)
    assert holds_twice(triples, 3, 3) == (len(set(rows)) < len(rows))


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=6))
def test_orders(rows):
    known = KnownTriples(np.array(rows, np.int64).reshape(-1, 3), 3, 3)
    again = KnownTriples.of_orders(known.orders(), (3, 3))
    assert again.triples().tolist() == known.triples().tolist()
    for side in ("head", "relation", "tail"):
        found = [each.known_answers(known.triples(), side) for each in (known, again)]
        assert all(map(np.array_equal, *found))
