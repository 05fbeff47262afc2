"""Values that are equal by definition are equal once rounded, and no others are."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgdash.statistics.rounding import rounded

_RANKS = st.lists(st.integers(1, 60), min_size=2, max_size=2)


@given(_RANKS, _RANKS)
def test_means_of_reciprocal_ranks_compare_as_fractions_do(first, second):
    means = rounded(np.array([sum(1 / rank for rank in ranks) / 2 for ranks in (first, second)]))
    exact = [sum(Fraction(1, rank) for rank in ranks) / 2 for ranks in (first, second)]
    assert (means[0] == means[1]) == (exact[0] == exact[1])
    assert (means[0] < means[1]) == (exact[0] < exact[1])


def test_ranks_of_millions_stay_apart():
    ranks = np.arange(5_000_000, 5_001_000)
    assert len(np.unique(rounded(1 / ranks))) == len(ranks)


def test_what_has_no_digits_stays():
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, 1e308, -0.25])
    np.testing.assert_array_equal(rounded(values), values)
    assert 1 / 2 + 1 / 12 != 1 / 3 + 1 / 4
