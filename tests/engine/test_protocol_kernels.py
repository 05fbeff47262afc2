"""Expected sampled ranks against SciPy, all outcomes listed, and a closed form."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import comb

from kgdash.engine.protocol_kernels import Draws, Rivals, binomial, expect, hypergeometric

KS = np.array([1.0, 3.0])


def moments(better, tied, everyone, draws, shares=(0.0, 0.0)):
    ints = (np.array([n], dtype=np.int64) for n in (better, tied, everyone))
    found = np.empty((1, 2, 2 + len(KS), 2))
    expect(Rivals(*ints, *np.array(shares)[:, None]), draws, KS, True, found)
    return found[0]


@pytest.mark.parametrize(
    ("good", "other", "draws"),
    [(0, 9, 4), (9, 0, 4), (5, 4, 9), (3, 14_000, 500), (7_000, 7_500, 1000), (1, 1, 1), (4, 5, 0)],
)
def test_hypergeometric(good, other, draws):
    chance = np.full(draws + 1, np.nan)
    first, last = hypergeometric(good, other, draws, chance)
    wanted = stats.hypergeom.pmf(np.arange(draws + 1), good + other, good, draws)
    np.testing.assert_allclose(chance[first : last + 1], wanted[first : last + 1], rtol=1e-7)
    assert wanted[first : last + 1].sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("draws", "share"), [(5, 0.0), (5, 1.0), (1000, 0.3), (1000, 1e-6), (0, 0.5)]
)
def test_binomial(draws, share):
    chance = np.full(draws + 1, np.nan)
    first, last = binomial(draws, share, chance)
    wanted = stats.binom.pmf(np.arange(draws + 1), draws, share)
    np.testing.assert_allclose(chance[first : last + 1], wanted[first : last + 1], rtol=1e-9)
    assert wanted[first : last + 1].sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("better", "tied", "other", "draws"),
    [(2, 2, 3, 3), (0, 3, 2, 4), (3, 0, 4, 2), (2, 1, 0, 2), (0, 0, 4, 2), (1, 2, 2, 99)],
)
def test_every_sample_listed(better, tied, other, draws):
    rivals = [1.0] * better + [0.5] * tied + [0.0] * other
    size = min(draws, len(rivals))
    sums = np.array([sum(sample) for sample in itertools.combinations(rivals, size)])
    found = moments(better, tied, len(rivals), Draws(draws, 0))
    for way, scale in enumerate((1.0, len(rivals) / size)):
        rank = 1 + sums * scale
        for row, values in zip(
            found[way], [1 / rank, rank, *(1.0 * (rank <= k) for k in KS)], strict=True
        ):
            assert row[0] == pytest.approx(values.mean(), rel=1e-12)
            assert row[1] == pytest.approx((values**2).mean(), rel=1e-12)


@pytest.mark.parametrize("drawn", [(1, 2), (2, 1), (0, 3)])
def test_draws_by_weight_listed(drawn):
    uniform, weighted = drawn
    values, weights = np.array([1.0, 1.0, 0.5, 0.0, 0.0]), np.array([3.0, 1.0, 2.0, 4.0, 0.0])
    share = weights / weights.sum()
    chances, ranks = [], []
    for first in itertools.combinations(range(5), uniform):
        for second in itertools.product(range(5), repeat=weighted):
            chances.append(np.prod(share[list(second)]) / comb(5, uniform))
            ranks.append(1 + values[list(first)].sum() + values[list(second)].sum())
    chance, rank = np.array(chances), np.array(ranks)
    found = moments(2, 1, 5, Draws(*drawn), (0.4, 0.2))[0]
    for row, of in zip(found, [1 / rank, rank, *(1.0 * (rank <= k) for k in KS)], strict=True):
        assert row[0] == pytest.approx((chance * of).sum(), rel=1e-12)
        assert row[1] == pytest.approx((chance * of**2).sum(), rel=1e-12)


@pytest.mark.parametrize(
    ("better", "everyone", "draws"), [(0, 50, 7), (11, 400, 100), (399, 400, 9)]
)
def test_reciprocal_rank_without_ties_has_a_closed_form(better, everyone, draws):
    n = everyone + 1
    none = comb(n - better - 1, draws + 1, exact=True) / comb(n, draws + 1, exact=True)
    wanted = n / ((better + 1) * (draws + 1)) * (1 - none)
    found = moments(better, 0, everyone, Draws(draws, 0))[0]
    assert found[0, 0] == pytest.approx(wanted, rel=1e-10)
    assert found[1, 0] == pytest.approx(1 + better * draws / everyone, rel=1e-10)


def test_nobody_to_draw():
    found = moments(0, 0, 0, Draws(5, 5))
    np.testing.assert_allclose(found, 1.0)
