"""How many negatives of a whole population are better, bounded by those of a sample.

Defined in numbers.md#4-relik.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from kgdash.engine.protocol_kernels import at_most
from kgdash.graph.sorted_slices import distinct_rows


def better_interval(
    better: np.ndarray, sampled: np.ndarray, population: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bound the number of better negatives in the whole population (numbers.md#4-relik).

    The sampled number is hypergeometric; as in Clopper and Pearson's interval, the bounds are the
    smallest and largest numbers under which it would not be in a tail of (1 − level) / 2.

    :param better: better negatives in the sample, int64, ``(n,)``
    :param sampled: sample sizes
    :param population: population sizes
    :param level: at least this coverage, in (0, 1)
    :return: lowest and highest number, int64, ``(n,)`` each
    """
    tail = (1 - level) / 2
    cases, _, case, _ = distinct_rows(np.stack([better, sampled, population], axis=1))
    better, sampled, population = np.ascontiguousarray(cases.T)
    most = population - sampled + better
    share = better / np.maximum(sampled, 1)
    left = (population - sampled) / np.maximum(population - 1, 1)
    spread = np.sqrt(share * (1 - share) / np.maximum(sampled, 1) * left)
    reach = stats.norm.isf(tail) * spread * population
    lowest = _first(
        lambda k: _at_most(sampled - better, population - k, population, sampled) > tail,
        better,
        most,
        share * population - reach,
    )
    highest = _first(
        lambda k: _at_most(better, np.minimum(k + 1, population), population, sampled) <= tail,
        better,
        most,
        share * population + reach,
    )
    return lowest[case], highest[case]


def _at_most(*numbers: np.ndarray) -> np.ndarray:
    """Return what `at_most` fills: SciPy takes 4 s for one tail where 10¹² are drawn from."""
    found = np.empty(len(numbers[0]))
    at_most(*numbers, found)
    return found


def _first(
    holds: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray, guess: np.ndarray
) -> np.ndarray:
    """Find the least number in [low, high] from which a monotone condition holds (high if none).

    The search widens around the guess, then halves: each test sums a distribution's tail.
    """
    low, high = low.astype(np.int64), high.astype(np.int64)
    place = np.clip(guess.astype(np.int64), low, np.maximum(high - 1, low))
    step = np.maximum(1, (high - low) // 256)
    while (low < high).any():
        fine = np.asarray(holds(place), dtype=bool)
        high = np.where((low < high) & fine, place, high)
        low = np.where((low < high) & ~fine, place + 1, low)
        # Strides away from the guess until the answer lies between, then halves.
        stride = np.where(fine, high - step, low + step)
        step = step * 4
        place = np.where((stride > low) & (stride < high), stride, (low + high) // 2)
    return low
