"""The ROC-AUC that the greatest of more random values has over the greatest of fewer.

Defined in numbers.md#11-instances-true-and-false.
"""

import numpy as np

#: the AUC of values that say nothing, where all instances have equally many
HALF = 0.5

#: how far from a half such an AUC must lie to be told
TOLD = 0.005


def auc_by_counts(true: np.ndarray, false: np.ndarray) -> float:
    """Return the ROC-AUC that numbers of values alone give, if of each number the greatest counts.

    Of m + n exchangeable values, the greatest lies among the m with probability m / (m + n). So it
    is the mean of m / (m + n) over the pairs (m of ``true``, n of ``false``): exact where values
    are apart, and none belongs to both of a pair; where they share some, the AUC lies between this
    and a half.

    :param true: how many values each true instance has, ≥ 1, int64, ``(n,)``
    :param false: the same of false ones, ``(m,)``
    :return: in (0, 1), 0.5 where all have equally many; NaN if either is empty
    """
    if not len(true) or not len(false):
        return np.nan
    (own, times), (other, others) = (np.unique(n, return_counts=True) for n in (true, false))
    won = own[:, None] / (own[:, None] + other)
    return float(times @ won @ others / (len(true) * len(false)))


def is_told(auc: float) -> bool:
    """Tell whether such an AUC is so far from a half that readers are told; False for NaN."""
    return bool(abs(auc - HALF) >= TOLD)
