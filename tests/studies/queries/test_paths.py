"""Paths to answers against a brute-force search for assignments."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.studies.queries import paths
from kgdash.studies.queries.adjacency import Adjacency
from kgdash.studies.queries.paths import (
    draw_path_numbers,
    follow_relation,
    last_hop,
    list_paths,
    reach_before_last_hop,
)
from kgdash.studies.queries.query_types import QUERY_TYPES
from tests.support.instance_fakes import graphs, small_graph
from tests.support.query_brute_force import facts_of, groundings_of, random_queries


def all_answers(graph, kind, anchors, relations):
    facts = Adjacency.both_ways(graph)
    before = reach_before_last_hop(facts, kind, anchors, relations)
    return last_hop(kind, before, lambda at, c, _: follow_relation(facts, at, relations[:, c]))


def test_facts_that_64_bits_do_not_number_both_ways_are_refused():
    """Keys were negative: half of the entities were never asked for."""
    graph = small_graph([(0, 0, 1)])
    object.__setattr__(graph, "entities", range(2**31))
    object.__setattr__(graph, "relations", ("r",))
    with pytest.raises(KgdashError, match="inverse ones where those are followed"):
        Adjacency.both_ways(graph)


@pytest.mark.parametrize("kind", QUERY_TYPES.values(), ids=lambda kind: kind.name)
@settings(max_examples=10)
@given(graph=graphs(entities=4, held_out=False), seed=st.integers(0, 1000))
def test_every_path_of_every_answer_is_there_once(kind, graph, seed):
    anchors, relations = random_queries(kind, graph, 8, seed)
    reached = all_answers(graph, kind, anchors, relations)
    owner, number = draw_path_numbers(
        reached.num_paths, reached.num_paths, np.random.default_rng(0)
    )
    found = list_paths(reached, owner, number).tolist() if len(owner) else []
    by_answer: dict = {}
    for place, path in zip(owner.tolist(), found, strict=True):
        key = (int(reached.query[place]), int(reached.entity[place]))
        by_answer.setdefault(key, []).append([tuple(triple) for triple in path])
    facts, expected = facts_of(graph), {}
    for query in range(8):
        grounded = groundings_of(kind, anchors[query], relations[query], facts, graph)
        expected |= {(query, answer): sets for answer, sets in grounded.items()}
    assert {key: {frozenset(c) for c in own} for key, own in by_answer.items()} == expected
    for own in by_answer.values():
        assert len({tuple(path) for path in own}) == len(own) or kind.join == "or"


def test_millions_of_paths_are_drawn_from_without_listing_them():
    # 0 –r0→ each of 1..300 –r0→ each of 1..300 –r0→ 301
    middle = range(1, 301)
    train = [(0, 0, m) for m in middle] + [(m, 0, 301) for m in middle]
    train += [(m, 0, n) for m in middle for n in middle]
    graph = small_graph(train)
    reached = all_answers(graph, QUERY_TYPES["3p"], np.array([[0]]), np.array([[0, 0, 0]]))
    place = reached.find(np.array([301]))[0]
    assert reached.num_paths[place] == 300 * 300
    rng = np.random.default_rng(1)
    owner, number = draw_path_numbers(reached.num_paths[place], np.array([500]), rng)
    found = list_paths(reached, place[owner], number)
    assert found.shape == (500, 3, 3)
    assert len(np.unique(found.reshape(500, 9), axis=0)) == 500
    assert (found[:, 0, 0] == 0).all()
    assert (found[:, 2, 2] == 301).all()
    assert (found[:, :-1, 2] == found[:, 1:, 0]).all()
    assert graph.known().contains(found.reshape(-1, 3)).all()
    # A uniform choice: the mean of the first middles is within six standard errors of 150.5.
    assert abs(found[:, 0, 2].mean() - 150.5) < 6 * 300 / np.sqrt(12 * 500)


def test_the_example_of_the_docstring():
    failed, tried = doctest.testmod(paths, extraglobs={"QUERY_TYPES": QUERY_TYPES})
    assert (failed, tried) == (0, 10)


def test_a_draw_is_everything_where_there_is_no_more():
    owner, number = draw_path_numbers(
        np.array([2, 5, 1]), np.array([3, 2, 0]), np.random.default_rng(0)
    )
    assert owner.tolist() == [0, 0, 1, 1]
    assert number[:2].tolist() == [0, 1]
    assert 0 <= number[2] < number[3] < 5
