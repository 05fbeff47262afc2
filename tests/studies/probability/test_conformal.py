"""Thresholds by their definition, and by simulation: coverage is what is promised."""

import math
import time

import numpy as np
import pytest
from scipy.stats import binom

from kgdash.errors import KgdashError
from kgdash.studies.probability.conformal import (
    allowed_of,
    check_epsilon,
    conformal_quantile,
    fewest_queries,
    find_thresholds,
)


@pytest.mark.parametrize(
    ("n", "epsilon", "place"),
    [(9, 0.1, 9), (8, 0.1, None), (99, 0.05, 95), (19, 0.05, 19), (1304, 1 - 1e-13, 1)],
)
def test_quantile(n, epsilon, place):
    values = np.random.default_rng(n).permutation(n) + 1.0
    assert conformal_quantile(values, epsilon) == (place if place else math.inf)


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.2])
def test_coverage_over_2000_exchangeable_draws(epsilon):
    rng, n, draws = np.random.default_rng(1), 57, 2000
    values = rng.exponential(size=(draws, n + 1))
    covered = sum(row[-1] <= conformal_quantile(row[:-1], epsilon) for row in values)
    exact = math.ceil((n + 1) * (1 - epsilon)) / (n + 1)
    low, high = binom.interval(0.9999, draws, exact)
    assert low <= covered <= high
    assert exact >= 1 - epsilon


def test_groups_of_their_own_and_pooled():
    assert fewest_queries(0.2) == 10
    codes = np.repeat([0, 1, 2, -1], [12, 9, 3, 4])
    values = np.arange(28.0)
    table = find_thresholds(values, codes, 0.2)
    by_group = table.set_index("group")
    assert by_group["queries"].to_dict() == {-1: 16, 0: 12}
    assert by_group["most"][0] == conformal_quantile(values[:12], 0.2)
    assert by_group["most"][-1] == conformal_quantile(values[12:], 0.2)
    most = by_group["most"]
    assert allowed_of(table, np.array([2, 0, -1, 7])).tolist() == [
        most[-1],
        most[0],
        *[most[-1]] * 2,
    ]


def test_too_few_others_share_the_threshold_of_all():
    table = find_thresholds(np.arange(24.0), np.repeat([0, 1], [20, 4]), 0.2)
    assert table.set_index("group")["queries"].to_dict() == {-1: 24, 0: 20}


def test_a_group_of_three_queries_promises_nothing_of_its_own():
    table = find_thresholds(np.array([1.0, 5.0, 2.0]), np.zeros(3, dtype=np.int64), 0.1)
    assert table["group"].tolist() == [-1]
    assert table["most"].tolist() == [math.inf]  # all candidates are in: nothing is invented


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -0.1, math.nan])
def test_no_share(epsilon):
    with pytest.raises(KgdashError, match="between 1e-09 and 1"):
        check_epsilon(epsilon)


def test_many_groups_are_sorted_once():
    """Looking through all queries for each of 40,000 groups would take half a minute."""
    codes, values = np.tile(np.arange(40_000), 20), np.arange(800_000.0)
    before = time.process_time()
    table = find_thresholds(values, codes, 0.2).set_index("group")
    assert time.process_time() - before < 4
    assert len(table) == 40_001
    assert table["most"][39_999] == conformal_quantile(values[codes == 39_999], 0.2)
