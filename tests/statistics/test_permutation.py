"""Permutation tests: coefficients are SciPy's, p-values those of the definition."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from kgdash.statistics.permutation import coefficients, dealt_p, unit_rows

FUNCTIONS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=2, max_size=8),
    st.sampled_from([1.0, 0.1, 1e-9]),
)
def test_coefficients_are_scipy_s(points, scale):
    columns = np.array(points).T * scale
    drawn, fixed = columns[:2], columns[2:].T
    for name, function in FUNCTIONS.items():
        found = coefficients(name, drawn, fixed)
        for x, row in zip(drawn, found, strict=True):
            for y, value in zip(fixed.T, row, strict=True):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    expected = function(x, y).statistic
                assert value == pytest.approx(expected, nan_ok=True, abs=1e-9)


def test_rows_of_equal_values_have_no_length():
    assert np.isnan(unit_rows(np.full((1, 7), 0.1))).all()
    np.testing.assert_allclose(unit_rows(np.array([[1.0, 3.0]])), [[-(0.5**0.5), 0.5**0.5]])


def test_what_is_reached_counts_on_both_sides_and_over_all_blocks():
    found = np.array([0.5, np.nan, -1 / 3, 0.0])
    first = np.array([[-0.5, 1.0, 0.3, 0.0], [0.4, 1.0, 0.4, np.nan]])
    second = np.array([[np.nan, 1.0, 1 / 3 - 1e-16, 0.2]])
    p = dealt_p(found, [first, second])
    np.testing.assert_allclose(p, [3 / 4, np.nan, 3 / 4, 1])
    np.testing.assert_array_equal(dealt_p(found[:1], []), [1])
