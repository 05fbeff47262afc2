"""Metrics that are a function of a ratio of two sums over ranks: for many groups, with intervals.

MR, MRR, Hits@k, AMR, AMRI and the geometric means are. Sums add up, so that NumPy's group
reductions give all groups at once, and a bootstrap needs no ranks but two numbers per triple.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

#: resamples of a bootstrap, and the triples from which on its limit takes its place
RESAMPLES, LARGE = 1000, 2000


def _ranks(ranks: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    return ranks


def _ones(ranks: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    return np.ones(len(ranks))


def _same(mean: np.ndarray) -> np.ndarray:
    return mean


@dataclass(frozen=True)
class RatioMetric:
    """A metric ``finish(Σ part / Σ weight)``: functions of (ranks, candidates), of the ratio.

    ``finish`` is monotone, so that it carries intervals over.
    """

    part: Callable[[np.ndarray, np.ndarray], np.ndarray] = _ranks
    weight: Callable[[np.ndarray, np.ndarray], np.ndarray] = _ones
    finish: Callable[[np.ndarray], np.ndarray] = _same


_RATIOS = {
    "arithmetic_mean_rank": RatioMetric(),
    "inverse_arithmetic_mean_rank": RatioMetric(finish=lambda mean: 1 / mean),
    "inverse_harmonic_mean_rank": RatioMetric(lambda r, _: 1 / r),
    "harmonic_mean_rank": RatioMetric(lambda r, _: 1 / r, finish=lambda mean: 1 / mean),
    "geometric_mean_rank": RatioMetric(lambda r, _: np.log(r), finish=np.exp),
    "inverse_geometric_mean_rank": RatioMetric(
        lambda r, _: np.log(r), finish=lambda mean: np.exp(-mean)
    ),
    "adjusted_arithmetic_mean_rank": RatioMetric(weight=lambda _, n: (n + 1) / 2),
    "adjusted_arithmetic_mean_rank_index": RatioMetric(
        lambda r, _: r - 1, lambda _, n: (n - 1) / 2, lambda ratio: 1 - ratio
    ),
}


def ratio_metric(key: str) -> RatioMetric | None:
    """Return the form of a metric of `kgdash.metrics`, or None if it has none or is unknown."""
    name, _, k = key.rpartition("_")
    if name == "hits_at" and k.isdigit() and int(k) > 0:
        return RatioMetric(lambda r, _: r <= int(k))
    return _RATIOS.get(key)


def ratio_interval(
    metric: RatioMetric, part: np.ndarray, weight: np.ndarray, level: float, seed: tuple[int, ...]
) -> tuple[float, float]:
    """Return the bootstrap interval of a metric over one group.

    The percentile bootstrap of 1,000 resamples (Efron 1979); from 2,000 triples on the normal
    interval by the delta method, which is the former's limit and differs less than two seeds do.

    :param part: sum over a triple's ranks, shape ``(triples,)``
    :param weight: likewise
    :param level: in (0, 1)
    :param seed: whole numbers ≥ 0
    :return: low and high end; NaN for fewer than two triples
    """
    count = len(part)
    if count < 2:
        return np.nan, np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        if count < LARGE:
            drawn = np.random.default_rng(seed).integers(
                0, count, size=(RESAMPLES, count), dtype=np.int32
            )
            ratios = part[drawn].sum(axis=1) / weight[drawn].sum(axis=1)
            ends = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
        else:
            total = weight.sum()
            ratio = part.sum() / total
            error = np.sqrt(((part - ratio * weight) ** 2).sum()) / total
            ends = ratio + ndtri((1 + level) / 2) * error * np.array([-1.0, 1.0])
        low, high = np.sort(metric.finish(ends))
    return float(low), float(high)
