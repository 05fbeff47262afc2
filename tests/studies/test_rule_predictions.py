from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from instance_fakes import (
    AMIE,
    CODEX,
    SHARED,
    all_rules,
    body_pairs,
    graphs,
    needs_codex,
    small_graph,
)

from kgdash.datasets import load_dataset
from kgdash.errors import KgdashError
from kgdash.studies.rule_mining import mine_rules
from kgdash.studies.rule_predictions import rule_instances
from kgdash.studies.rules import parse_rule, rule_text
from kgdash.triple_files import read_triples

IDS = ["head", "relation", "tail"]
RULE = "?a  r0  ?h  ?h  r0  ?b   => ?a  r1  ?b"

#: two ways from 0 to 3, one to 4
GRAPH = small_graph(
    [(0, 0, 1), (0, 0, 2), (1, 0, 3), (2, 0, 3), (2, 0, 4), (9, 1, 9)], test=[(0, 1, 3)]
)


@settings(max_examples=15, deadline=None)
@given(graphs(entities=4, relations=2, held_out=False))
def test_predictions_labels_and_groundings_are_what_brute_force_finds(graph):
    rules = list(all_rules(graph.num_relations))
    texts = [rule_text(rule, graph) for rule in rules]
    instances = rule_instances(graph, texts, per_rule=None, balanced=False, max_chains=99)
    train = {tuple(row) for row in graph.splits["train"].tolist()}
    facts = {tuple(row) for row in graph.all_triples.tolist()}
    found = instances.triples[instances.triples["is_head"]].drop_duplicates("instance")
    by_rule = {
        text: {tuple(row) for row in rows[IDS].to_numpy().tolist()}
        for text, rows in found.groupby("group")
    }
    for rule, text in zip(rules, texts, strict=True):
        predicted = {(a, rule.head, b) for a, b in body_pairs(rule, graph)} - train
        assert by_rule.get(text, set()) == predicted
    for label, triple in zip(found["label"], found[IDS].to_numpy().tolist(), strict=True):
        assert label == (tuple(triple) in facts)
    body = instances.triples[~instances.triples["is_head"]]
    assert {tuple(row) for row in body[IDS].to_numpy().tolist()} <= train
    chains = instances.triples.groupby(["group", "instance", "chain"])[IDS].agg(tuple)
    assert not chains.reset_index("chain", drop=True).reset_index().duplicated().any()


def test_by_hand():
    instances = rule_instances(GRAPH, [RULE])
    assert instances.table[["question", "answer"]].to_numpy().tolist() == [
        ["r1(e0, ?)", "e3"],
        ["r1(e0, ?)", "e4"],
    ]
    assert instances.table["label"].tolist() == [True, False]
    assert instances.table["chains"].tolist() == [2, 1]
    first = instances.triples.query("instance == 0")[[*IDS, "is_head"]].to_numpy().tolist()
    assert first == [
        [0, 0, 1, False], [1, 0, 3, False], [0, 1, 3, True],
        [0, 0, 2, False], [2, 0, 3, False], [0, 1, 3, True],
    ]  # fmt: skip


def test_groundings_are_capped():
    assert rule_instances(GRAPH, [RULE], max_chains=1).table["chains"].tolist() == [1, 1]


def test_verified_negatives_leave_the_others_out():
    instances = rule_instances(GRAPH, [RULE], negatives=np.array([(0, 1, 4)]))
    assert instances.table["label"].tolist() == [True, False]
    others = np.array([(5, 1, 5), (0, 1, 3)])
    unbalanced = rule_instances(GRAPH, [RULE], negatives=others, balanced=False)
    assert unbalanced.table["label"].tolist() == [True]
    balanced = rule_instances(GRAPH, [RULE], negatives=others)
    assert len(balanced) == 0
    assert "1 of 1 rules left out: predictions of one label only" in balanced.notes


def test_a_rule_without_new_predictions_is_counted():
    assert any(
        "no labelled prediction" in note
        for note in rule_instances(
            small_graph([(0, 0, 1), (0, 1, 1)]), ["?a r0 ?b => ?a r1 ?b"]
        ).notes
    )


def test_sampling_is_balanced_capped_and_seeded():
    graph = load_dataset("umls")
    rules = mine_rules(graph, min_support=20, max_rules=50)
    first = rule_instances(graph, rules, per_rule=5, seed=1)
    counts = first.counts()
    assert (counts["n_true"] == counts["n_false"]).all()
    assert counts["n_true"].between(1, 5).all()
    pd.testing.assert_frame_equal(
        first.triples, rule_instances(graph, rules, per_rule=5, seed=1).triples
    )
    assert not first.table.equals(rule_instances(graph, rules, per_rule=5, seed=2).table)
    loose = rule_instances(graph, rules, per_rule=5, balanced=False).counts()
    assert loose[["n_true", "n_false"]].max().max() == 5
    assert (loose["n_true"] != loose["n_false"]).any()


def test_nothing_in_nothing_out():
    assert len(rule_instances(GRAPH, [])) == 0


@pytest.mark.parametrize("arguments", [{"per_rule": 0}, {"max_chains": 0}])
def test_wrong_arguments(arguments):
    with pytest.raises(KgdashError, match="at least one"):
        rule_instances(GRAPH, [RULE], **arguments)


def ids_of(graph, path: Path) -> np.ndarray:
    return np.array(
        [
            (graph.entity_id(h), graph.relation_id(r), graph.entity_id(t))
            for h, r, t in read_triples(path)
        ]
    )


@needs_codex
def test_codex_verified_negatives_label_as_many_as_the_specification_says():
    graph = load_dataset(CODEX)
    lines = AMIE.read_text().splitlines()
    rules = [line.split("\t")[0] for line in lines if line.startswith("?")]
    negatives = np.concatenate(
        [ids_of(graph, SHARED / "codex-s" / f"{s}_negatives.txt.gz") for s in ("valid", "test")]
    )
    instances = rule_instances(graph, rules, per_rule=None, negatives=negatives, balanced=False)
    counts = instances.counts()[["n_true", "n_false"]].sum()
    assert counts.tolist() == [5756, 615]
    assert all(parse_rule(group, graph) for group in instances.table["group"].unique())
