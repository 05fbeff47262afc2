"""Intervals of samples cover the mean as often as they say, and n is the least that suffices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from kgdash.statistics.sampled_mean import FEWEST, draw, needed, sampled_mean, strata

Z = norm.ppf(0.975)


def test_the_error_is_that_of_all_samples_there_are():
    """The variance of a mean of n of N is S²/n (1 − n/N): every sample of 3 of 6, one by one."""
    from itertools import combinations

    values = np.array([0.1, 0.2, 0.25, 0.6, 0.9, 1.0])
    every = [values[list(rows)] for rows in combinations(range(6), 3)]
    found = [sampled_mean(v, np.zeros(3, dtype=int), np.array([6])) for v in every]
    means = np.array([f.value for f in found])
    assert means.mean() == pytest.approx(values.mean())
    within = np.mean([(1 - 3 / 6) * f.spread**2 / 3 for f in found])
    assert within == pytest.approx(means.var())


def test_of_strata_too():
    """Each stratum by all its samples: the estimate has no bias, its variance is the formula's."""
    from itertools import combinations, product

    parts = [np.array([0.0, 0.1, 0.3, 0.2]), np.array([0.7, 0.9, 1.0, 0.6])]
    values, errors = [], []
    for a, b in product(*(list(combinations(part, 2)) for part in parts)):
        one = sampled_mean(np.array(a + b), np.array([0, 0, 1, 1]), np.array([4, 4]))
        values.append(one.value)
        variances = [np.var(a, ddof=1), np.var(b, ddof=1)]
        errors.append(sum(0.25 * (1 - 2 / 4) * variance / 2 for variance in variances))
        assert one.spread**2 == pytest.approx(np.mean(variances))
    assert np.mean(values) == pytest.approx(np.concatenate(parts).mean())
    assert np.var(values) == pytest.approx(np.mean(errors))


def test_simulated_intervals_cover_the_mean():
    """Skewed values as ReliK's: at least 93% of 1,000 intervals, which plain ones do not reach."""
    rng = np.random.default_rng(0)
    values = np.where(rng.random(3_000) < 0.02, 1.0, 0.01 * rng.random(3_000))
    hits = plain = 0
    for seed in range(1_000):
        order = np.random.default_rng(seed).permutation(len(values))
        rows = draw(np.zeros(len(values), dtype=int), 100, order)
        found = sampled_mean(values[rows], np.zeros(100, dtype=int), np.array([len(values)]))
        hits += found.low <= values.mean() <= found.high
        reach = Z * found.spread * np.sqrt((1 - 100 / 3_000) / 100)
        plain += abs(found.value - values.mean()) <= reach
    assert hits >= 930 > plain


def test_all_drawn_is_exact():
    values = np.random.default_rng(0).random(40)
    found = sampled_mean(values, np.arange(40) % 3, np.bincount(np.arange(40) % 3))
    assert found.exact
    assert found.low == found.value == found.high == pytest.approx(values.mean())


@given(
    st.floats(0, 0.5), st.integers(1, 10**9), st.floats(1e-3, 1), st.sampled_from((0.0, 0.5, 1.0))
)
def test_needed_is_the_least_that_suffices(spread, population, width, farthest):
    n = needed(spread, population, width, farthest=farthest)

    def reach(n):
        return Z * np.sqrt(
            (spread**2 / n + (np.log(0.05) * farthest / Z / n) ** 2) * max(0.0, 1 - n / population)
        )

    assert 0 <= n <= population
    assert n == 0 or 2 * reach(n) <= width * (1 + 1e-6)
    assert n <= 1 or 2 * reach(n - 1) >= width * (1 - 1e-6)


def test_needed_by_the_textbook():
    """s = 0.5, 95%, ± 0.05: n₀ = (1.96 · 0.5 / 0.05)² = 384.1; of 3,200, 384.1 / 1.12 = 342.99."""
    assert needed(0.5, 10**12, 0.1, farthest=0.0) == 385
    assert needed(0.5, 3_200, 0.1, farthest=0.0) == 343


@given(st.lists(st.integers(0, 6), min_size=1, max_size=300), st.data())
def test_draws_are_dealt_in_proportion(of, data):
    of = np.array(of)
    n = data.draw(st.integers(1, len(of)))
    stratum = strata(of, n)
    order = np.random.default_rng(0).permutation(len(of))
    rows = draw(stratum, n, order)
    assert len(rows) == n == len(np.unique(rows))
    sizes, drawn = np.bincount(stratum), np.bincount(stratum[rows], minlength=stratum.max() + 1)
    assert (np.abs(drawn - sizes * n / len(of)) < 1).all()
    assert len(sizes) == 1 or (sizes * n / len(of) >= FEWEST).all()
    # A group is in one stratum, and a stratum of its own holds nothing else.
    assert all(len(set(stratum[of == group])) == 1 for group in set(of))


def test_more_draws_keep_the_fewer_and_all_samples_are_as_likely():
    stratum, order = np.zeros(50, dtype=int), np.random.default_rng(1).permutation(50)
    assert set(draw(stratum, 10, order)) <= set(draw(stratum, 20, order))
    times = np.zeros(6)
    for seed in range(3_000):
        times[draw(np.zeros(6, dtype=int), 2, np.random.default_rng(seed).permutation(6))] += 1
    assert np.abs(times / 3_000 - 1 / 3).max() < 0.04
