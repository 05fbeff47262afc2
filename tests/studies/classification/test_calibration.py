"""Scores as probabilities: against SciPy, the definitions, and data of a known probability."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from statsmodels.stats.proportion import proportion_confint

from kgdash.studies.classification.calibration import (
    brier_score,
    calibration_error,
    fit_calibrations,
    quantile_bins,
    reliability_bins,
)
from tests.support.fakes import INF


@pytest.fixture(scope="module")
def sample():
    """True with the probability σ(2 score + 1)."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=4000)
    return scores, rng.random(4000) < expit(2 * scores + 1)


def test_platt_is_the_maximum_of_its_likelihood(sample):
    scores, labels = (part[:500] * 1 for part in sample)
    labels = labels.astype(bool)
    found = fit_calibrations(scores, labels)["platt"]
    target = np.where(labels, (labels.sum() + 1) / (labels.sum() + 2), 1 / ((~labels).sum() + 2))

    def loss(line):
        at = line[0] * scores + line[1]
        return np.mean(np.logaddexp(0, at) - target * at)

    slope, shift = minimize(loss, [0, 0], tol=1e-12).x
    assert found(scores) == pytest.approx(expit(slope * scores + shift), abs=1e-4)


def test_a_known_probability_is_found(sample):
    scores, labels = sample
    at = np.linspace(-1.5, 1, 9)
    fitted = fit_calibrations(scores, labels)
    assert fitted["platt"](at) == pytest.approx(expit(2 * at + 1), abs=0.03)
    assert fitted["isotonic"](at) == pytest.approx(expit(2 * at + 1), abs=0.12)
    assert fitted["none"](at).tolist() == expit(at).tolist()
    errors = {
        name: calibration_error(reliability_bins(function(scores), labels))
        for name, function in fitted.items()
    }
    assert errors["platt"] < 0.03 < errors["none"]
    assert errors["isotonic"] < 1e-9  # on its own data, it averages


@pytest.mark.parametrize("scale", [1e-100, 1e-20, 1e12])
def test_a_scale_of_scores_changes_nothing(sample, scale):
    """Scores nearer than 1e-15 were one to isotonic calibration, its error 0 in place of 0.014."""
    scores, labels = (part[:500] for part in sample)
    at = np.linspace(-1.5, 1, 9)
    plain, scaled = (fit_calibrations(scores * by, labels) for by in (1.0, scale))
    for name in ("platt", "isotonic"):
        np.testing.assert_allclose(scaled[name](at * scale), plain[name](at), rtol=1e-6)


def test_labels_that_a_threshold_parts_and_infinite_scores():
    scores = np.array([-INF, -2.0, 1.0, 2.0, INF])
    labels = scores > 0
    for name, function in fit_calibrations(scores, labels).items():
        found = function(np.array([-INF, -3.0, 3.0, INF]))
        assert ((found >= 0) & (found <= 1)).all(), name
        assert (np.diff(found) >= 0).all()
        assert found[0] < 0.5 < found[-1]
    constant = fit_calibrations(np.zeros(4), np.array([True, True, True, False]))
    assert constant["isotonic"](np.zeros(1)) == pytest.approx([0.75])


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=40))
def test_bins(pairs):
    probabilities = np.array([p / 5 for p, _ in pairs])
    labels = np.array([label for _, label in pairs])
    table = reliability_bins(probabilities, labels, bins=3)
    assert table["count"].sum() == len(pairs)
    assert len(table) <= 3
    assert table["predicted"].is_monotonic_increasing
    start = 0
    order = np.argsort(probabilities, kind="stable")
    for row in table.itertuples(index=False):
        rows = order[start : start + row[0]]
        start += row[0]
        assert row.predicted == pytest.approx(probabilities[rows].mean())
        assert row.observed == pytest.approx(labels[rows].mean())
        expected = proportion_confint(labels[rows].sum(), len(rows), method="wilson")
        assert [row.low, row.high] == pytest.approx(expected, abs=1e-9)
    distance = (table["predicted"] - table["observed"]).abs()
    expected = (distance * table["count"]).sum() / len(pairs)
    assert calibration_error(table) == pytest.approx(expected)
    assert brier_score(probabilities, labels) == pytest.approx(
        np.mean((probabilities - labels) ** 2)
    )


def test_quantiles():
    values = np.random.default_rng(0).permutation(100) / 100
    code = quantile_bins(values, 5)
    assert np.bincount(code).tolist() == [20] * 5
    assert (np.diff(code[np.argsort(values)]) >= 0).all()
    assert quantile_bins(np.ones(4), 5).tolist() == [0, 0, 0, 0]
    assert quantile_bins(np.array([1, 1, 1, 1, 2.0]), 2).tolist() == [0, 0, 0, 0, 1]
