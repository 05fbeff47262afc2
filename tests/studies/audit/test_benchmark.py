"""Ways to suspect facts, each against its definition."""

import numpy as np
import pytest

from kgdash.runs.training import TrainingConfig
from kgdash.studies.audit.benchmark import detect_planted, predicting_rules, standardised
from kgdash.studies.audit.cross_fitting import AuditPlan
from kgdash.studies.audit.noise import add_noise
from kgdash.studies.rules.mining import mine_rules
from tests.support.fakes import make_graph


def test_scores_of_a_relation_have_mean_0_and_variance_1():
    scores = np.array([1.0, 3.0, 7.0, 7.0, 5.0])
    found = standardised(scores, np.array([0, 0, 1, 1, 2]))
    assert found.tolist() == [-1.0, 1.0, 0.0, 0.0, 0.0]


def test_rules_that_predict_a_triple():
    train = [(i, 0, i + 1) for i in range(5)] + [(i, 1, i + 1) for i in range(4)] + [(0, 1, 5)]
    graph = make_graph(train)
    # The only rules are r0 ⇒ r1 and r1 ⇒ r0.
    assert mine_rules(graph)["rule"].tolist() == [
        "?a  r1  ?b   => ?a  r0  ?b",
        "?a  r0  ?b   => ?a  r1  ?b",
    ]
    both = {(h, r, t) for h, r, t in train if {(h, 0, t), (h, 1, t)} <= set(train)}
    expected = [int(tuple(row) in both) for row in graph.splits["train"].tolist()]
    assert predicting_rules(graph).tolist() == expected


def test_planted_errors_are_looked_for_in_five_ways(tmp_path):
    graph = make_graph(np.argwhere(np.random.default_rng(0).random((16, 2, 16)) < 0.3))
    config = TrainingConfig("DistMult", {"embedding_dim": 8}, epochs=2, batch_size=512)
    found, table = detect_planted(graph, AuditPlan(config, 2, seed=4), 0.1, tmp_path)
    noisy, planted = add_noise(graph, 0.1, 4)
    wrong = {tuple(row) for row in noisy.splits["train"][planted].tolist()}
    marked = table.loc[table["planted"], ["head", "relation", "tail"]]
    assert set(marked.itertuples(index=False, name=None)) == wrong
    assert found["method"].unique().tolist() == [
        *("cross-fitted ReliK", "cross-fitted score", "plain ReliK", "plain score", "rules")
    ]
    # By the order of the table itself, where the end of the list cuts no tie.
    for row in found[found["method"] == "cross-fitted ReliK"].itertuples():
        relik = table["relik"].to_numpy()
        if relik[row.listed - 1] != relik[row.listed]:
            assert row.found == table["planted"][: row.listed].sum()
    assert found["recall"].between(0, 1).all()
    assert (found["found"] / planted.sum()).tolist() == pytest.approx(found["recall"].tolist())
