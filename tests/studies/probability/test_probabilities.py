"""Probabilities of any triples; those of validation are judged by fits that did not see them."""

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.studies.probability.answer_queries import answer_queries, softmax
from kgdash.studies.probability.calibration import calibration_on_test, fit_calibration, fold_of

IN_TABLE = ["head", "relation", "tail", "side", "confidence", "softmax", "probability"]


def test_of_test_they_are_those_of_the_report(bundled):
    run = bundled("umls-complex")
    table, theirs = run.probabilities(), calibration_on_test(run).queries
    assert list(table.columns) == IN_TABLE
    np.testing.assert_allclose(table["probability"], theirs["probability"], rtol=1e-9)
    np.testing.assert_allclose(table["confidence"], theirs["fitted_confidence"], rtol=1e-9)
    np.testing.assert_allclose(-np.log(table["softmax"]), theirs["fitted_nll"], rtol=1e-6)
    assert table[["confidence", "softmax", "probability"]].to_numpy().min() >= 0
    assert table[["confidence", "softmax", "probability"]].to_numpy().max() <= 1


def test_of_validation_each_by_the_other_folds(bundled):
    run = bundled("umls-complex")
    valid = run.graph.split("valid")
    table = run.probabilities("valid", sides=["tail"])
    folds = fold_of(valid)
    (tails,) = (q for q in answer_queries(run, valid, "train+valid") if q.side == "tail")
    for fold in (0, 4):
        fitted = fit_calibration(run, fold)
        assert fitted.betas["queries"].iloc[0] == 2 * (folds != fold).sum()
        (found,) = softmax(tails, [fitted.beta_of(tails)])
        mine = folds == fold
        theirs = fitted.isotonic(found.log_true)[mine]
        np.testing.assert_allclose(table["probability"][mine], theirs, rtol=1e-9)


def test_of_given_triples_in_their_order(bundled):
    run = bundled("umls-complex")
    rows = np.concatenate([run.graph.split("valid")[:3], [[5, 2, 7]], run.graph.split("test")[:2]])
    table = run.probabilities(triples=rows, sides=["tail", "head"])
    assert table["side"].tolist() == ["tail"] * 6 + ["head"] * 6
    np.testing.assert_array_equal(table[["head", "relation", "tail"]], np.concatenate([rows, rows]))


def test_relations_have_none(bundled):
    with pytest.raises(KgdashError, match="relation has none"):
        bundled("umls-complex").probabilities(sides=["relation"])
