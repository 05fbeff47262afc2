"""Blocks of queries: in order, within what they may follow, by facts counted one by one."""

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.studies.queries import blocks
from kgdash.studies.queries.adjacency import Adjacency
from kgdash.studies.queries.answer_sets import answer_sets
from kgdash.studies.queries.blocks import query_blocks
from kgdash.studies.queries.query_types import QUERY_TYPES
from tests.support.instance_fakes import small_graph
from tests.support.query_brute_force import random_queries

#: 1..9 –r0→ 0 –r1→ 10..99
FUNNEL = small_graph([(h, 0, 0) for h in range(1, 10)] + [(0, 1, t) for t in range(10, 100)])


@pytest.mark.parametrize("kind", QUERY_TYPES.values(), ids=lambda kind: kind.name)
def test_blocks_follow_one_another_and_no_step_follows_too_many_facts(kind, monkeypatch):
    monkeypatch.setattr(blocks, "_FACTS", 300)
    facts = Adjacency.both_ways(FUNNEL)
    anchors, relations = random_queries(kind, FUNNEL, 40, 1)
    follow, followed = Adjacency.follow, []

    def counted(self, entity, relation):
        found = follow(self, entity, relation)
        followed.append(len(found[1]))
        return found

    monkeypatch.setattr(Adjacency, "follow", counted)
    whole = answer_sets(facts, kind, anchors, relations)
    assert max(followed) <= 300
    found = list(query_blocks(facts, kind, anchors, relations, 7))
    assert [query for block in found for query in block] == list(range(40))
    assert max(map(len, found)) <= 7
    monkeypatch.setattr(blocks, "_FACTS", 2**23)
    for one, other in zip(whole, answer_sets(facts, kind, anchors, relations), strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_query_that_follows_more_has_a_block_of_its_own(monkeypatch):
    monkeypatch.setattr(blocks, "_FACTS", 50)
    facts = Adjacency.both_ways(FUNNEL)
    anchors, relations = np.array([[1], [2], [3]]), np.array([[0, 1]] * 3)
    found = list(query_blocks(facts, QUERY_TYPES["2p"], anchors, relations, 9))
    assert found == [range(1), range(1, 2), range(2, 3)]


def test_queries_that_reach_too_much_are_given_up_before_that_is_written_out(monkeypatch):
    facts, written = Adjacency.both_ways(FUNNEL), []
    follow = Adjacency.follow
    monkeypatch.setattr(
        Adjacency, "follow", lambda *of: (found := follow(*of), written.append(len(found[1])))[0]
    )
    anchors, relations = np.arange(1, 10)[:, None], np.array([[0, 1]] * 9)
    _, answers, given_up = answer_sets(facts, QUERY_TYPES["2p"], anchors, relations, 80)
    assert given_up.all()
    assert not len(answers)
    assert sum(written) == 9


def test_ids_out_of_range_are_refused():
    facts = Adjacency.both_ways(FUNNEL)
    with pytest.raises(KgdashError, match="relations"):
        list(query_blocks(facts, QUERY_TYPES["1p"], np.array([[0]]), np.array([[99]]), 9))
