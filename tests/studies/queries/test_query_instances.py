"""Instances of queries against the definitions, by brute force over all assignments."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.graph.datasets import load_dataset
from kgdash.studies.queries.query_instances import AnswerSampling, query_instances
from kgdash.studies.queries.query_types import QUERY_TYPES, AskedQueries, question
from kgdash.studies.queries.sampling import QuerySampling, draw_queries
from tests.support.instance_fakes import graphs, small_graph
from tests.support.query_brute_force import answers_of, facts_of, groundings_of, random_queries

IDS = ["head", "relation", "tail"]


def claimed(kind, graph, count, seed):
    """Make queries as a file may hold them: with claims that do not all hold in the graph."""
    anchors, relations = random_queries(kind, graph, count, seed)
    rng, facts = np.random.default_rng(seed), facts_of(graph)
    rows = []
    for query in range(count):
        answers = answers_of(kind, anchors[query], relations[query], facts, graph)
        for answer in sorted(answers | set(rng.choice(graph.num_entities, 2).tolist())):
            rows.append((query, answer, rng.random() < 0.7))
    owner, answers, hard = (np.array(column) for column in zip(*rows, strict=True))
    return AskedQueries(kind, anchors, relations, owner, answers, hard.astype(bool))


def stored(chain, num_relations):
    """Write the triples of a chain as facts, and drop repetitions."""
    return frozenset(
        (x, r, y) if r < num_relations else (y, r - num_relations, x) for x, r, y in chain
    )


def circles(kind, relations, facts, graph):
    """Return where false answers may come from, nearest first."""
    count = graph.num_relations

    def led_to(relation):
        forwards = {t for _, r, t in facts if r == relation}
        return forwards if relation < count else {h for h, r, _ in facts if r == relation - count}

    ends = [led_to(int(relations[column])) for column in kind.last_columns]
    return set.intersection(*ends), set.union(*ends), set(range(graph.num_entities))


@pytest.mark.parametrize("kind", QUERY_TYPES.values(), ids=lambda kind: kind.name)
@settings(max_examples=6)
@given(graph=graphs(entities=5, held_out=False), seed=st.integers(0, 1000))
def test_answers_and_paths_are_what_the_definition_says(kind, graph, seed):
    asked, facts, count = claimed(kind, graph, 6, seed), facts_of(graph), graph.num_relations
    made = query_instances(graph, {kind.name: asked}, AnswerSampling(seed=seed, max_paths=3))
    texts = [
        question(graph, kind, *rows) for rows in zip(asked.anchors, asked.relations, strict=True)
    ]
    by_query: dict = {}
    for row in made.table.to_dict("records"):
        by_query.setdefault(row["question"], []).append(row)
    for query, text in enumerate(texts):
        own = asked.anchors[query], asked.relations[query]
        grounded = groundings_of(kind, *own, facts, graph)
        hard = set(asked.answers[(asked.owner == query) & asked.hard].tolist()) & set(grounded)
        if text not in by_query:
            assert not hard or len(grounded) == graph.num_entities
        elif texts.count(text) == 1:
            true, false = by_query[text]
            check_true(true, made.triples, hard, grounded, count)
            open_ones = [c - set(grounded) for c in circles(kind, own[1], facts, graph)]
            assert int(false["answer"][1:]) in next(c for c in open_ones if c)
            assert false["groundings"] <= true["groundings"]
            check_false(false, made.triples, kind, own, facts, graph)


def check_true(row, triples, hard, grounded, count):
    assert row["label"]
    answer = int(row["answer"][1:])
    assert answer in hard
    chains = own_chains(triples, row["instance"], answer)
    expected = {stored(chain, count) for chain in grounded[answer]}
    assert {chain for chain, _ in chains} <= expected
    assert len({chain for chain, _ in chains}) >= min(3, len(expected)) or len(chains) == 3


def check_false(row, triples, kind, own, facts, graph):
    assert not row["label"]
    answer = int(row["answer"][1:])
    chains = own_chains(triples, row["instance"], answer)
    assert chains
    for chain, ending in chains:
        assert chain - ending <= facts
        assert not chain <= facts
        # With the triples that end in it as facts, too, the answer would be one by this chain.
        would = groundings_of(kind, *own, facts | ending, graph)[answer]
        assert chain in {stored(c, graph.num_relations) for c in would}
        # Where the ending starts, the relation leads somewhere.
        for head, relation, tail in ending:
            assert any(
                (h, r) == (head, relation) or (r, t) == (relation, tail) for h, r, t in facts
            )


def own_chains(triples, instance, answer):
    """Return an instance's chains as sets of triples, each with the set of those that end it."""
    found = []
    for _, chain in triples[triples["instance"] == instance].groupby("grounding"):
        ending = chain[chain["is_answer_triple"]]
        for row in ending.to_dict("records"):
            assert row[row["predicted_side"]] == answer
        rows = (frozenset(map(tuple, part[IDS].to_numpy().tolist())) for part in (chain, ending))
        found.append(tuple(rows))
    return found


def test_a_union_takes_the_branch_whose_range_the_false_answer_is_in():
    # r0 leads to 1, 2, 3; r1 to 5 alone: the false answers left are 2 and 3, of r0's range.
    graph = small_graph([(0, 0, 1), (6, 0, 2), (6, 0, 3)], test=[(4, 1, 5)])
    asked = one_query("2u", [0, 4], [0, 1], {1: False, 5: True})
    made = query_instances(graph, {"2u": asked})
    assert made.table["answer"].tolist()[0] == "e5"
    assert made.triples[IDS].to_numpy().tolist()[0] == [4, 1, 5]
    head, relation, tail = made.triples[IDS].to_numpy().tolist()[1]
    assert (head, relation) == (0, 0)
    assert tail in (2, 3)


def one_query(name, anchors, relations, answers):
    """Make one query; answers say whether they are hard."""
    return AskedQueries(
        QUERY_TYPES[name],
        np.array([anchors]),
        np.array([relations]),
        np.zeros(len(answers), dtype=np.int64),
        np.array(list(answers), dtype=np.int64),
        np.array(list(answers.values()), dtype=bool),
    )


def test_backwards_relations_ask_for_heads():
    # 1p by r0 from tail to head: who has r0 to 2? 0 and, held out, 1.
    graph = small_graph([(0, 0, 2), (3, 0, 4)], test=[(1, 0, 2)])
    made = query_instances(graph, {"1p": one_query("1p", [2], [1], {0: False, 1: True})})
    assert made.table["question"].tolist() == ["r0(?, e2)"] * 2
    assert made.triples[IDS].to_numpy().tolist() == [[1, 0, 2], [3, 0, 2]]
    assert made.triples["predicted_side"].tolist() == ["head", "head"]


def test_an_intersection_followed_on_by_hand():
    """0 –r0→ 2, 1 –r0→ 2 and 3, 2 –r1→ 4, held out; 5 is another end of r1."""
    graph = small_graph([(0, 0, 2), (1, 0, 2), (1, 0, 3), (3, 1, 5)], test=[(2, 1, 4)])
    made = query_instances(graph, {"ip": one_query("ip", [0, 1], [0, 0, 1], {4: True})})
    assert made.table["question"].iloc[0] == "r0(e0, x) ∧ r0(e1, x) ∧ r1(x, ?)"
    assert made.table["answer"].tolist() == ["e4", "e5"]
    both = [[0, 0, 2], [1, 0, 2]]
    assert made.triples[IDS].to_numpy().tolist() == [*both, [2, 1, 4], *both, [2, 1, 5]]
    assert made.triples["is_answer_triple"].tolist() == [False, False, True] * 2


def test_what_can_not_be_asked_is_left_out_and_counted():
    graph = small_graph([(0, 0, 0), (1, 1, 1)], test=[(0, 0, 1)])
    asked = one_query("1p", [1], [0], {0: True})
    made = query_instances(graph, {"1p": asked})
    assert len(made) == 0
    assert made.notes == (
        "1p: left out hard answers that do not hold in graph tiny: 1",
        "1p: left out queries without a hard answer that holds: 1",
    )
    everything = one_query("1p", [0], [0], {0: False, 1: True})
    made = query_instances(graph, {"1p": everything})
    assert made.notes == ("1p: left out queries that every entity answers: 1",)


@pytest.fixture(scope="module")
def umls():
    graph = load_dataset("umls")
    return graph, draw_queries(graph, QuerySampling(tuple(QUERY_TYPES), 30))


def test_some_of_many_queries_and_the_seed_decides_which(umls):
    graph, asked = umls
    first, again, other = (
        query_instances(graph, asked, AnswerSampling(12, seed)) for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(first.triples, again.triples)
    assert not first.table["question"].equals(other.table["question"])
    assert first.counts()["group"].tolist() == list(QUERY_TYPES)
    assert (first.counts()[["n_true", "n_false"]] == 12).all().all()
    alone = query_instances(graph, {"pi": asked["pi"]}, AnswerSampling(12, 1)).table
    of_all = first.table[first.table["group"] == "pi"]
    assert alone["answer"].tolist() == of_all["answer"].tolist()
    assert query_instances(graph, asked).counts()["n_true"].tolist() == [30] * 9


def test_paths_are_capped_and_drawn(umls):
    graph, asked = umls
    few, many = (
        query_instances(graph, asked, AnswerSampling(max_paths=most)).table for most in (2, 10**6)
    )
    assert few["groundings"].max() == 2
    assert (few["groundings"] == np.minimum(2, many["groundings"])).all()
    pairs = many.groupby(np.arange(len(many)) // 2)["groundings"].agg(["first", "last"])
    assert (pairs["first"] >= pairs["last"]).all()


@pytest.mark.parametrize("arguments", [{"max_paths": 0}, {"per_type": 0}])
def test_wrong_numbers(umls, arguments):
    with pytest.raises(KgdashError, match="at least one query per type and one path"):
        query_instances(*umls, AnswerSampling(**arguments))


@pytest.mark.parametrize(
    ("name", "relations", "text"),
    [
        ("1p", [0], "r0(e0, ?)"),
        ("3p", [0, 3, 1], "r0(e0, x) ∧ r1(y, x) ∧ r1(y, ?)"),
        ("2i", [0, 3], "r0(e0, ?) ∧ r1(?, e1)"),
        ("3i", [0, 0, 1], "r0(e0, ?) ∧ r0(e1, ?) ∧ r1(e2, ?)"),
        ("pi", [0, 1, 1], "r0(e0, x) ∧ r1(x, ?) ∧ r1(e1, ?)"),
        ("ip", [0, 1, 0], "r0(e0, x) ∧ r1(e1, x) ∧ r0(x, ?)"),
        ("2u", [0, 1], "r0(e0, ?) ∨ r1(e1, ?)"),
        ("up", [0, 1, 2], "(r0(e0, x) ∨ r1(e1, x)) ∧ r0(?, x)"),
    ],
)
def test_queries_in_words(name, relations, text):
    graph = small_graph([(0, 0, 1), (1, 1, 2)])
    assert (
        question(graph, QUERY_TYPES[name], [0, 1, 2][: len(QUERY_TYPES[name].branches)], relations)
        == text
    )


def test_answers_of_one_label_are_told_apart():
    graph = small_graph([(0, 0, 2), (3, 0, 4)], test=[(1, 0, 2)])
    graph = replace(graph, entity_labels=("same",) * 5)
    made = query_instances(graph, {"1p": one_query("1p", [2], [1], {0: False, 1: True})})
    assert made.table["answer"].tolist() == ["same (e1)", "same (e3)"]
