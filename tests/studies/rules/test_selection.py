import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.graph.datasets import load_dataset
from kgdash.studies.classification.given_negatives import read_negatives
from kgdash.studies.rules.confidence import METRICS, count_rules
from kgdash.studies.rules.files import RuleFile, read_rules
from kgdash.studies.rules.mining import mine_bodies
from kgdash.studies.rules.parsing import parse_rule
from kgdash.studies.rules.rule_table import Rules
from kgdash.studies.rules.selection import (
    ORDERS,
    RuleSelection,
    in_order,
    select_instances,
    usable_rules,
)
from kgdash.studies.rules.sources import find_instances, find_rules
from tests.support.instance_fakes import AMIE, CODEX, needs_codex, small_graph

#: r1 follows from r0 (one true, two false), and from r2 (two true, two false)
R0, R2 = ([(n, r, n + 1) for n in (0, 2, 4, 6) if (n, r) != (4, 2)] for r in (0, 2))
GRAPH = small_graph(
    [*R0, *R2, (4, 2, 0), (4, 2, 1), (6, 1, 7)],
    test=[(0, 1, 1), (2, 1, 3)],
)
RULES = ["r1(X,Y) <= r0(X,Y)", "r1(X,Y) <= r2(X,Y)", "r0(X,Y) <= r1(X,Y)"]


def ruled(**metrics):
    table = pd.DataFrame({"rule": RULES}).assign(**dict.fromkeys(METRICS, np.nan))
    return Rules(GRAPH, table.assign(**metrics))


def order_of(rules, order):
    return [RULES.index(text) for text in in_order(rules, order).table["rule"]]


def test_orders():
    metrics = {"pca_confidence": [0.2, np.nan, 0.9], "standard_confidence": [0.1, 0.5, 0.4]}
    rules = ruled(support=[3, 5, 5], **metrics)
    assert order_of(rules, "support") == [2, 1, 0]
    assert order_of(rules, "confidence") == [2, 1, 0]
    assert order_of(ruled(support=[9, 5, 5], **metrics), "support") == [0, 2, 1]


def groups(found):
    return [rule.body[0][0] for rule in map(in_graph, found.table["group"].unique())]


def in_graph(text):
    return parse_rule(text, GRAPH)


@pytest.mark.parametrize(
    ("order", "rule", "tried"),
    [("support", 0, 1), ("confidence", 1, 2), ("both labels", 1, 3)],
)
def test_the_first_rules_with_both_labels_are_taken(order, rule, tried):
    rules = ruled(support=[3, 2, 1], pca_confidence=[0.1, 0.2, 0.3])
    found = select_instances(GRAPH, rules, RuleSelection(1, per_rule=10, order=order))
    assert groups(found) == [(0, 2)[rule]]
    assert all(f"of {tried} rules tried" in note for note in found.notes[1:])
    both = select_instances(GRAPH, rules, RuleSelection(9, per_rule=10, order=order))
    assert set(groups(both)) == {0, 2}


def test_what_is_known_to_be_false():
    rules = ruled(support=[3, 2, 1], pca_confidence=[0.1, 0.2, 0.3])
    found = select_instances(GRAPH, rules, RuleSelection(), np.array([(4, 1, 5)]))
    assert groups(found) == [0]


def test_thresholds_of_rules_from_a_file():
    rules = ruled(
        support=[3, 2, 1],
        pca_confidence=[0.1, 0.2, np.nan],
        standard_confidence=[0.9, 0.9, 0.4],
    )
    assert usable_rules(GRAPH, rules, 1, 0.2).table["rule"].tolist() == RULES[1:]
    assert usable_rules(GRAPH, rules, 2, 0).table["rule"].tolist() == RULES[:2]
    with pytest.raises(KgdashError, match="none of 3 rules has a support of 9 and a confidence of"):
        usable_rules(GRAPH, rules, 9)


def test_rules_without_counts_are_counted():
    usable = usable_rules(GRAPH, ruled(), 1, 0).table
    counted = count_rules(GRAPH, ruled().rules)[list(METRICS)]
    np.testing.assert_array_equal(usable[list(METRICS)], counted[counted["support"] > 0])
    ours = read_rules(RuleFile(b'rule\n"r0(X,Y) <= r1(X,Y)"\n', "x.csv"), GRAPH)
    assert usable_rules(GRAPH, ours, 0, 0).table["source"].tolist() == ["table, counted here"]


def test_rules_are_taken_with_what_is_known_of_them():
    rules = ruled(support=[3, 2, 1])
    read = Rules(GRAPH, rules.table, ("a note",), rules.rules)
    for of in (rules, read):
        some = of.take(np.array([2, 0]))
        assert some.table["support"].tolist() == [1, 3]
        assert some.rules == (rules.rules[2], rules.rules[0])
        assert of.take(slice(2)).rules == rules.rules[:2]
    assert read.take(slice(1)).notes == ("a note",)


def test_mined_rules_go_the_same_way():
    graph = load_dataset("umls")
    selection = RuleSelection(3, 0.5, 10, 5, "confidence")
    mined = find_rules(graph, selection)
    assert mined.table["support"].min() >= 10
    found = find_instances(graph, selection)
    expected = select_instances(graph, mined, selection)
    pd.testing.assert_frame_equal(found.table, expected.table)
    assert found.table["group"].nunique() == 3


def test_mined_rules_have_a_bound_that_is_told(monkeypatch):
    graph = load_dataset("umls")
    monkeypatch.setattr("kgdash.studies.rules.sources.MOST_RULES", 30)
    monkeypatch.setattr("kgdash.files.table_cache._WORTH_KEEPING", float("inf"))
    mined = find_rules(graph, RuleSelection(min_pca=0.5, min_support=9))
    assert mined.notes == ("only the 30 most confident rules are kept",)
    every = mine_bodies(graph, 9, min_pca=0.5)
    pd.testing.assert_frame_equal(mined.table, every.head(30))
    monkeypatch.setattr("kgdash.studies.rules.sources.MOST_RULES", len(every) + 1)
    assert find_rules(graph, RuleSelection(min_pca=0.5, min_support=9)).notes == ()


@needs_codex
def test_amie_s_rules_with_verified_negatives():
    graph = load_dataset(CODEX)
    folder = {s: CODEX / f"{s}_negatives.txt.gz" for s in ("valid", "test")}
    given = read_negatives(folder, graph)
    negatives = np.concatenate([given.valid, given.test])
    selection = RuleSelection(8, 0.3, 20, 20)
    found = find_instances(graph, selection, RuleFile(AMIE), negatives)
    counts = found.counts()
    assert len(counts) == 8
    assert (counts["n_true"] == counts["n_false"]).all()
    heads = found.triples[found.triples["is_answer_triple"] & ~found.triples["label"]]
    assert graph.index(negatives).contains(heads[["head", "relation", "tail"]].to_numpy()).all()


def test_wrong_arguments():
    with pytest.raises(KgdashError, match=r"unknown order 'supprt'.*'support'"):
        RuleSelection(order="supprt")
    with pytest.raises(KgdashError, match="at least one rule; found 0"):
        RuleSelection(0)
    with pytest.raises(KgdashError, match="at least one instance per rule"):
        RuleSelection(per_rule=0)
    assert ORDERS == ("support", "confidence", "both labels")
