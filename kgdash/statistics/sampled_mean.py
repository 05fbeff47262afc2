"""The mean of many values from some of them: how sure it is, and how many it takes.

Defined in numbers.md#31-figures-of-samples. N values, of which n are drawn without replacement in
proportion from each stratum h, W_h = N_h / N: the mean is estimated by Σ W_h ȳ_h, whose variance is
Σ W_h² (1 − n_h / N_h) S_h² / n_h (Cochran, Sampling Techniques, 1977, chapters 2, 4 and 5). What
no draw showed may still be 3 / n of all values (the rule of three: (1 − 3/n)ⁿ ≈ 5%), each at most
d = max(ȳ, 1 − ȳ) away, so that the interval reaches √(z² variance + (1 − n / N) (3 d / n)²).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

#: fewer draws than this tell little of how much values vary within a stratum
FEWEST = 5

#: draws that a first look takes
FIRST = 100


@dataclass(frozen=True)
class SampledMean:
    """A mean of ``population`` values from ``n`` of them, and the ends of its interval.

    ``spread``: standard deviation of the values, within strata; with all drawn, the mean is exact.
    """

    value: float
    low: float
    high: float
    n: int
    population: int
    spread: float

    @property
    def exact(self) -> bool:
        """Whether all values are drawn."""
        return self.n == self.population

    @property
    def farthest(self) -> float:
        """How far from the mean a value may be that no draw showed."""
        return max(self.value, 1 - self.value)


def needed(
    spread: float, population: int, width: float, level: float = 0.95, farthest: float = 1.0
) -> int:
    """Return how many of ``population`` values to draw for an interval of some width.

    The least n with (z² s² / n + (3 d / n)²) (1 − n / N) ≤ a = (width / 2)²: the positive root of
    (a N + z² s²) n² − (z² s² N − 9 d²) n − 9 d² N. Without d that is n₀ / (1 + n₀ / N) with
    n₀ = z² s² / a.

    :param spread: standard deviation s of the values, within strata where these are drawn from
    :param width: of the whole interval, > 0
    :param level: of the interval, in (0, 1): 3 is −ln(1 − 0.95)
    :param farthest: d, in [0, 1]
    """
    accuracy = (width / 2) ** 2
    noise, unseen = (ndtri((1 + level) / 2) * spread) ** 2, (np.log(1 - level) * farthest) ** 2
    square = accuracy * population + noise
    linear = noise * population - unseen
    root = (linear + np.sqrt(linear**2 + 4 * square * unseen * population)) / (2 * square)
    return min(population, int(np.ceil(root)))


def strata(of: np.ndarray, n: int) -> np.ndarray:
    """Number the strata that n draws are dealt to: groups that get `FEWEST` or more, and the rest.

    :param of: int64, ``(N,)``: each value's group
    :param n: draws
    :return: int64, ``(N,)``, from 0 on; the rest is one stratum, with the smallest group if it
        would get too few itself
    """
    sizes = np.bincount(of)
    share = n / len(of)
    alone = np.flatnonzero(sizes * share >= FEWEST)
    alone = alone[np.argsort(-sizes[alone], kind="stable")]
    if 0 < (len(of) - sizes[alone].sum()) * share < FEWEST:
        alone = alone[:-1]
    number = np.full(len(sizes), len(alone))
    number[alone] = np.arange(len(alone))
    return number[of]


def draw(stratum: np.ndarray, n: int, order: np.ndarray) -> np.ndarray:
    """Draw n values, from each stratum its share, to the nearest whole number.

    :param stratum: of `strata`
    :param order: a random permutation, ``(N,)``: the first ones of each stratum are drawn, so that
        more draws keep most of the fewer
    :return: int64, ascending, ``(n,)``
    """
    sizes = np.bincount(stratum)
    fair = sizes * (n / len(stratum))
    counts = np.floor(fair).astype(np.int64)
    counts[np.argsort(counts - fair, kind="stable")[: n - counts.sum()]] += 1
    places = order[np.argsort(stratum[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    return np.sort(np.concatenate([places[s : s + c] for s, c in zip(starts, counts, strict=True)]))


def sampled_mean(
    values: np.ndarray, stratum: np.ndarray, sizes: np.ndarray, level: float = 0.95
) -> SampledMean:
    """Estimate a mean from the values that were drawn.

    :param values: float64, ``(n,)``, each in [0, 1]
    :param stratum: int64, ``(n,)``: where each was drawn
    :param sizes: int64: values in each stratum, all together
    :param level: of the interval, in (0, 1)
    """
    drawn = np.bincount(stratum, minlength=len(sizes))
    weights = sizes / sizes.sum()
    means = np.bincount(stratum, values, len(sizes)) / np.maximum(drawn, 1)
    squares = np.bincount(stratum, (values - means[stratum]) ** 2, len(sizes))
    variances = squares / np.maximum(drawn - 1, 1)
    mean, n, population = float(weights @ means), len(values), int(sizes.sum())
    spread = float(np.sqrt(weights @ variances))
    within = weights**2 * (1 - drawn / sizes) * variances / np.maximum(drawn, 1)
    found = SampledMean(mean, mean, mean, n, population, spread)
    if found.exact:
        return found
    unseen = (1 - n / population) * (np.log(1 - level) * found.farthest / n) ** 2
    reach = float(np.sqrt(ndtri((1 + level) / 2) ** 2 * within.sum() + unseen))
    return replace(found, low=max(0.0, mean - reach), high=min(1.0, mean + reach))
