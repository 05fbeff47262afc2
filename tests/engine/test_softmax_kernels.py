"""Sums over softmax agree with NumPy in float64, however scores are cut into tiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.engine.softmax_kernels import (
    SoftmaxSums,
    exponentials,
    gather_log_probabilities,
    gather_logistic,
    gather_softmax,
)


def scores(seed: int, rows: int, columns: int, kind=np.float32, spread: float = 5.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = (rng.normal(size=(rows, columns)) * spread).astype(kind)
    values[rng.random(values.shape) < 0.2] = np.nan
    return values


def test_exponentials_are_two_units_in_the_last_place_off_at_most():
    x = np.linspace(-87, 0, 200_001, dtype=np.float32)
    found = np.empty_like(x)
    exponentials(x, found)
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)), rtol=2.4e-7)
    x = np.array([-np.inf, np.nan, -87.01, 0.0], dtype=np.float32)
    found = np.empty_like(x)
    exponentials(x, found)
    assert found.tolist() == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@given(st.integers(0, 99), st.integers(1, 3), st.integers(1, 1200), st.floats(0.01, 9))
def test_softmax(kind, seed, rows, columns, beta):
    values = scores(seed, rows, columns, kind)
    sums, betas = SoftmaxSums.of_nothing(rows), np.full(rows, beta)
    cut = columns // 3
    for start, stop in ((0, cut), (cut, columns)):
        gather_softmax(np.ascontiguousarray(values[:, start:stop]), 0, betas, sums)
    for row in range(rows):
        own = values[row][~np.isnan(values[row])].astype(np.float64)
        if not len(own):
            assert (sums.low[row], sums.high[row]) == (np.inf, -np.inf)
            assert sums.total[row] == 0
            continue
        x = beta * (own - own.max())
        e = np.exp(x)
        assert (sums.low[row], sums.high[row]) == (own.min(), own.max())
        found = [part[row] for part in sums[2:]]
        theirs = [e.sum(), (x * e).sum(), (x * x * e).sum(), (e * e).sum()]
        np.testing.assert_allclose(found, theirs, rtol=3e-5, atol=1e-9)


def test_logistic():
    values = scores(3, 4, 700)
    sums = np.zeros((4, 2))
    gather_logistic(values, 0, 1.3, -2.0, sums)
    with np.errstate(over="ignore"):
        share = 1 / (1 + np.exp(-(1.3 * values.astype(np.float64) - 2.0)))
    np.testing.assert_allclose(sums[:, 0], np.nansum(share, axis=1), rtol=1e-6)
    np.testing.assert_allclose(sums[:, 1], np.nansum(share**2, axis=1), rtol=1e-6)


def test_log_probabilities_are_counted_for_each_normaliser_of_a_row():
    values = scores(4, 3, 300)
    starts, normalisers = np.array([0, 2, 2, 3]), np.array([20.0, 25.0, 18.0])
    betas = np.array([1.0, 2.0, 0.5])
    counts = np.zeros((4, 64), dtype=np.int64)
    gather_log_probabilities(values, 0, betas, (starts, normalisers), 2.0, counts)
    theirs = np.zeros(64, dtype=np.int64)
    for row, normaliser in ((0, 20.0), (0, 25.0), (2, 18.0)):
        own = values[row][~np.isnan(values[row])].astype(np.float64)
        place = np.clip(np.floor((normaliser - betas[row] * own) * 2), 0, 63).astype(int)
        theirs += np.bincount(place, minlength=64)
    assert counts.sum(axis=0).tolist() == theirs.tolist()
