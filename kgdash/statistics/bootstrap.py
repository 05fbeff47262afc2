"""Intervals by resampling (Efron 1979): one home for levels and percentiles."""

from __future__ import annotations

import numpy as np

from kgdash.errors import KgdashError


def check_level(level: float) -> None:
    """Refuse a level of intervals that is out of range.

    :raises KgdashError: unless it is in (0, 1)
    """
    if not 0 < level < 1:
        raise KgdashError(f"expected a level between 0 and 1; found {level:g}")


def percentiles(values: np.ndarray, confidence: float) -> tuple[float, float]:
    """Return the ends of the percentile interval: NaN where no resample has the figure.

    :param values: float64, ``(resamples,)``; NaN are left out
    :param confidence: in (0, 1)
    """
    values = values[np.isfinite(values)]
    if not len(values):
        return np.nan, np.nan
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
