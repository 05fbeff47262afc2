"""Does ReliK predict where a model classifies triples right? Accuracy by ReliK of the true triple.

Defined in numbers.md#7-triple-classification.
"""

import numpy as np
import pandas as pd

from kgdash.graph import IDS
from kgdash.progress import Progress, silent
from kgdash.ranking.ratio_metrics import mean_estimate
from kgdash.statistics.proportions import wilson
from kgdash.studies.classification.calibration import quantile_bins
from kgdash.studies.classification.classification import Classification

#: quantiles of ReliK
BINS = 5


def exact_accuracy_by_relik(found: Classification, progress: Progress = silent) -> pd.DataFrame:
    """Return `accuracy_by_relik` by exact ReliK.

    :raises KgdashError: if a score is NaN
    """
    relik = found.run.relik(triples=_true_triples(found), progress=progress)
    return accuracy_by_relik(found, relik["relik"].to_numpy())


def accuracy_by_relik(found: Classification, relik: np.ndarray, bins: int = BINS) -> pd.DataFrame:
    """Compare how often triples are predicted right in quantiles of the true triple's ReliK.

    :param relik: of the true test triples, in their order: float64 in (0, 1], ``(n,)``
    :param bins: at most so many quantiles; triples of equal ReliK share theirs
    :return: one row per quantile, ascending: ``true`` (int64: true triples), ``relik`` (mean),
        ``relik_least``, ``relik_most``, ``recall`` with ``recall_low``, ``recall_high`` (Wilson's
        interval), and ``accuracy`` over the true triples and their corruptions, with
        ``accuracy_low``, ``accuracy_high`` (bootstrap over the pairs, allowing for what none
        showed); these three are NaN for given negatives, which belong to no true triple
    """
    level = found.setting.level

    label, predicted = (found.test[column].to_numpy() for column in ("label", "predicted"))
    right = predicted[label]
    pairs = (
        np.mean([right, ~predicted[~label]], axis=0)
        if found.setting.paired
        else np.full(len(right), np.nan)
    )
    code = quantile_bins(relik, bins)
    rows = []
    for number in range(int(code.max()) + 1):
        at = code == number
        (least,), (most,) = wilson(right[at].sum(), at.sum(), level)
        accuracy = mean_estimate(pairs[at], level)
        values = relik[at]
        rows.append(
            {"true": int(at.sum()), "relik": values.mean()}
            | {"relik_least": values.min(), "relik_most": values.max()}
            | {"recall": right[at].mean(), "recall_low": least, "recall_high": most}
            | {"accuracy": accuracy.value}
            | {"accuracy_low": accuracy.low, "accuracy_high": accuracy.high}
        )
    return pd.DataFrame(rows)


def _true_triples(found: Classification) -> np.ndarray:
    return found.test.loc[found.test["label"], IDS].to_numpy()
