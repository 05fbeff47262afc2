"""Sampled queries against the definition of a hard answer, by brute force."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.graph.datasets import load_dataset
from kgdash.studies.queries import sampling as sampling_module
from kgdash.studies.queries.answer_sets import answer_sets
from kgdash.studies.queries.query_types import HARD, QUERY_TYPES
from kgdash.studies.queries.sampling import QuerySampling, draw_queries
from tests.support.instance_fakes import graphs, small_graph
from tests.support.query_brute_force import answers_of, facts_of

ALL = tuple(QUERY_TYPES)


@settings(max_examples=12)
@given(
    graphs(entities=5),
    st.sampled_from(sorted(HARD)),
    st.integers(0, 1000),
    st.booleans(),
)
def test_answers_and_hard_ones_are_what_the_definition_says(graph, hard, seed, follow_backwards):
    drawn = draw_queries(
        graph, QuerySampling(ALL, 4, hard, seed, follow_backwards=follow_backwards)
    )
    everything, easy = facts_of(graph), facts_of(graph, HARD[hard])
    assert tuple(drawn) == ALL
    for asked in drawn.values():
        assert len(asked) <= 4
        for query in range(len(asked)):
            own = asked.anchors[query], asked.relations[query]
            of = asked.owner == query
            answers = answers_of(asked.kind, *own, everything, graph)
            assert asked.answers[of].tolist() == sorted(answers)
            simple = answers_of(asked.kind, *own, easy, graph)
            assert set(asked.answers[of & asked.hard].tolist()) == answers - simple
            assert answers - simple
            assert len(answers) < graph.num_entities
            assert len(set(own[0].tolist())) == len(own[0])
            assert follow_backwards or (own[1] < graph.num_relations).all()


@settings(max_examples=10)
@given(graphs(entities=6), st.integers(0, 1000))
def test_queries_are_distinct_whatever_the_order_of_branches(graph, seed):
    sampling = QuerySampling(ALL, 6, seed=seed, follow_backwards=True)
    for name, asked in draw_queries(graph, sampling).items():
        kind, seen = QUERY_TYPES[name], set()
        for anchors, relations in zip(
            asked.anchors.tolist(), asked.relations.tolist(), strict=True
        ):
            branches = [
                (anchor, *(relations[c] for c in columns))
                for anchor, columns in zip(anchors, kind.branch_columns, strict=True)
            ]
            after = tuple(relations[c] for c in kind.after_columns)
            seen.add((frozenset(Counter(branches).items()), after))
            for branch in branches:
                path = [*branch[1:], *after]
                assert all(abs(a - b) != 2 for a, b in itertools.pairwise(path))
        assert len(seen) == len(asked)


#: 0 –r0→ 1, 2 –r1→ 3, and the held-out 1 –r1→ 3; 4 and 5 are other ends of r1
CHAIN = small_graph(
    [(0, 0, 1), (0, 0, 2), (6, 0, 6), (7, 1, 4), (2, 1, 5)], test=[(1, 1, 3), (2, 1, 3)]
)


def test_the_only_path_query_of_a_graph():
    asked = draw_queries(CHAIN, QuerySampling(("2p",), per_type=10))["2p"]
    assert (asked.anchors.tolist(), asked.relations.tolist()) == ([[0]], [[0, 1]])
    assert asked.answers.tolist() == [3, 5]
    assert asked.hard.tolist() == [True, False]


def test_a_query_that_every_entity_answers_is_none():
    graph = small_graph([(0, 0, 0)], test=[(0, 0, 1)])
    assert len(draw_queries(graph, QuerySampling(("1p",)))["1p"]) == 0


def test_queries_beyond_the_cap_are_left_out():
    fan = [(0, 0, t) for t in range(1, 20)]
    graph = small_graph(fan[1:], test=fan[:1], entities=25)
    assert len(draw_queries(graph, QuerySampling(("1p",), max_answers=18))["1p"]) == 0
    assert len(draw_queries(graph, QuerySampling(("1p",), max_answers=19))["1p"]) == 1


@pytest.mark.parametrize("follow_backwards", [False, True])
def test_a_real_graph_has_queries_of_every_type_and_the_seed_decides_which(follow_backwards):
    graph = load_dataset("umls")

    def drawn(types=ALL, seed=3):
        return draw_queries(
            graph, QuerySampling(types, 40, seed=seed, follow_backwards=follow_backwards)
        )

    first, again, other = drawn(), drawn(), drawn(seed=4)
    for name, asked in first.items():
        assert len(asked) == 40
        assert (asked.relations >= graph.num_relations).any() == follow_backwards
        for of in ("anchors", "relations", "owner", "answers", "hard"):
            assert np.array_equal(getattr(asked, of), getattr(again[name], of))
        assert not np.array_equal(asked.anchors, other[name].anchors)
    alone = drawn(("3i",))["3i"]
    assert np.array_equal(alone.relations, first["3i"].relations)


def test_answers_of_few_candidates_are_held_at_once_and_that_changes_nothing(monkeypatch):
    graph, judged = load_dataset("umls"), []
    whole = draw_queries(graph, QuerySampling(("2u", "3p"), 60))

    def noted(facts, kind, anchors, *more):
        judged.append(len(anchors))
        return answer_sets(facts, kind, anchors, *more)

    monkeypatch.setattr(sampling_module, "answer_sets", noted)
    monkeypatch.setattr(sampling_module, "_ANSWERS", 7 * graph.num_entities)
    for name, asked in draw_queries(graph, QuerySampling(("2u", "3p"), 60)).items():
        for of in ("anchors", "relations", "owner", "answers", "hard"):
            assert np.array_equal(getattr(asked, of), getattr(whole[name], of))
    assert max(judged) == 7


def test_answers_take_the_memory_that_is_given(monkeypatch):
    monkeypatch.setenv("KGDASH_MEMORY", "64M")
    monkeypatch.setattr(sampling_module, "_BYTES", 2**26 // 300)
    graph = load_dataset("umls")
    assert len(draw_queries(graph, QuerySampling(("1p",), 3))["1p"]) == 3
    with pytest.raises(KgdashError, match=r"queries of type 2p .* more than \$KGDASH_MEMORY holds"):
        draw_queries(graph, QuerySampling(("1p", "2p"), 10))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"types": ("4p",)}, "unknown query type '4p'"),
        ({"types": ()}, "at least one type"),
        ({"hard": "outside test"}, "unknown meaning of hard 'outside test'"),
        ({"per_type": 0}, "1 to 100,000 queries per type; found 0"),
        ({"per_type": 10**9}, "1 to 100,000 queries per type; found 1,000,000,000"),
        ({"max_answers": 0}, "and one answer"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(KgdashError, match=message):
        draw_queries(CHAIN, QuerySampling(**arguments))


def test_no_held_out_triple_is_said():
    graph = small_graph([(0, 0, 1), (1, 0, 2)], valid=[(2, 0, 0)])
    with pytest.raises(KgdashError, match=r"split test holds no triple outside train\+valid"):
        draw_queries(graph, QuerySampling(hard="outside train+valid"))
    assert len(draw_queries(graph, QuerySampling(("1p",)))["1p"]) == 1
