"""What draws did not show widens intervals of means."""

import numpy as np
import pytest

from kgdash.ranking.ratio_metrics import bounded_estimate, mean_estimate
from kgdash.statistics.unseen import allow_for_unseen


def test_by_the_formula():
    means, counts = np.array([0.2, 0.5]), np.array([30, 60])
    ends = np.array([[0.1, 0.35], [np.nan, np.nan]])
    low, high = allow_for_unseen(means, ends, counts, 0.95)[0]
    share = -np.log(0.05) / 30
    assert low == pytest.approx(0.2 - np.sqrt(0.1**2 + (share * 0.2) ** 2))
    assert high == pytest.approx(0.2 + np.sqrt(0.15**2 + (share * 0.8) ** 2))
    assert np.isnan(allow_for_unseen(means, ends, counts, 0.95)[1]).all()


def test_ends_stay_between_0_and_1():
    ends = allow_for_unseen(np.array([0.01, 0.99]), np.array([[0, 0.02], [0.9, 1]]), [3, 3], 0.95)
    np.testing.assert_array_equal([ends[0, 0], ends[1, 1]], [0, 1])


def test_without_values_there_is_no_interval():
    assert np.isnan(bounded_estimate(np.zeros(0)).low)


@pytest.mark.parametrize("size", [10, 30, 100])
def test_values_that_are_mostly_small_and_rarely_1(size):
    """Of 30 such values the bootstrap's interval alone covers their mean in 78 of 100 cases."""
    rng = np.random.default_rng(3)
    values = np.where(rng.random(20_000) < 0.05, 1.0, rng.random(20_000) * 0.02)
    held, bare = 0, 0
    for _ in range(200):
        drawn = rng.choice(values, size)
        wide, narrow = bounded_estimate(drawn), mean_estimate(drawn)
        assert wide.low <= narrow.low <= narrow.high <= wide.high
        held += wide.low <= values.mean() <= wide.high
        bare += narrow.low <= values.mean() <= narrow.high
    assert held >= 190
    assert bare < held
