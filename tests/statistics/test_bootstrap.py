"""Bootstrap settings, percentile intervals against NumPy and SciPy, counts against a loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.statistics.bootstrap import (
    Bootstrap,
    check_level,
    percentile_interval,
    resample_counts,
    times_drawn,
)
from tests.support.checks import check_interval


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"level": 0}, "expected a level between 0 and 1; found 0"),
        ({"level": 1.0}, "expected a level between 0 and 1; found 1"),
        ({"level": 95}, "expected a level between 0 and 1; found 95"),
        ({"level": float("nan")}, "expected a level between 0 and 1; found nan"),
        ({"resamples": 0}, "expected 1 to 1,000,000 resamples; found 0"),
        ({"resamples": 10**25}, "expected 1 to 1,000,000 resamples; found 10,000,"),
        ({"seed": -1}, "expected a seed ≥ 0; found -1"),
    ],
)
def test_what_is_out_of_range_is_refused(choice, message):
    with pytest.raises(KgdashError, match=message):
        Bootstrap(**choice)


def test_levels_in_range():
    assert Bootstrap(1e-9, 1, 0).level == 1e-9
    check_level(0.999)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.sampled_from([0.5, 0.9, 0.95]))
def test_intervals_are_numpy_s_quantiles(values, level):
    low, high = percentile_interval(np.array(values), level)
    expected = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    assert [float(low), float(high)] == expected.tolist()


def test_resamples_without_a_value_are_left_out():
    values = np.array([[1.0, np.nan, 2.0], [np.inf, np.nan, 3.0], [5.0, np.nan, 7.0]])
    low, high = percentile_interval(values, 0.5)
    np.testing.assert_array_equal(low, [2, np.nan, 2.5])
    np.testing.assert_array_equal(high, [4, np.nan, 5])
    low, high = percentile_interval(values[:, 1], 0.5)
    assert np.isnan([low, high]).all()
    assert percentile_interval(np.empty((0, 2)), 0.5)[0].shape == (2,)


def test_a_bootstrap_of_these_parts_is_scipy_s():
    """The same interval of a mean as SciPy's, but for what other draws change."""
    values = np.random.default_rng(3).exponential(size=200)
    means = np.concatenate(
        [times @ values / 200 for _, times in resample_counts(200, 4000, _generator(1), 128)]
    )
    check_interval(percentile_interval(means, 0.95), np.mean, values, within=0.1, resamples=4000)


@given(st.integers(1, 12), st.integers(1, 9), st.integers(1, 10), st.integers(0, 99))
def test_counts_are_those_of_a_loop(count, resamples, step, seed):
    drawn = _generator(seed).integers(0, count, size=(resamples, count))
    expected = [[row.tolist().count(number) for number in range(count)] for row in drawn]
    np.testing.assert_array_equal(times_drawn(drawn), expected)
    blocks = list(resample_counts(count, resamples, _generator(seed), step))
    assert [block.stop - block.start for block, _ in blocks] == [len(t) for _, t in blocks]
    assert max(len(times) for _, times in blocks) <= step
    together = np.concatenate([times for _, times in blocks])
    np.testing.assert_array_equal(together, expected)
    assert together.dtype == np.float64
    assert blocks[-1][0].stop == resamples


def _generator(seed):
    return np.random.default_rng(seed)
