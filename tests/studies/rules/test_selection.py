import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.graph.datasets import load_dataset
from kgdash.studies.classification.given_negatives import read_negatives
from kgdash.studies.rules.confidence import FIGURES, count_rules
from kgdash.studies.rules.files import read_rules
from kgdash.studies.rules.selection import ORDERS, chosen_instances, in_order, usable_rules
from kgdash.studies.rules.sources import mined_instances, mined_rules
from tests.support.instance_fakes import AMIE, CODEX, needs_codex, small_graph

#: r1 follows from r0 (one true, two false), and from r2 (two true, two false)
R0, R2 = ([(n, r, n + 1) for n in (0, 2, 4, 6) if (n, r) != (4, 2)] for r in (0, 2))
GRAPH = small_graph(
    [*R0, *R2, (4, 2, 0), (4, 2, 1), (6, 1, 7)],
    test=[(0, 1, 1), (2, 1, 3)],
)
RULES = ["r1(X,Y) <= r0(X,Y)", "r1(X,Y) <= r2(X,Y)", "r0(X,Y) <= r1(X,Y)"]


def ruled(**figures):
    table = pd.DataFrame({"rule": RULES}).assign(**dict.fromkeys(FIGURES, np.nan))
    return table.assign(**figures)


def test_orders():
    rules = ruled(
        support=[3, 5, 5], pca_confidence=[0.2, np.nan, 0.9], standard_confidence=[0.1, 0.5, 0.4]
    )
    assert in_order(rules, "support").index.tolist() == [2, 1, 0]
    assert in_order(rules, "confidence").index.tolist() == [2, 1, 0]
    assert in_order(rules.assign(support=[9, 5, 5]), "support").index.tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("order", "rule", "tried"),
    [("support", 0, 1), ("confidence", 1, 2), ("both labels", 1, 3)],
)
def test_the_first_rules_with_both_labels_are_taken(order, rule, tried):
    rules = ruled(support=[3, 2, 1], pca_confidence=[0.1, 0.2, 0.3])
    found = chosen_instances(GRAPH, rules, 1, 10, order)
    assert found.table["group"].unique().tolist() == [RULES[rule]]
    assert all(f"of {tried} rules tried" in note for note in found.notes[1:])
    both = chosen_instances(GRAPH, rules, 9, 10, order)
    assert set(both.table["group"]) == set(RULES[:2])


def test_what_is_known_to_be_false_and_what_a_user_says():
    rules = ruled(support=[3, 2, 1], pca_confidence=[0.1, 0.2, 0.3])
    found = chosen_instances(GRAPH, rules, negatives=np.array([(4, 1, 5)]))
    assert found.table["group"].unique().tolist() == [RULES[0]]
    judged = pd.DataFrame([(4, 1, 0, False)], columns=["head", "relation", "tail", "label"])
    found = chosen_instances(GRAPH, rules, negatives=np.array([(4, 1, 5)]), judged=judged)
    assert set(found.table["group"]) == set(RULES[:2])


def test_thresholds_of_rules_from_a_file():
    rules = ruled(support=[3, 2, 1], pca_confidence=[0.1, 0.2, np.nan])
    rules["standard_confidence"] = [0.9, 0.9, 0.4]
    assert usable_rules(GRAPH, rules, 1, 0.2)["rule"].tolist() == RULES[1:]
    assert usable_rules(GRAPH, rules, 2, 0)["rule"].tolist() == RULES[:2]
    with pytest.raises(KgdashError, match="none of 3 rules has a support of 9 and a confidence of"):
        usable_rules(GRAPH, rules, 9)


def test_rules_without_figures_are_counted():
    usable = usable_rules(GRAPH, ruled(), 1, 0)
    counted = count_rules(GRAPH, RULES)[list(FIGURES)]
    np.testing.assert_array_equal(usable[list(FIGURES)], counted[counted["support"] > 0])


def test_mined_rules_go_the_same_way():
    graph = load_dataset("umls")
    mined = mined_rules(graph, 0.5, 10)
    assert mined["support"].min() >= 10
    found = mined_instances(graph, 3, 0.5, 5, min_support=10, order="confidence")
    expected = chosen_instances(graph, mined, 3, 5, "confidence")
    pd.testing.assert_frame_equal(found.table, expected.table)
    assert found.table["group"].nunique() == 3


@needs_codex
def test_amie_s_rules_with_verified_negatives():
    graph = load_dataset(CODEX)
    folder = {s: CODEX / f"{s}_negatives.txt.gz" for s in ("valid", "test")}
    given = read_negatives(folder, graph)
    negatives = np.concatenate([given.valid, given.test])
    rules = usable_rules(graph, read_rules(AMIE, graph).table, 20, 0.3)
    found = chosen_instances(graph, rules, 8, 20, negatives=negatives)
    counts = found.counts()
    assert len(counts) == 8
    assert (counts["n_true"] == counts["n_false"]).all()
    heads = found.triples[found.triples["is_answer_triple"] & ~found.triples["label"]]
    assert graph.index(negatives).contains(heads[["head", "relation", "tail"]].to_numpy()).all()


def test_wrong_arguments():
    with pytest.raises(KgdashError, match=r"unknown order 'supprt'.*'support'"):
        chosen_instances(GRAPH, ruled(), order="supprt")
    with pytest.raises(KgdashError, match="at least one rule; found 0"):
        chosen_instances(GRAPH, ruled(), 0)
    assert ORDERS == ("support", "confidence", "both labels")
