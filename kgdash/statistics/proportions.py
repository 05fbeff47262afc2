"""Intervals of shares, k of n: exact (Clopper and Pearson 1934), by the score (Wilson 1927)."""

from __future__ import annotations

import numpy as np


def clopper_pearson(
    found: np.ndarray | float, n: np.ndarray | int, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact interval, as `scipy.stats.binomtest` has it, also for means of counts.

    :param found: from 0 to ``n``, ``(k,)``; n ≥ 1, ``(k,)``
    :return: low and high, float64, ``(k,)``, in [0, 1]
    """
    from scipy.stats import beta

    tail, missed = (1 - level) / 2, n - found
    low = np.where(found > 0, beta.ppf(tail, found, missed + 1), 0.0)
    high = np.where(missed > 0, beta.ppf(1 - tail, found + 1, missed), 1.0)
    return low, high


def exact_p(found: np.ndarray, n: np.ndarray, share: float) -> np.ndarray:
    """Return the p-value of a share: twice the smaller tail of the binomial distribution.

    It is below 1 − level where `clopper_pearson` at that level leaves the share out.

    :param found: whole numbers from 0 to ``n``, ``(k,)``; n ≥ 1, ``(k,)``; ``share`` in [0, 1]
    :return: float64, ``(k,)``, in [0, 1]
    """
    from scipy.stats import binom

    tails = binom.cdf(found, n, share), binom.sf(np.asarray(found) - 1, n, share)
    return np.minimum(2 * np.minimum(*tails), 1.0)


def wilson(found: np.ndarray, n: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the score interval, `scipy.stats.binomtest`'s.

    :param found: whole numbers from 0 to ``n``, ``(k,)``; n ≥ 1, ``(k,)``
    :return: low and high, float64, ``(k,)``, in [0, 1]
    """
    from scipy.stats import binomtest

    pairs = zip(np.atleast_1d(found), np.atleast_1d(n), strict=True)
    ends = [binomtest(int(k), int(of)).proportion_ci(level, "wilson") for k, of in pairs]
    return np.array([end.low for end in ends]), np.array([end.high for end in ends])
