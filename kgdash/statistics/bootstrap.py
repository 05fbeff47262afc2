"""Intervals by resampling (Efron 1979): one home for levels, draws and percentiles."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kgdash.errors import KgdashError

#: units (triples, queries, parts) below which resamples vary too little for an interval
FEWEST = 10

_MOST_RESAMPLES = 1_000_000


@dataclass(frozen=True)
class Bootstrap:
    """How an interval is bootstrapped.

    ``level`` in (0, 1), ``resamples`` from 1 to a million, ``seed`` of the draws ≥ 0.

    :raises KgdashError: if one of them is out of range
    """

    level: float = 0.95
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 1 <= self.resamples <= _MOST_RESAMPLES:
            raise KgdashError(
                f"expected 1 to {_MOST_RESAMPLES:,} resamples; found {self.resamples:,}"
            )
        if self.seed < 0:
            raise KgdashError(f"expected a seed ≥ 0; found {self.seed}")


def check_level(level: float) -> None:
    """Refuse a level of intervals that is out of range.

    :raises KgdashError: unless it is in (0, 1)
    """
    if not 0 < level < 1:
        raise KgdashError(f"expected a level between 0 and 1; found {level:g}")


def percentile_interval(values: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the percentile interval along the first axis.

    :param values: in each resample: float64, ``(resamples, …)``; those that are not
        finite are left out
    :return: the lower and the upper end, each of shape ``(…)``; NaN where no resample is finite
    """
    values = np.where(np.isfinite(values), values, np.nan)
    ends = np.full((2, *values.shape[1:]), np.nan)
    some = np.isfinite(values).any(axis=0)
    quantiles = [(1 - level) / 2, (1 + level) / 2]
    if some.all():
        whole = np.isfinite(values).all()
        ends[...] = (np.quantile if whole else np.nanquantile)(values, quantiles, axis=0)
    elif some.any():
        ends[:, some] = np.nanquantile(values[:, some], quantiles, axis=0)
    return ends[0], ends[1]


def resample_counts(
    count: int, resamples: int, rng: np.random.Generator, step: int
) -> Iterator[tuple[slice, np.ndarray]]:
    """Draw rows with replacement, as many as there are, and count how often each was drawn.

    :param count: rows, ≥ 1
    :param rng: what is drawn does not depend on ``step``
    :param step: resamples in a block, ≥ 1
    :return: blocks of resamples and their counts: float64, ``(block, count)``
    """
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = rng.integers(0, count, size=(size, count))
        yield slice(start, start + size), times_drawn(drawn)


def times_drawn(drawn: np.ndarray) -> np.ndarray:
    """Count how often each row was drawn in each resample.

    :param drawn: numbers of rows: int64, ``(resamples, count)``, each in [0, count)
    :return: float64, ``(resamples, count)``
    """
    size, count = drawn.shape
    places = drawn + np.arange(size)[:, None] * count
    return np.bincount(places.ravel(), minlength=size * count).reshape(size, count).astype(float)
