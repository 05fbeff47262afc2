"""Intervals of shares are SciPy's."""

import numpy as np
import pytest
from scipy.stats import beta, betabinom, binomtest

from kgdash.statistics.proportions import clopper_pearson, exact_p, wilson


@pytest.mark.parametrize(("interval", "method"), [(clopper_pearson, "exact"), (wilson, "wilson")])
def test_intervals_are_those_of_scipy(interval, method):
    found, n = np.array([0, 3, 7, 40]), np.array([5, 9, 7, 57])
    low, high = interval(found, n, 0.9)
    for at in range(4):
        ends = binomtest(int(found[at]), int(n[at])).proportion_ci(0.9, method)
        assert (low[at], high[at]) == pytest.approx((ends.low, ends.high))


def test_p_of_a_share_that_is_known_is_that_of_the_interval():
    found, n = np.array([0, 3, 7, 40, 52]), np.array([5, 9, 7, 57, 57])
    p = exact_p(found, n, 0.7, 1e8)
    one_sided = [binomtest(40, 57, 0.7, side).pvalue for side in ("less", "greater")]
    assert p[3] == pytest.approx(min(1, 2 * min(one_sided)), rel=1e-4)
    low, high = clopper_pearson(found, n, 0.95)
    assert ((p < 0.05) == ((high < 0.7) | (low > 0.7))).all()
    assert 0 < (p < 0.05).sum() < 5


def test_p_of_a_share_that_few_draws_gave():
    """Of a threshold from 100 queries, binomial p-values told 53 of 100 draws apart."""
    n, of, rng = 1000, beta(91, 10), np.random.default_rng(0)
    tails = betabinom.cdf(860, n, 91, 10), betabinom.sf(859, n, 91, 10)
    share = 91 / 101
    assert exact_p(860, n, share, 100) == pytest.approx(2 * min(tails))
    assert exact_p(429.7, 500.5, share, 100) == exact_p(430, 500, share, 100)
    found = rng.binomial(n, of.rvs(1000, random_state=rng))
    assert 0.03 < (exact_p(found, n, share, 100) < 0.05).mean() < 0.07
    assert exact_p(9, 9, 1.0, 5) == 1  # a threshold of +inf


def test_means_of_counts_lie_between_their_neighbours():
    low, high = clopper_pearson(np.array([0.0, 0.5, 1.0]), np.array([9, 9, 9]))
    assert low[0] == 0 < low[1] < low[2]
    assert high[0] < high[1] < high[2]
