import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instance_fakes import graphs, small_graph

from kgdash.datasets import load_dataset
from kgdash.errors import KgdashError
from kgdash.studies.queries import HARD, QUERY_TYPES, sample_queries

ATOM = re.compile(r"r(\d+)\(([^,]+), ([^)]+)\)")


def evaluate(question, facts):
    """Answer a query, given as its text, by trying all entities: a set of names of entities."""
    atoms = [(int(r), x, y) for r, x, y in ATOM.findall(question)]
    sets = []
    if all(y == "?" for _, _, y in atoms):
        for relation, anchor, _ in atoms:
            sets.append({t for h, r, t in facts if (h, r) == (int(anchor[1:]), relation)})
        reached = set.intersection(*sets)
    else:
        reached = {int(atoms[0][1][1:])}
        for relation, _, _ in atoms:
            reached = {t for h, r, t in facts if h in reached and r == relation}
    return {f"e{entity}" for entity in reached}


def facts_of(graph, splits):
    return {tuple(row) for split in splits for row in graph.splits[split].tolist()}


@settings(max_examples=20, deadline=None)
@given(graphs(), st.sampled_from(sorted(HARD)), st.integers(0, 3))
def test_answers_are_what_brute_force_says(graph, hard, seed):
    sampled = sample_queries(graph, per_type=4, hard=hard, seed=seed, max_chains=3)
    everything, easy = facts_of(graph, ("train", "valid", "test")), facts_of(graph, HARD[hard])
    for row in sampled.table.to_dict("records"):
        answers = evaluate(row["question"], everything)
        assert (row["answer"] in answers) == row["label"]
        assert row["answer"] not in evaluate(row["question"], easy)
        assert 1 <= row["chains"] <= 3
    ids = ["head", "relation", "tail"]
    for (instance, _), chain in sampled.triples.groupby(["instance", "chain"]):
        row = sampled.table.iloc[instance]
        held = [tuple(t) in everything for t in chain[ids].to_numpy().tolist()]
        last = chain.iloc[-1]
        assert f"e{last['tail']}" == row["answer"]
        if row["label"]:
            assert all(held)
            assert not all(tuple(t) in easy for t in chain[ids].to_numpy().tolist())
        elif row["group"].endswith("p"):
            assert not held[-1]
            assert all(held[:-1])
            assert chain["is_head"].tolist() == [False] * (len(chain) - 1) + [True]
        else:
            assert not all(held)
            assert chain["is_head"].all()
            assert chain["head"].is_unique


@settings(max_examples=20, deadline=None)
@given(graphs(entities=7))
def test_classes_are_balanced_and_queries_distinct(graph):
    sampled = sample_queries(graph, per_type=6)
    counts = sampled.counts()
    assert (counts["n_true"] == counts["n_false"]).all()
    assert (counts["n_true"] <= 6).all()
    for _, pairs in sampled.table.groupby("group"):
        assert pairs["question"].value_counts().eq(2).all()
    best = sampled.table.groupby(["group", "question"])["chains"].agg(["first", "last"])
    assert (best["last"] <= best["first"]).all()


#: 0 –r0→ 1, 2 –r1→ 3, and the held-out 1 –r1→ 3; 4 and 5 are other ends of r1
CHAIN = small_graph(
    [(0, 0, 1), (0, 0, 2), (6, 0, 6), (7, 1, 4), (2, 1, 5)], test=[(1, 1, 3), (2, 1, 3)]
)


def test_a_path_query_by_hand():
    sampled = sample_queries(CHAIN, ("2p",), per_type=10)
    assert sampled.table["question"].unique().tolist() == ["r0(e0, x) ∧ r1(x, ?)"]
    true = sampled.triples[sampled.triples["label"]]
    found = {
        tuple(map(tuple, c[["head", "relation", "tail"]].to_numpy().tolist()))
        for _, c in true.groupby("chain")
    }
    assert found == {((0, 0, 1), (1, 1, 3)), ((0, 0, 2), (2, 1, 3))}
    # 5 is an answer too, so that the range of r1 leaves only 4 as a false one.
    assert sampled.table["answer"].tolist() == ["e3", "e4"]
    false = sampled.triples[~sampled.triples["label"]]
    assert false["tail"].tolist() == [1, 4, 2, 4]
    assert sampled.notes[1].startswith("2p: 1 of 10 queries found")


def test_chains_are_capped():
    sampled = sample_queries(CHAIN, ("2p",), per_type=1, max_chains=1)
    assert sampled.table["chains"].tolist() == [1, 1]


def test_a_false_answer_outside_the_range_where_the_range_has_no_other():
    graph = small_graph([(0, 0, 1)], test=[(2, 0, 1)], entities=3)
    answers = sample_queries(graph, ("1p",)).table["answer"].tolist()
    assert answers[0] == "e1"
    assert answers[1] in ("e0", "e2")


def test_every_entity_answers_leaves_no_query():
    graph = small_graph([(0, 0, 0)], test=[(0, 0, 1)])
    sampled = sample_queries(graph, ("1p",))
    assert len(sampled) == 0
    assert sampled.notes[1].startswith("1p: 0 of 50 queries found")


def test_queries_beyond_the_cap_are_left_out():
    fan = [(0, 0, t) for t in range(1, 20)]
    graph = small_graph(fan[1:], test=fan[:1], entities=25)
    assert len(sample_queries(graph, ("1p",), max_paths=18)) == 0
    assert len(sample_queries(graph, ("1p",), max_paths=19)) == 2


def test_the_same_seed_gives_the_same_queries_whatever_else_is_asked_for():
    graph = load_dataset("umls")
    first = sample_queries(graph, per_type=10, seed=3)
    again = sample_queries(graph, per_type=10, seed=3)
    pd.testing.assert_frame_equal(first.triples, again.triples)
    only = sample_queries(graph, ("3i",), per_type=10, seed=3).table
    assert only["question"].tolist() == first.table.query("group == '3i'")["question"].tolist()
    other = sample_queries(graph, per_type=10, seed=4)
    assert not first.table["question"].equals(other.table["question"])


def test_false_answers_come_from_the_range_unless_all_of_it_answers():
    graph = load_dataset("umls")
    sampled = sample_queries(graph, ("1p",), per_type=50)
    assert sampled.counts()["n_true"].tolist() == [50]
    false = sampled.triples[~sampled.triples["label"]]
    facts, outside = graph.all_triples, 0
    for head, relation, tail in false[["head", "relation", "tail"]].to_numpy().tolist():
        inside = set(facts[facts[:, 1] == relation, 2].tolist())
        left = inside - set(facts[(facts[:, 0] == head) & (facts[:, 1] == relation), 2].tolist())
        assert tail in (left or set(range(graph.num_entities)) - inside)
        outside += not left
    assert 0 < outside < 25


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"types": ("4p",)}, "unknown query type '4p'"),
        ({"types": ()}, "at least one type"),
        ({"hard": "outside test"}, "unknown meaning of hard 'outside test'"),
        ({"per_type": 0}, "at least one type, query"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(KgdashError, match=message):
        sample_queries(CHAIN, **arguments)


def test_no_held_out_triple_is_said():
    graph = small_graph([(0, 0, 1), (1, 0, 2)], valid=[(2, 0, 0)])
    with pytest.raises(KgdashError, match=r"split test holds no triple outside train\+valid"):
        sample_queries(graph, hard="outside train+valid")
    assert set(sample_queries(graph).table["group"]) <= set(QUERY_TYPES)
