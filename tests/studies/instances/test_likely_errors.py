import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.studies.instances.instances import TRIPLE_COLUMNS, make_instances, score_instances
from kgdash.studies.instances.likely_errors import (
    likely_errors,
    plausible_missing_triples,
    suspicious_facts,
)
from kgdash.studies.rules.confidence import rule_confidence
from tests.support.instance_fakes import FakeRun, small_graph

GRAPH = small_graph([(0, 0, 1), (1, 0, 0), (0, 1, 2)], test=[(2, 0, 3)], entities=4, relations=2)

#: rule "a" twice and rule "b" once; the fact (0, 0, 1) in all, and thrice missing (3, 0, 2)
ROWS = [
    ("a", 0, 0, True, 0, 0, 1, False, "tail"),
    ("a", 0, 0, True, 2, 0, 3, True, "tail"),
    ("a", 1, 0, False, 0, 0, 1, False, "tail"),
    ("a", 1, 0, False, 3, 0, 2, True, "head"),
    ("a", 1, 1, False, 0, 1, 2, False, "tail"),
    ("a", 1, 1, False, 3, 0, 2, True, "tail"),
    ("b", 2, 0, False, 0, 0, 1, False, "tail"),
    ("b", 2, 0, False, 3, 0, 2, True, "tail"),
    ("b", 3, 0, False, 2, 1, 1, True, "tail"),
    ("b", 4, 0, False, 1, 1, 2, True, "tail"),
]


@pytest.fixture
def scored():
    rows = pd.DataFrame(ROWS, columns=TRIPLE_COLUMNS)
    described = pd.DataFrame({"instance": range(5), "question": "q", "answer": "a"})
    return score_instances(FakeRun(), make_instances(rows, described))


def ids(table):
    return [tuple(int(name[1:]) for name in row) for row in table.to_numpy()]


def test_known_facts_each_once_the_least_reliable_first(scored):
    found = suspicious_facts(GRAPH, scored)
    # ReliK of the fake is 1 / (1 + h + 2 r + 4 t).
    assert ids(found[["head", "relation", "tail"]]) == [(2, 0, 3), (0, 1, 2), (0, 0, 1)]
    assert found["relik"].tolist() == [1 / 15, 1 / 11, 1 / 5]
    assert found["split"].tolist() == ["test", "train", "train"]
    assert found["instances"].tolist() == [1, 1, 3]
    assert found["groups"].tolist() == [1, 1, 2]
    # (1, 0, 0) is a fact; (3, 0, 2) stands in no list of known facts.
    assert found["mirror"].tolist() == ["", "", "known"]
    assert found["head_label"].tolist() == found["head"].tolist()


def test_missing_ones_the_most_reliable_first(scored):
    found = plausible_missing_triples(GRAPH, scored, {"a": 0.5, "b": 0.75})
    triples = ids(found[["head", "relation", "tail"]])
    assert triples == [(2, 1, 1), (1, 1, 2), (3, 0, 2)]
    assert np.all(np.diff(found["relik"]) <= 0)
    assert found["instances"].tolist() == [1, 1, 2]
    assert found["predicted_by"].tolist() == [1, 1, 2]
    assert found["pca_confidence"].tolist() == [0.75, 0.75, 0.75]
    assert found["mirror"].tolist() == ["listed", "listed", "known"]
    # The rank of the tail, though it was asked for backwards first.
    assert found["reciprocal_rank"].iloc[2] == pytest.approx((1 / 3 + 1) / 2)
    alone = plausible_missing_triples(GRAPH, scored)
    assert "pca_confidence" not in alone
    assert "split" not in alone
    unknown = plausible_missing_triples(GRAPH, scored, {"a": 0.5})
    assert unknown["pca_confidence"].isna().tolist() == [True, True, False]


def test_no_triple_is_in_both_lists_and_none_is_lost(scored):
    both = [suspicious_facts(GRAPH, scored), plausible_missing_triples(GRAPH, scored)]
    listed = pd.concat([table[["head", "relation", "tail"]] for table in both])
    assert not listed.duplicated().any()
    assert set(ids(listed)) == {row[4:7] for row in ROWS}


def test_confidence_of_the_groups_that_are_rules():
    # r0 leads 0 → 1 and 1 → 0, r1 0 → 2: of the two heads of r0 one has an r1, none of these pairs.
    backwards, other = "?a  r0  ?b   => ?b  r0  ?a", "?a  r0  ?b   => ?a  r1  ?b"
    found = rule_confidence(GRAPH, ["2p", backwards, other, "my rule"])
    assert found == {backwards: 1.0, other: 0.0}
    assert rule_confidence(GRAPH, ["2p"]) == {}


def test_a_loop_is_no_mirror_image_of_itself():
    rows = pd.DataFrame([("a", 0, 0, True, 1, 0, 1, True, "tail")], columns=[*TRIPLE_COLUMNS[:9]])
    described = pd.DataFrame({"instance": [0], "question": "q", "answer": "a"})
    scored = score_instances(FakeRun(), make_instances(rows, described))
    assert plausible_missing_triples(GRAPH, scored)["mirror"].tolist() == [""]


def test_likely_errors(scored):
    true = likely_errors(scored.table, True)
    assert true["instance"].tolist() == [0]
    false = likely_errors(scored.table, False, "relik_answer", "mean")
    assert false["label"].tolist() == [False] * 4
    assert (np.diff(false["relik_answer_mean"]) <= 0).all()
    with pytest.raises(KgdashError, match="unknown measure"):
        likely_errors(scored.table, True, "relic")
