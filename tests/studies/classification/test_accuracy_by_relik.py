"""Accuracy by ReliK of the true triple: pair by pair, quantile by quantile."""

import numpy as np
import pytest
from scipy.stats import binomtest

from kgdash.studies.classification.accuracy_by_relik import (
    accuracy_by_relik,
    exact_accuracy_by_relik,
)
from kgdash.studies.classification.classification import classify


@pytest.fixture(scope="module")
def found(bundled):
    return classify(bundled("umls-distmult"))


def test_quantiles_hold_their_pairs(found):
    table = exact_accuracy_by_relik(found)
    half = len(found.test) // 2
    relik = found.run.relik(triples=found.test[["head", "relation", "tail"]].to_numpy()[:half])
    relik, called = relik["relik"].to_numpy(), found.test["predicted"].to_numpy()
    assert table["true"].sum() == half
    assert len(table) == 5
    for row in table.itertuples():
        at = (relik >= row.relik_least) & (relik <= row.relik_most)
        assert at.sum() == row.true
        assert row.relik == pytest.approx(relik[at].mean())
        right = called[:half][at]
        assert row.recall == pytest.approx(right.mean())
        wilson = binomtest(int(right.sum()), len(right)).proportion_ci(0.95, "wilson")
        assert [row.recall_low, row.recall_high] == pytest.approx([wilson.low, wilson.high])
        pairs = (right * 1.0 + ~called[half:][at]) / 2
        assert row.accuracy == pytest.approx(pairs.mean())
        error = 1.96 * pairs.std() / np.sqrt(len(pairs))
        assert [row.accuracy_low, row.accuracy_high] == pytest.approx(
            [row.accuracy - error, row.accuracy + error], abs=0.02
        )


def test_equal_values_share_a_quantile(found):
    table = accuracy_by_relik(found, np.ones(len(found.test) // 2))
    assert table["true"].tolist() == [len(found.test) // 2]
