"""Answers of queries against the definition, read off a brute-force search for assignments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.studies.queries.adjacency import Adjacency
from kgdash.studies.queries.answer_sets import answer_sets
from kgdash.studies.queries.query_types import QUERY_TYPES
from tests.support.instance_fakes import graphs, small_graph
from tests.support.query_brute_force import answers_of, facts_of, random_queries


@pytest.mark.parametrize("kind", QUERY_TYPES.values(), ids=lambda kind: kind.name)
@settings(max_examples=10)
@given(
    graph=graphs(entities=4, held_out=False),
    seed=st.integers(0, 1000),
    splits=st.sampled_from([("train",), ("train", "valid"), ("train", "valid", "test")]),
)
def test_answers_are_what_the_definition_says(kind, graph, seed, splits):
    anchors, relations = random_queries(kind, graph, 12, seed)
    owner, answers, given_up = answer_sets(
        Adjacency.both_ways(graph, splits), kind, anchors, relations
    )
    facts = facts_of(graph, splits)
    expected = [
        (query, answer)
        for query in range(12)
        for answer in sorted(answers_of(kind, anchors[query], relations[query], facts, graph))
    ]
    assert list(zip(owner.tolist(), answers.tolist(), strict=True)) == expected
    assert not given_up.any()


#: 0 –r0→ 1..5, each –r1→ 6; 6 –r1→ 0..2
FAN = small_graph(
    [(0, 0, t) for t in range(1, 6)]
    + [(h, 1, 6) for h in range(1, 6)]
    + [(6, 1, t) for t in range(3)]
)


@pytest.mark.parametrize(
    ("name", "anchors", "relations", "needed"),
    [
        ("1p", [0], [0], 5),
        ("2p", [0], [0, 1], 5),
        ("2p", [1], [1, 1], 3),
        ("2i", [0, 6], [0, 1], 5),
        ("2u", [0, 6], [0, 1], 6),
        ("ip", [0, 6], [0, 1, 1], 5),
        ("1p", [6], [3], 5),
    ],
)
def test_the_cap_counts_entities_after_every_step(name, anchors, relations, needed):
    facts = Adjacency.both_ways(FAN)
    asked = (QUERY_TYPES[name], np.array([anchors]), np.array([relations]))
    _, answers, given_up = answer_sets(facts, *asked, most=needed)
    assert not given_up.any()
    assert answers.tolist() == answer_sets(facts, *asked)[1].tolist()
    _, answers, given_up = answer_sets(facts, *asked, most=needed - 1)
    assert given_up.all()
    assert not len(answers)


def test_more_queries_than_fit_one_batch():
    kind = QUERY_TYPES["2p"]
    anchors, relations = random_queries(kind, FAN, 1500, 0)
    facts = Adjacency.both_ways(FAN)
    owner, answers, _ = answer_sets(facts, kind, anchors, relations)
    for query in (0, 511, 512, 1024, 1499):
        alone = answer_sets(facts, kind, anchors[query : query + 1], relations[query : query + 1])
        assert answers[owner == query].tolist() == alone[1].tolist()


@pytest.mark.parametrize(("anchor", "relation"), [(7, 0), (-1, 0), (0, 4), (0, -1)])
def test_ids_out_of_range_are_refused(anchor, relation):
    with pytest.raises(KgdashError, match="have ids from 0 to"):
        answer_sets(
            Adjacency.both_ways(FAN),
            QUERY_TYPES["1p"],
            np.array([[anchor]]),
            np.array([[relation]]),
        )
