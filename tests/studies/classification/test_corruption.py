"""Negatives of classification: against their definition, candidate by candidate."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from kgdash.errors import KgdashError
from kgdash.studies.classification.corruption import (
    DRAWS,
    Candidates,
    all_entities,
    corrupt,
    type_constrained_entities,
)
from kgdash.studies.classification.labelled_triples import corrupted_split
from tests.support.fakes import make_graph


def triples_of(entities, relations):
    end = st.integers(0, entities - 1)
    return st.tuples(end, st.integers(0, relations - 1), end)


@st.composite
def corruptions(draw):
    """Draw a graph so dense that many queries have few free candidates, and groups of them."""
    entities, relations, groups = draw(st.integers(1, 5)), draw(st.integers(1, 2)), 2
    facts = draw(st.lists(triples_of(entities, relations), min_size=1, max_size=40))
    graph = make_graph(facts, entities=entities, relations=relations)
    members = [draw(st.sets(st.integers(0, entities - 1))) for _ in range(groups)]
    group = draw(st.lists(st.integers(0, groups - 1), min_size=len(facts), max_size=len(facts)))
    return graph, np.array(facts), members, np.array(group)


def as_candidates(members, entities):
    keys = [number * entities + entity for number, m in enumerate(members) for entity in sorted(m)]
    return Candidates(np.array(keys, dtype=np.int64), len(members), entities)


@settings(max_examples=50)
@given(corruptions(), st.integers(0, 99))
def test_negatives_are_free_corruptions_wherever_there_is_one(world, seed):
    graph, positives, members, group = world
    known = {tuple(t) for t in graph.all_triples.tolist()}
    candidates = as_candidates(members, graph.num_entities)
    draws = np.random.default_rng(seed).random((len(positives), DRAWS))
    both = {"head": candidates, "tail": candidates}
    negatives, found = corrupt(graph.known(), positives, draws, both, group)
    for positive, negative, there, number, coin in zip(
        positives.tolist(), negatives.tolist(), found, group, draws[:, 0], strict=True
    ):
        head, relation, tail = positive
        free = {
            "head": {(e, relation, tail) for e in members[number]} - known,
            "tail": {(head, relation, e) for e in members[number]} - known,
        }
        first, second = ("head", "tail") if coin < 0.5 else ("tail", "head")
        assert there == bool(free[first] or free[second])
        if there:
            assert tuple(negative) in (free[first] or free[second])


def test_each_free_candidate_is_as_likely():
    """Of 12 entities, 9 are known tails: most are drawn out of the list, after the tries."""
    graph = make_graph([(0, 0, t) for t in range(1, 10)], entities=12)
    positives = np.tile([0, 0, 3], (6000, 1))
    draws = np.random.default_rng(0).random((6000, DRAWS))
    draws[:, 0] = 0.9  # tails
    both = dict.fromkeys(("head", "tail"), all_entities(graph))
    group = np.zeros(6000, dtype=np.int64)
    negatives, found = corrupt(graph.known(), positives, draws, both, group)
    assert found.all()
    assert (negatives[:, :2] == [0, 0]).all()
    drawn, counts = np.unique(negatives[:, 2], return_counts=True)
    assert drawn.tolist() == [0, 10, 11]
    assert chisquare(counts).pvalue > 0.001


def test_answers_of_a_query_are_listed_once():
    """A thousand facts of one query, of whose candidates few are free."""
    graph = make_graph([(0, 0, tail) for tail in range(1000)], entities=1002, relations=1)
    facts, everybody = graph.all_triples, all_entities(graph)
    known, group = graph.known(), np.zeros(len(facts), dtype=np.int64)
    nobody = Candidates(np.zeros(0, dtype=np.int64), 1, 1002)
    draws = np.random.default_rng(0).random((len(facts), DRAWS))
    tracemalloc.start()
    try:
        ends = {"head": nobody, "tail": everybody}
        negatives, found = corrupt(known, facts, draws, ends, group)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2e6
    assert found.all()
    assert set(negatives[:, 2].tolist()) == {1000, 1001}


def test_both_ends_are_replaced(bundled):
    graph = bundled("umls-transe").graph
    table = corrupted_split(graph, "test", seed=3)
    half = len(table) // 2
    assert table["label"].tolist() == [True] * half + [False] * half
    positives, negatives = np.split(table[["head", "relation", "tail"]].to_numpy(), 2)
    assert {tuple(t) for t in positives.tolist()} == {
        tuple(t) for t in graph.splits["test"].tolist()
    }
    changed = positives != negatives
    assert not changed[:, 1].any()
    assert (changed.sum(axis=1) == 1).all()
    assert 0.4 < changed[:, 0].mean() < 0.6
    assert not graph.known().contains(negatives).any()
    assert corrupted_split(graph, "test", seed=3).equals(table)
    assert not corrupted_split(graph, "test", seed=4).equals(table)


def test_negatives_of_the_relation_have_ends_that_it_has(bundled):
    graph = bundled("umls-transe").graph
    seen = {side: type_constrained_entities(graph, side) for side in ("head", "tail")}
    table = corrupted_split(graph, "test", "relation")
    for side, column in (("head", 0), ("tail", 2)):
        expected = {(r, t[column]) for t in graph.all_triples.tolist() for r in [t[1]]}
        assert {divmod(key, graph.num_entities) for key in seen[side].keys.tolist()} == expected
        assert set(zip(table["relation"], table[side], strict=True)) <= expected


def test_refusals():
    graph = make_graph([(0, 0, 1), (1, 0, 0), (0, 0, 0), (1, 0, 1)], valid=[(0, 0, 1)])
    with pytest.raises(KgdashError, match="split 'test' of graph tiny holds no triples"):
        corrupted_split(graph, "test")
    with pytest.raises(KgdashError, match=r"no triple of split 'valid'.*can be corrupted"):
        corrupted_split(graph, "valid")
    with pytest.raises(KgdashError, match="unknown kind of negatives 'false'"):
        corrupted_split(graph, "valid", "false")
    with pytest.raises(KgdashError, match="seed ≥ 0; found -1"):
        corrupted_split(graph, "valid", seed=-1)
