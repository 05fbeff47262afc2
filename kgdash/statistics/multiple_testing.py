"""Several tests at once: p-values corrected for their number."""

import gc

import numpy as np


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
        # multipletests collects garbage, which takes a second where much is loaded.
        gc.freeze()
        try:
            corrected[given] = multipletests(p_values[given], method="holm")[1]
        finally:
            gc.unfreeze()
    return corrected
