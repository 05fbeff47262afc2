"""What is fitted on validation and said of test, by the definitions, on a bundled run."""

import numpy as np
import pandas as pd
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.studies.probability import calibration
from kgdash.studies.probability.calibration import (
    ENOUGH,
    FOLDS,
    WAYS,
    calibration_on_test,
    fit_calibration,
    fold_of,
)
from tests.support import brute_force
from tests.support.checks import check_progress
from tests.support.fakes import fake_run, make_graph, random_scorer


@pytest.fixture(scope="module")
def tested(bundled):
    return calibration_on_test(bundled("umls-complex"))


def test_temperatures_are_those_of_sides_and_of_frequent_relations(tested):
    betas = tested.fitted.betas
    valid = tested.run.graph.split("valid")
    assert (betas["beta"] > 0).all()
    assert betas.loc[betas["relation"] == -1, "side"].tolist() == ["both", "head", "tail"]
    counts = np.bincount(valid[:, 1])
    frequent = sorted(np.flatnonzero(counts >= ENOUGH).tolist())
    for side in ("head", "tail"):
        own = betas[(betas["side"] == side) & (betas["relation"] >= 0)]
        assert sorted(own["relation"]) == frequent
        assert own["queries"].tolist() == counts[own["relation"]].tolist()


def test_ways_by_definition(tested):
    run = tested.run
    known = {tuple(t) for t in run.graph.all_triples.tolist()}
    size, relations = run.graph.num_entities, run.graph.num_relations
    betas = tested.fitted.betas
    for at in np.random.default_rng(0).choice(len(tested.queries), 25, replace=False):
        row = tested.queries.iloc[at]
        triple, side = (row["head"], row["relation"], row["tail"]), row["side"]
        rivals = [
            c
            for c in brute_force.candidates(triple, side, size, relations)
            if c == triple or c not in known
        ]
        scores = run.scorer.score_triples(torch.tensor(rivals), side).double().numpy()
        true = rivals.index(triple)
        own = betas[(betas["side"] == side) & betas["relation"].isin([row["relation"], -1])]
        beta = own.sort_values("relation")["beta"].iloc[-1]
        curve = tested.fitted.platt
        weights = {
            "fitted": np.exp(beta * (scores - scores.max())),
            "uncalibrated": np.exp(scores - scores.max()),
            "temperature": np.exp(tested.fitted.one_beta * (scores - scores.max())),
            "platt": 1 / (1 + np.exp(-(curve.slope * scores + curve.intercept))),
        }
        assert weights.keys() == WAYS.keys()
        for way, weight in weights.items():
            p = weight / weight.sum()
            truth = np.arange(len(p)) == true
            ours = [row[f"{way}_{what}"] for what in ("confidence", "nll", "brier")]
            theirs = [p[scores.argmax()], -np.log(p[true]), ((p - truth) ** 2).sum()]
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)
        best = scores == scores.max()
        assert row["right"] == (1 / best.sum() if best[true] else 0)


def test_fitted_beats_what_is_beside_it_on_validation(tested):
    # what each temperature is the least loss of: finer ones can only be better there
    run, fitted = tested.run, tested.fitted
    triples = run.graph.split("valid")
    losses = {}
    for side in calibration.answer_queries(run, triples, "train+valid"):
        ones = np.ones(len(triples))
        ways = [fitted.beta_of(side), ones * fitted.one_beta, ones]
        for name, soft in zip(WAYS, calibration.softmax(side, ways), strict=False):
            losses[name] = losses.get(name, 0.0) - soft.log_true.sum()
    fine, one, none = losses.values()
    assert fine <= one + 1e-3 * abs(one)
    assert one <= none


def test_a_table_holds_all_of_it(tested):
    first = fit_calibration(tested.run)
    again = calibration._from_table(calibration._to_table(first))
    pd.testing.assert_frame_equal(again.betas, first.betas)
    assert again.platt == first.platt
    np.testing.assert_array_equal(again.isotonic.log_p, first.isotonic.log_p)


def test_folds_part_the_validation_triples(bundled):
    valid = bundled("umls-complex").graph.split("valid")
    folds = fold_of(valid)
    assert sorted(set(folds.tolist())) == list(range(FOLDS))
    assert np.ptp(np.bincount(folds)) <= 1
    np.testing.assert_array_equal(folds, fold_of(valid))


def test_without_validation_triples():
    run = fake_run(make_graph([(0, 0, 1)], test=[(1, 0, 2)]), random_scorer(3, 1))
    with pytest.raises(KgdashError, match="valid"):
        calibration_on_test(run)


def test_progress(bundled):
    run = bundled("umls-complex")
    check_progress(lambda report: calibration._fit(run, run.graph.split("valid")[:90], report))
