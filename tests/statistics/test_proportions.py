"""Intervals of shares are SciPy's."""

import numpy as np
import pytest
from scipy.stats import binomtest

from kgdash.statistics.proportions import clopper_pearson, wilson


@pytest.mark.parametrize(("interval", "method"), [(clopper_pearson, "exact"), (wilson, "wilson")])
def test_intervals_are_those_of_scipy(interval, method):
    found, n = np.array([0, 3, 7, 40]), np.array([5, 9, 7, 57])
    low, high = interval(found, n, 0.9)
    for at in range(4):
        ends = binomtest(int(found[at]), int(n[at])).proportion_ci(0.9, method)
        assert (low[at], high[at]) == pytest.approx((ends.low, ends.high))


def test_means_of_counts_lie_between_their_neighbours():
    low, high = clopper_pearson(np.array([0.0, 0.5, 1.0]), np.array([9, 9, 9]))
    assert low[0] == 0 < low[1] < low[2]
    assert high[0] < high[1] < high[2]
