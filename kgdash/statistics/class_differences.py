"""Do values differ between classes?"""

import numpy as np
import pandas as pd
from scipy.stats import kruskal

from kgdash.statistics.rounding import rounded


def kruskal_wallis(values: np.ndarray, classes: pd.Series) -> tuple[float, float]:
    """Test by ranks whether values are alike in all classes (Kruskal and Wallis 1952).

    :param values: float64, ``(n,)``
    :param classes: of the values, ``(n,)``
    :return: ε² = H/(n − 1), the share of the ranks' variance that lies between classes, in [0, 1],
        and p; NaN for fewer than two classes, or where all values are equal
    """
    values = rounded(values)
    groups = [part for _, part in pd.Series(values, classes.index).groupby(classes, observed=True)]
    if len(groups) < 2 or not np.ptp(values):
        return np.nan, np.nan
    test = kruskal(*groups)
    return float(test.statistic / (len(values) - 1)), float(test.pvalue)
