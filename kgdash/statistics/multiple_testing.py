"""Several tests at once: p-values corrected for their number, and what is told by them."""

import gc
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

#: p-values corrected by Holm's method that count as beyond chance
LEVEL = 0.05


def holm(p_values: np.ndarray) -> np.ndarray:
    """Correct p-values for their number (Holm 1979), as statsmodels' `multipletests`.

    The family-wise error rate stays as chosen, however the tests depend on one another.

    :param p_values: in [0, 1], shape ``(n,)``; NaN ones are not counted and stay NaN
    :return: float64: corrected ones, ≥ the given, at most 1
    """
    # Here, since statsmodels takes a second to import and most pages test nothing.
    from statsmodels.stats.multitest import multipletests

    p_values = np.asarray(p_values, dtype=np.float64)
    corrected = np.full(len(p_values), np.nan)
    given = np.isfinite(p_values)
    if given.any():
        # multipletests collects garbage, which takes a second where much is loaded. A server passes
        # over that already, and on.
        passes_over = gc.get_freeze_count() > 0
        if not passes_over:
            gc.freeze()
        try:
            corrected[given] = multipletests(p_values[given], method="holm")[1]
        finally:
            if not passes_over:
                gc.unfreeze()
    return corrected


def direction(row: Mapping[Any, Any]) -> int:
    """Return 1 or -1 where interval and Holm's p-value tell a coefficient from 0, else 0.

    :param row: ``low``, ``high``, ``p_holm``
    """
    if not row["p_holm"] <= LEVEL:
        return 0
    return int(row["low"] > 0) - int(row["high"] < 0)


def told_apart(tests: pd.DataFrame) -> pd.Series:
    """Tell in which pairs one run is better beyond chance.

    Swaps ask whether two runs are exchangeable, not whether the mean difference is 0: of one that
    is a little better on many triples and far worse on few, which a draw may lack, they tell that
    it is better. So the interval must leave 0 out, too.

    :param tests: of `kgdash.statistics.paired_tests.paired_tests`, with ``p_shared``, of `shared_p`
        there, corrected: one row per pair
    :return: bool, ``(pairs,)``: whether both p-values are below 5% and the interval leaves 0 out
    """
    apart = (tests["low"] > 0) | (tests["high"] < 0)
    return (tests["p_holm"] < LEVEL) & (tests["p_shared"] < LEVEL) & apart
