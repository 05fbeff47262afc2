"""How many planted errors stand at the top of a list (numbers.md#28-wrong-facts)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.statistics.proportions import clopper_pearson
from kgdash.statistics.rounding import rounded

#: shares of the triples that are listed
TOPS = (0.01, 0.02, 0.03, 0.04, 0.05)


def detection(
    suspicions: Mapping[str, np.ndarray],
    planted: np.ndarray,
    tops: Sequence[float] = TOPS,
    level: float = 0.95,
) -> pd.DataFrame:
    """Count planted errors among the most suspicious triples.

    Where triples tie at the end of a list, it takes a random choice of them: the mean over all
    choices is told.

    :param suspicions: method -> value per triple, float, ``(n,)``; the greatest are listed first,
        NaN (no value) last
    :param planted: which are errors: bool, ``(n,)``
    :param tops: shares of all triples that are listed, in (0, 1]
    :param level: of the intervals
    :return: one row per method and share: ``method``, ``top``, ``listed`` (int64), ``found``
        (float64: planted among them), ``precision``, ``low``, ``high``, ``recall``, ``recall_low``,
        ``recall_high`` (float64 in [0, 1]; Clopper and Pearson's intervals, of ``listed`` and of
        all planted)
    :raises KgdashError: if nothing is planted, or a share or level is out of range
    """
    if not planted.any():
        raise KgdashError("detection: no triple is a planted error")
    if not all(0 < top <= 1 for top in tops) or not 0 < level < 1:
        raise KgdashError(
            f"detection: expected shares in (0, 1] and a level; found {tops}, {level}"
        )
    rows = []
    for method, values in suspicions.items():
        known = rounded(np.where(np.isnan(values), -np.inf, values))
        for top in tops:
            listed = int(np.ceil(top * len(planted) - 1e-9))
            found = _found(known, planted, listed)
            precise = _interval(found, listed, level)
            recalled = _interval(found, int(planted.sum()), level)
            rows.append((method, top, listed, found, *precise, *recalled))
    ends = ["precision", "low", "high", "recall", "recall_low", "recall_high"]
    return pd.DataFrame(rows, columns=["method", "top", "listed", "found", *ends])


def _found(values: np.ndarray, planted: np.ndarray, listed: int) -> float:
    """Return the expected number of planted ones among the greatest values."""
    last = np.partition(values, len(values) - listed)[len(values) - listed]
    above, tied = values > last, values == last
    room = (listed - above.sum()) / tied.sum()
    return float(planted[above].sum() + room * planted[tied].sum())


def _interval(found: float, n: int, level: float) -> tuple[float, float, float]:
    """Return the share and its interval, also for a mean that is no whole number."""
    low, high = clopper_pearson(found, n, level)
    return found / n, float(low), float(high)
