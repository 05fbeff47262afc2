"""The interval of a population's better negatives against all tails, exactly, and closed forms."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

from kgdash.ranking.better_interval import better_interval


def tails(better, sampled, population, total):
    """Return P(X ≥ better) and P(X ≤ better) for ``total`` better negatives, exactly."""
    ways = [
        comb(total, x) * comb(population - total, sampled - x) if x <= sampled else 0
        for x in range(population + 1)
    ]
    whole = comb(population, sampled)
    return Fraction(sum(ways[better:]), whole), Fraction(sum(ways[: better + 1]), whole)


@pytest.mark.parametrize("population", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("level", [0.937, 0.61])
def test_bounds_equal_a_search_over_all_numbers(population, level):
    tail = Fraction(1 - level) / 2
    cases = [(b, n) for n in range(population + 1) for b in range(n + 1)]
    better, sampled = np.array(cases).T
    low, high = better_interval(better, sampled, np.full(len(cases), population), level)
    for (b, n), found in zip(cases, zip(low, high, strict=True), strict=True):
        possible = [
            total
            for total in range(b, population - n + b + 1)
            if min(tails(b, n, population, total)) > tail
        ]
        assert found == (possible[0], possible[-1])


@pytest.mark.parametrize("population", [4, 9, 14])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.975])
def test_coverage_is_at_least_nominal(population, level):
    for sampled in range(1, population + 1):
        seen = np.arange(sampled + 1)
        low, high = better_interval(
            seen, np.full_like(seen, sampled), np.full_like(seen, population), level
        )
        for total in range(population + 1):
            inside = (low <= total) & (total <= high)
            chance = stats.hypergeom.pmf(seen, population, total, sampled)
            assert chance[inside].sum() >= level - 1e-9


@pytest.mark.parametrize("better", [0, 1, 37, 500, 999, 1000])
def test_at_the_size_of_fb15k237(better):
    population, sampled, level = 14_505 * 237 - 50, 1000, 0.975
    (low,), (high,) = better_interval(
        np.array([better]), np.array([sampled]), np.array([population]), level
    )
    tail = (1 - level) / 2
    assert stats.hypergeom.sf(better - 1, population, low, sampled) > tail
    assert stats.hypergeom.cdf(better, population, high, sampled) > tail
    if low > better:
        assert stats.hypergeom.sf(better - 1, population, low - 1, sampled) <= tail
    if high < population - sampled + better:
        assert stats.hypergeom.cdf(better, population, high + 1, sampled) <= tail
    assert low <= better * population / sampled <= high


def test_no_cases():
    nothing = np.array([], dtype=np.int64)
    assert [len(part) for part in better_interval(nothing, nothing, nothing, 0.95)] == [0, 0]


@pytest.mark.parametrize("population", [10**10, 10**12, 2 * 10**15])
@pytest.mark.parametrize("sampled", [10, 1000, 1_000_000])
def test_of_huge_populations_it_is_clopper_and_pearson_s(population, sampled):
    """SciPy took 4 s for one case of 10¹², and as many times that as a graph has cases."""
    better = np.array([0, 1, sampled // 3, sampled - 1, sampled])
    sizes = np.full_like(better, sampled), np.full_like(better, population)
    low, high = better_interval(better, *sizes, 0.95)
    # Drawn with replacement, which differs by the part that is drawn.
    for b, lowest, highest in zip(better.tolist(), low, high, strict=True):
        wanted = stats.binomtest(b, sampled).proportion_ci(0.95, "exact")
        assert lowest / population == pytest.approx(wanted.low, rel=3e-4, abs=1e-9)
        assert highest / population == pytest.approx(wanted.high, rel=3e-4, abs=1e-9)
