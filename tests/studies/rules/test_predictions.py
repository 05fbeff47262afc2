from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.graph.datasets import load_dataset
from kgdash.graph.triple_files import read_triples
from kgdash.studies.rules import body_matrix as rule_bodies
from kgdash.studies.rules import groundings as rule_groundings
from kgdash.studies.rules.mining import mine_rules
from kgdash.studies.rules.parsing import parse_rule
from kgdash.studies.rules.predictions import (
    PredictionSampling,
    rule_instances,
    unlabelled_predictions,
)
from kgdash.studies.rules.rule import rule_text
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_instances
from tests.support.endless import GaveUpError
from tests.support.instance_fakes import (
    AMIE,
    CODEX,
    SHARED,
    body_values,
    graphs,
    needs_codex,
    rules,
    small_graph,
)

IDS = ["head", "relation", "tail"]


def parsed(texts, graph):
    return [parse_rule(text, graph) for text in texts]


#: two ways from 0 to 3, one to 4
GRAPH = small_graph(
    [(0, 0, 1), (0, 0, 2), (1, 0, 3), (2, 0, 3), (2, 0, 4), (9, 1, 9)], test=[(0, 1, 3)]
)


RULE = parse_rule("?a  r0  ?h  ?h  r0  ?b   => ?a  r1  ?b", GRAPH)


def triples_of(rows):
    return {tuple(row) for row in rows[IDS].to_numpy().tolist()}


def groundings_by_force(rule, graph):
    """Map each predicted triple to its groundings: sets of triples."""
    found = {}
    for value in body_values(rule, graph):
        *body, head = [(value.get(x, x), r, value.get(y, y)) for r, x, y in rule.atoms]
        found.setdefault(head, set()).add(frozenset([*body, head]))
    return found


@settings(max_examples=25, deadline=None)
@given(
    graphs(entities=4, relations=2, held_out=False),
    st.lists(rules(4, 2), min_size=4, max_size=8, unique=True),
    st.sampled_from([1, 10**6]),
)
def test_predictions_labels_and_groundings_are_those_of_trying_all_values(graph, drawn, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule_bodies, "_BLOCK_PAIRS", block)
        patch.setattr(rule_groundings, "_BLOCK_ROWS", block)
        instances = rule_instances(graph, drawn, PredictionSampling(None, 999, balanced=False))
    train, facts = (set(map(tuple, t.tolist())) for t in (graph.split("train"), graph.all_triples))
    groups = dict(iter(instances.triples.groupby("group")))
    for rule in drawn:
        text = rule_text(rule, graph)
        expected = groundings_by_force(rule, graph)
        expected = {head: chains for head, chains in expected.items() if head not in train}
        found = {}
        for _, rows in groups.get(text, instances.triples[:0]).groupby(["instance", "grounding"]):
            (head,) = triples_of(rows[rows["is_answer_triple"]])
            found.setdefault(head, []).append(frozenset(triples_of(rows)))
            assert rows["label"].unique().tolist() == [head in facts]
        assert {head: set(chains) for head, chains in found.items()} == expected


def test_by_hand():
    instances = rule_instances(GRAPH, [RULE])
    assert instances.table[["question", "answer"]].to_numpy().tolist() == [
        ["r1(e0, ?)", "e3"],
        ["r1(e0, ?)", "e4"],
    ]
    assert instances.table["label"].tolist() == [True, False]
    assert instances.table["groundings"].tolist() == [2, 1]
    first = instances.triples.query("instance == 0")[[*IDS, "is_answer_triple"]].to_numpy().tolist()
    assert first == [
        [0, 0, 1, False], [1, 0, 3, False], [0, 1, 3, True],
        [0, 0, 2, False], [2, 0, 3, False], [0, 1, 3, True],
    ]  # fmt: skip


def test_groundings_are_capped():
    capped = rule_instances(GRAPH, [RULE], PredictionSampling(max_groundings=1))
    assert capped.table["groundings"].tolist() == [1, 1]


def test_verified_negatives_leave_the_others_out():
    instances = rule_instances(GRAPH, [RULE], negatives=np.array([(0, 1, 4)]))
    assert instances.table["label"].tolist() == [True, False]
    others = np.array([(5, 1, 5), (0, 1, 3)])
    unbalanced = rule_instances(GRAPH, [RULE], PredictionSampling(balanced=False), others)
    assert unbalanced.table["label"].tolist() == [True]
    balanced = rule_instances(GRAPH, [RULE], negatives=others)
    assert len(balanced) == 0
    assert "1 of 1 rules tried are left out: predictions of one label only" in balanced.notes


def test_a_rule_without_new_predictions_is_counted():
    graph = small_graph([(0, 0, 1), (0, 1, 1)])
    notes = rule_instances(graph, parsed(["?a r0 ?b => ?a r1 ?b"], graph)).notes
    assert any("no labelled prediction" in note for note in notes)


def test_sampling_is_balanced_capped_and_seeded():
    graph = load_dataset("umls")
    rules = parsed(mine_rules(graph, min_support=20, max_rules=50)["rule"], graph)
    first = rule_instances(graph, rules, PredictionSampling(5, seed=1))
    counts = first.counts()
    assert (counts["n_true"] == counts["n_false"]).all()
    assert counts["n_true"].between(1, 5).all()
    pd.testing.assert_frame_equal(
        first.triples, rule_instances(graph, rules, PredictionSampling(5, seed=1)).triples
    )
    assert not first.table.equals(rule_instances(graph, rules, PredictionSampling(5, seed=2)).table)
    loose = rule_instances(graph, rules, PredictionSampling(5, balanced=False)).counts()
    assert loose[["n_true", "n_false"]].max().max() == 5
    assert (loose["n_true"] != loose["n_false"]).any()


def test_predictions_that_nobody_judged():
    graph = small_graph([(0, 0, 1), (2, 0, 3), (4, 0, 5), (6, 0, 7)], test=[(0, 1, 1)], relations=2)
    texts = ["r1(X,Y) <= r0(X,Y)", "r0(X,Y) <= r1(X,Y)", "r1(X,Y) <= r0(X,A), r0(A,Y)"]
    rules, every = parsed(texts, graph), PredictionSampling(None)
    found = unlabelled_predictions(graph, rules, every, negatives=np.array([(2, 1, 3), (4, 1, 5)]))
    assert triples_of(found.table) == {(6, 1, 7)}
    columns = ["instance", "group", "question", "answer", "groundings"]
    assert found.table[columns].values.tolist() == [
        [0, rule_text(rules[0], graph), "r1(e6, ?)", "e7", 1]
    ]
    assert found.triples[[*IDS, "is_answer_triple"]].to_numpy().tolist() == [
        [6, 0, 7, False], [6, 1, 7, True],
    ]  # fmt: skip
    assert triples_of(unlabelled_predictions(graph, rules, every).table) == {
        (2, 1, 3), (4, 1, 5), (6, 1, 7),
    }  # fmt: skip
    few = [
        unlabelled_predictions(graph, rules, PredictionSampling(2, seed=s)).table for s in range(6)
    ]
    assert {len(table) for table in few} == {2}
    assert len({frozenset(triples_of(table)) for table in few}) > 1
    assert unlabelled_predictions(graph, []).table.empty


def test_many_groundings_are_drawn_without_joining_them_all():
    # 0 has 300 r0-neighbours: 300² groundings of two dangling variables
    graph = small_graph([(0, 0, n) for n in range(1, 301)], relations=2)
    rules = parsed(["r1(X,e1) <= r0(X,A), r0(X,B)"], graph)
    instances = rule_instances(graph, rules, PredictionSampling(max_groundings=7, balanced=False))
    assert instances.table["groundings"].tolist() == [7]


def test_groundings_of_a_hub_are_drawn_evenly(monkeypatch):
    """Ten million values of one variable were written out, and ten of them kept."""
    # 0 has the neighbours 1 to 40 by r0; by r1 1 has 30, 2 has 10 and the others none.
    facts = [(0, 0, n) for n in range(1, 41)]
    facts += [(1, 1, n) for n in range(1, 31)] + [(2, 1, n) for n in range(1, 11)]
    graph = small_graph(facts, relations=3)
    rules = parsed(["r2(X,e1) <= r0(X,A), r1(A,B)", "r2(X,e1) <= r0(X,A), r0(X,B)"], graph)
    whole = rule_instances(graph, rules, PredictionSampling(max_groundings=5000, balanced=False))
    monkeypatch.setattr(rule_groundings, "_WRITTEN_OUT", 8)
    drawn = rule_instances(graph, rules, PredictionSampling(max_groundings=5000, balanced=False))
    assert sorted(drawn.table["groundings"]) == sorted(whole.table["groundings"]) == [40, 1600]
    rows = ["group", *IDS]
    for each in (whole, drawn):
        assert not each.triples.groupby("grounding")[rows].apply(tuple_of).duplicated().any()
    seen = np.zeros(41)
    for seed in range(300):
        sampling = PredictionSampling(max_groundings=10, balanced=False, seed=seed)
        found = rule_instances(graph, rules[1:], sampling).triples
        assert found["grounding"].nunique() == 10
        np.add.at(seen, found.loc[~found["is_answer_triple"], "tail"], 1)
    # 20 of 40 values in each of 300 draws, at random: 150 each
    assert abs(seen[1:] - 150).max() < 60


def tuple_of(rows):
    return tuple(map(tuple, rows.to_numpy().tolist()))


def test_groundings_tell_that_they_go_on(monkeypatch):
    """They were silent for 40 s, and could not be stopped."""
    graph = small_graph([(0, 0, n) for n in range(1, 30)], relations=2)
    rules = parsed(["r1(X,Y) <= r0(A,X), r0(A,Y), r0(A,B)"], graph)
    told = []

    def stop(done, total):
        told.append(done)
        if len(told) == 5:
            raise GaveUpError

    monkeypatch.setattr(rule_groundings, "_BLOCK_ROWS", 1)
    with pytest.raises(GaveUpError):
        rule_instances(graph, rules, PredictionSampling(balanced=False), progress=stop)
    assert told == [0] * 5


def test_nothing_in_nothing_out():
    assert len(rule_instances(GRAPH, [])) == 0


@pytest.mark.parametrize("arguments", [{"per_rule": 0}, {"max_groundings": 0}])
def test_wrong_arguments(arguments):
    with pytest.raises(KgdashError, match="at least one"):
        PredictionSampling(**arguments)


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
    rules = parsed([line.split("\t")[0] for line in lines if line.startswith("?")], graph)
    negatives = np.concatenate(
        [ids_of(graph, SHARED / "codex-s" / f"{s}_negatives.txt.gz") for s in ("valid", "test")]
    )
    instances = rule_instances(graph, rules, PredictionSampling(None, balanced=False), negatives)
    counts = instances.counts()[["n_true", "n_false"]].sum()
    assert counts.tolist() == [5756, 615]
    groups = instances.table["group"].unique()
    assert set(parsed(groups, graph)) <= set(rules)


def test_a_question_and_an_answer_are_one_text_each():
    """A text for every instance took gigabytes where names are long."""
    graph = load_dataset("umls")
    found = find_instances(graph, RuleSelection(max_rules=20, per_rule=50)).table
    assert found["group"].nunique() == 20
    for column in ("group", "question", "answer"):
        assert found[column].dtype == object
        assert len({id(text) for text in found[column]}) == found[column].nunique()


def test_answers_of_one_label_are_told_apart():
    """Answers are drawn anew for intervals: two of one label were one."""
    graph = replace(GRAPH, entity_labels=("same",) * GRAPH.num_entities)
    found = rule_instances(graph, [RULE], PredictionSampling(balanced=False))
    assert found.table["answer"].tolist() == ["same (e3)", "same (e4)"]
