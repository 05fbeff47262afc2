"""What draws did not show: the rule of three, for means of values that have bounds."""

import numpy as np

#: bounds of shares, ReliK and reciprocal ranks
UNIT = (0.0, 1.0)


def allow_for_unseen(
    means: np.ndarray,
    ends: np.ndarray,
    counts: np.ndarray | int,
    level: float,
    bounds: tuple[float, float] = UNIT,
) -> np.ndarray:
    """Widen intervals of means by values that no draw showed.

    With c = −ln(1 − level), 3 at 95%, up to c/n of all values may be any: (1 − c/n)ⁿ ≈ 1 − level.
    Of values in [a, b] they take the mean ȳ up by c/n (b − ȳ) at most, and down by c/n (ȳ − a),
    each added to the interval's own reach as the root of the sum of squares. A bootstrap knows of
    nothing that was not drawn: of 10 to 50 values that are mostly small and rarely 1 it covers the
    mean in 44 to 88 of 100 cases.

    :param means: float64, ``(k,)``
    :param ends: float64, ``(k, 2)``: low and high ends; NaN stays
    :param counts: int64, ``(k,)`` or one for all: values behind each mean
    :param level: of the intervals, in (0, 1)
    :param bounds: a and b
    :return: ``(k, 2)``, within the bounds
    """
    least, most = bounds
    share = -np.log1p(-level) / counts
    low = means - np.hypot(means - ends[:, 0], share * (means - least))
    high = means + np.hypot(ends[:, 1] - means, share * (most - means))
    return np.stack([low, high], axis=1).clip(least, most)
