"""Errors of probabilities by their definitions, and their intervals."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from kgdash.errors import KgdashError
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.probability.calibration import WAYS, calibration_on_test
from kgdash.studies.probability.calibration_report import (
    BINS,
    ERRORS,
    calibration_errors,
    diagram,
    equal_mass,
    equal_width,
    grouped_errors,
    overall_errors,
)
from kgdash.studies.probability.query_groups import GROUPINGS
from tests.support.fakes import fake_run, make_graph, random_scorer

FEW = Bootstrap(resamples=60)


@pytest.fixture(scope="module")
def tested(bundled):
    return calibration_on_test(bundled("umls-complex"))


def made(n: int, seed: int = 0) -> pd.DataFrame:
    """Return queries that are right as often as the confidence says."""
    rng = np.random.default_rng(seed)
    confidence = rng.random(n)
    return pd.DataFrame(
        {
            "head": np.arange(n),
            "relation": 0,
            "tail": 0,
            "right": (rng.random(n) < confidence).astype(float),
            "fitted_confidence": confidence,
            "fitted_nll": rng.random(n),
            "fitted_brier": rng.random(n),
        }
    )


def by_definition(confidence, right, bins) -> float:
    total = 0.0
    for number in range(BINS):
        inside = [i for i, b in enumerate(bins) if b == number]
        if inside:
            gap = np.mean([confidence[i] for i in inside]) - np.mean([right[i] for i in inside])
            total += len(inside) / len(bins) * abs(gap)
    return total


@pytest.mark.parametrize("n", [1, 7, 400])
def test_errors_by_definition(n):
    table = made(n)
    confidence, right = table["fitted_confidence"].to_numpy(), table["right"].to_numpy()
    found = calibration_errors(table, bootstrap=FEW)
    wide = [min(int(c * 15), 14) for c in confidence]
    assert found["ece"][0] == pytest.approx(by_definition(confidence, right, wide))
    assert found["ace"][0] == pytest.approx(
        by_definition(confidence, right, equal_mass(confidence))
    )
    assert found["nll"][0] == pytest.approx(table["fitted_nll"].mean())
    assert found["brier"][0] == pytest.approx(table["fitted_brier"].mean())
    assert np.isnan(found["nll"][1]) == (n < 10)


def test_bins():
    assert equal_width(np.array([0.0, 1 / 15, 0.999, 1.0])).tolist() == [0, 1, 14, 14]
    assert np.bincount(equal_mass(np.random.default_rng(0).random(150))).tolist() == [10] * 15


def test_intervals_hold_the_mean():
    inside = 0
    for seed in range(40):
        _, low, high = calibration_errors(made(200, seed), bootstrap=FEW)["nll"]
        inside += low <= 0.5 <= high
    assert inside >= 33


@pytest.mark.parametrize(("power", "truth"), [(1, 0.0), (2, 1 / 6)])
@pytest.mark.parametrize("n", [60, 300])
def test_intervals_of_errors_in_bins_hold_that_of_all_queries(n, power, truth):
    """Of probabilities that are right, the percentile bootstrap's never did.

    Answers are right as often as confidence ** power; ∫ x − x² dx = 1/6.
    """
    inside = dict.fromkeys(("ece", "ace"), 0)
    for seed in range(60):
        table = made(n, seed)
        rng = np.random.default_rng(seed + 1000)
        table["right"] = (rng.random(n) < table["fitted_confidence"] ** power).astype(float)
        found = calibration_errors(table, bootstrap=Bootstrap(resamples=200))
        for error in inside:
            value, low, high = found[error]
            assert 0 <= low <= value <= high <= 1
            inside[error] += low <= truth <= high
    assert min(inside.values()) >= 51


@pytest.mark.parametrize("chance", [0.003, 0.02, 0.05])
@pytest.mark.parametrize("n", [30, 300])
def test_intervals_of_errors_hold_that_of_right_confidences_where_few_answers_are(n, chance):
    """Of 60 queries with a confidence of 0.003 that is right, 49 of 60 intervals lay above 0."""
    inside, rng = np.zeros(2), np.random.default_rng(n)
    for _ in range(60):
        table = made(2 * n).assign(fitted_confidence=rng.normal(chance, chance / 10, 2 * n))
        table["right"] = (rng.random(2 * n) < table["fitted_confidence"]).astype(float)
        table["head"] //= 2
        found = calibration_errors(table, bootstrap=Bootstrap(resamples=200))
        inside += [found[error][1] == 0 for error in ("ece", "ace")]
    assert inside.min() >= 54


def test_a_gap_is_told_of_five_hundred_queries():
    """What is taken off for noise leaves the low end of a gap of 0.2 at 0.1 or more."""
    rng = np.random.default_rng(3)
    table = made(500).assign(fitted_confidence=rng.beta(8, 2, 500))
    table["right"] = (rng.random(500) < table["fitted_confidence"] - 0.2).astype(float)
    found = calibration_errors(table, bootstrap=Bootstrap(resamples=200))
    assert min(found[error][1] for error in ("ece", "ace")) >= 0.1


def test_unknown_way():
    with pytest.raises(KgdashError, match="way"):
        calibration_errors(made(3), "magic")


def test_overall(tested):
    table = overall_errors(tested, FEW)
    assert table["way"].tolist() == [way for way in WAYS for _ in ERRORS]
    assert (table["low"] <= table["high"]).all()
    one = table[(table["way"] == "fitted") & (table["error"] == "nll")].iloc[0]
    p = np.exp(-tested.queries["fitted_nll"].to_numpy())
    theirs = log_loss(np.ones(len(p)), np.stack([1 - p, p], axis=1), labels=[0, 1])
    assert one["value"] == pytest.approx(theirs)


@pytest.mark.parametrize("by", GROUPINGS)
def test_groups_hold_each_query_at_most_once(tested, by):
    table = grouped_errors(tested, by, FEW)
    assert table["queries"].sum() <= len(tested.queries)
    if by != "relik":
        assert table["queries"].sum() == len(tested.queries)
    if by == "relation":
        labels = tested.run.graph.relation_labels
        row = table.iloc[0]
        own = tested.queries[tested.queries["relation"] == labels.index(row["group"])]
        assert row["ece"] == pytest.approx(calibration_errors(own, bootstrap=FEW)["ece"][0])
        assert row["right"] == pytest.approx(own["right"].mean())


def test_queries_of_no_group():
    graph = make_graph([(0, 0, 1), (1, 0, 0)], valid=[(0, 0, 0)], test=[(2, 0, 3)], entities=4)
    found = calibration_on_test(fake_run(graph, random_scorer(4, 1)))
    table = grouped_errors(found, "relik", FEW)
    assert table.empty
    assert {"group", "queries", "ece", "ece_low", "brier_high"} <= set(table)


def test_diagram(tested):
    for way in WAYS:
        table = diagram(tested, way)
        assert table["count"].sum() == len(tested.queries)
        assert (np.diff(table["predicted"]) >= 0).all()
        assert (table["low"] <= table["observed"] + 0.05).all()


def test_intervals_allow_for_triples_unlike_those_drawn():
    """Of groups where nearly all is wrong, the bootstrap's of Brier scores held in 23 of 100."""
    table = made(20_000)
    rng = np.random.default_rng(1)
    table["fitted_brier"] = np.where(rng.random(len(table)) < 0.05, 1.0, 0.01)
    truth, inside = table["fitted_brier"].mean(), 0
    for seed in range(40):
        drawn = table.sample(12, random_state=seed)
        found = calibration_errors(drawn, bootstrap=Bootstrap(resamples=100))
        assert all(0 <= found[error][1] <= found[error][2] <= 1 for error in ("ece", "ace"))
        inside += found["brier"][1] <= truth <= found["brier"][2]
    assert inside >= 38


def test_a_triple_s_two_queries_are_one():
    table = made(18)
    table["head"] = np.arange(18) // 2
    table["tail"] = table["relation"] = 0
    assert np.isnan(calibration_errors(table, bootstrap=FEW)["brier"][1])
