"""Metrics that are a function of a ratio of two sums over ranks: for many groups, with intervals.

MR, MRR, Hits@k, AMR, AMRI and the geometric means are. Sums add up, so that NumPy's group
reductions give all groups at once, and a bootstrap needs no ranks but two numbers per triple.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from kgdash.engine.resampling_kernels import resample_groups
from kgdash.engine.workers import run_in_threads
from kgdash.progress import silent
from kgdash.ranking.metric import RatioMetric
from kgdash.statistics.bootstrap import percentile_interval
from kgdash.statistics.estimate import Estimate
from kgdash.statistics.rounding import rounded
from kgdash.statistics.unseen import UNIT, allow_for_unseen

#: resamples of a bootstrap, and the triples from which on its limit takes its place
RESAMPLES, LARGE = 1000, 2000

#: groups that a thread resamples before it takes more, and those whose resamples are held at once
_AT_ONCE, _HELD = 4, 4096


def mean_estimate(
    values: np.ndarray, level: float = 0.95, bounds: tuple[float, float] = UNIT
) -> Estimate:
    """Return a mean over triples with its interval.

    :param values: float64, one per triple: ReliK, reciprocal ranks, hits, …
    :param level: of the interval, in (0, 1)
    :param bounds: the least and greatest value that there can be
    :return: with an interval where `ratio_intervals` gives one
    """
    if not len(values):
        return Estimate(np.nan, np.nan, np.nan, 0)
    sizes, of = np.array([len(values)]), RatioMetric(bounds=bounds)
    ends = ratio_intervals(of, values, np.ones(len(values)), sizes, level, [(0, 0)])
    return Estimate(float(values.mean()), float(ends[0, 0]), float(ends[0, 1]), len(values))


def ratio_intervals(
    metric: RatioMetric,
    numerator: np.ndarray,
    denominator: np.ndarray,
    sizes: np.ndarray,
    level: float,
    seeds: Sequence[tuple[int, ...]],
) -> np.ndarray:
    """Return the bootstrap intervals of a metric over groups.

    The percentile bootstrap of 1,000 resamples (Efron 1979); from 2,000 triples on the normal
    interval by the delta method, which is the former's limit and differs less than two seeds do.
    Both allow for what no triple showed, where a metric has ``bounds`` (`allow_for_unseen`).

    :param numerator: float64: sum over a triple's ranks, one group's triples after the other's
    :param denominator: likewise
    :param sizes: int64: triples per group
    :param seeds: one per group: whole numbers ≥ 0; a group's interval depends on no other group
    :return: low and high ends, shape ``(groups, 2)``; NaN for groups of fewer triples than the
        metric's ``fewest``, where all values are equal, since resampling would claim a certainty
        that they do not give, and where an end is infinite
    """
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    ends = np.full((len(sizes), 2), np.nan)
    for first in range(0, len(sizes), _HELD):
        some = slice(first, first + _HELD)
        drawn = np.flatnonzero((sizes[some] >= metric.fewest) & (sizes[some] < LARGE))
        limits = starts[first : first + _HELD + 1]
        ratios = _resampled(numerator, denominator, limits, drawn, seeds[some])
        if len(drawn):
            whole = np.isfinite(ratios).all(axis=1)
            found = percentile_interval(ratios[whole].T, level)
            ends[first + drawn[whole]] = np.stack(found, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for group in np.flatnonzero(sizes >= LARGE):
            rows = slice(starts[group], starts[group + 1])
            above, below = numerator[rows], denominator[rows]
            ratio = above.sum() / below.sum()
            error = np.sqrt(((above - ratio * below) ** 2).sum()) / below.sum()
            ends[group] = ratio + ndtri((1 + level) / 2) * error * np.array([-1.0, 1.0])
        ends[rounded(ends[:, 0]) == rounded(ends[:, 1])] = np.nan
        if metric.bounds is not None:
            # Of empty groups, which have no interval, this is no sum.
            above, below = (
                np.add.reduceat(np.append(part, 0.0), starts[:-1])
                for part in (numerator, denominator)
            )
            ends = allow_for_unseen(above / below, ends, sizes, level, metric.bounds)
        ends = np.sort(metric.transform(ends), axis=1)
    ends[~np.isfinite(ends).all(axis=1)] = np.nan
    return ends


def _resampled(
    numerator: np.ndarray,
    denominator: np.ndarray,
    starts: np.ndarray,
    groups: np.ndarray,
    seeds: Sequence[tuple[int, ...]],
) -> np.ndarray:
    """Return the ratios of the resamples of some groups: ``(len(groups), RESAMPLES)``."""
    states = np.zeros(len(seeds), dtype=np.uint64)
    for group in groups:
        states[group] = np.random.SeedSequence(seeds[group]).generate_state(1, np.uint64)[0]
    ratios = np.empty((len(seeds), RESAMPLES))
    # The largest first, so that no thread is left with one at the end.
    order = groups[np.argsort(starts[groups] - starts[groups + 1], kind="stable")]
    tasks = np.array_split(order, -(-len(order) // _AT_ONCE)) if len(order) else []

    def work(task: np.ndarray, _: None) -> float:
        resample_groups(numerator, denominator, starts, states, task, ratios)
        return float(len(task))

    run_in_threads(tasks, work, lambda: None, float(len(order)), silent)
    return ratios[groups]
