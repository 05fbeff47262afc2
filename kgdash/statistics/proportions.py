"""Intervals of shares, k of n: exact (Clopper and Pearson 1934), by the score (Wilson 1927)."""

from __future__ import annotations

import numpy as np

#: stands for 0 in distributions that have no 0
_NEVER = 1e-9


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


def exact_p(
    found: np.ndarray | float,
    n: np.ndarray | float,
    share: np.ndarray | float,
    known: np.ndarray | float,
) -> np.ndarray:
    """Return the p-value of a share that ``known`` draws gave, of as many ``n`` new ones.

    Twice the smaller tail of the beta-binomial distribution, the binomial one where ``known`` is
    large. Numbers that are not whole are rounded so that p grows.

    :param found: from 0 to ``n``, ``(k,)``; n ≥ 1, ``(k,)``
    :param share: what is expected, in [0, 1], ``(k,)``; ``known`` > 0, ``(k,)``
    :return: float64, ``(k,)``, in [0, 1]
    """
    from scipy.stats import betabinom

    draws, missed = np.floor(n), np.ceil(np.round(n - found, 9))
    of, not_of = (np.maximum(part * (known + 1), _NEVER) for part in (share, 1 - np.asarray(share)))
    below = betabinom.cdf(np.ceil(np.round(found, 9)), draws, of, not_of)
    above = betabinom.cdf(missed, draws, not_of, of)
    return np.minimum(2 * np.minimum(below, above), 1.0)


def wilson(found: np.ndarray, n: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the score interval, `scipy.stats.binomtest`'s.

    :param found: whole numbers from 0 to ``n``, ``(k,)``; n ≥ 1, ``(k,)``
    :return: low and high, float64, ``(k,)``, in [0, 1]
    """
    from scipy.stats import binomtest

    pairs = zip(np.atleast_1d(found), np.atleast_1d(n), strict=True)
    ends = [binomtest(int(k), int(of)).proportion_ci(level, "wilson") for k, of in pairs]
    return np.array([end.low for end in ends]), np.array([end.high for end in ends])
