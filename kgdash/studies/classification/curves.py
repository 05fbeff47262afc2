"""Curves over all thresholds of triple classification, and the histogram of scores.

Defined in numbers.md#7-triple-classification; the curves are scikit-learn's.
"""

import numpy as np
import pandas as pd

from kgdash.statistics.bins import bin_edges

#: bins of the histogram of scores
_BINS = 60


def roc_curve(test: pd.DataFrame) -> pd.DataFrame:
    """Return the ROC curve.

    :param test: ``label`` (bool), ``score`` (float64, without NaN)
    :return: ``threshold``, ``false_positive_rate``, ``true_positive_rate`` (float64), from
        predicting nothing true (∞) on; corners only. No rows unless both labels are there
    """
    from sklearn import metrics

    columns = ["threshold", "false_positive_rate", "true_positive_rate"]
    if test["label"].nunique() < 2:
        return pd.DataFrame(columns=columns, dtype=np.float64)
    # Ranks in place of scores: scikit-learn refuses infinite ones.
    values, places = np.unique(test["score"], return_inverse=True)
    false, true, at = metrics.roc_curve(test["label"], places)
    scores = np.append(np.inf, values[at[1:].astype(np.int64)])
    return pd.DataFrame(dict(zip(columns, (scores, false, true), strict=True)))


def precision_recall_curve(test: pd.DataFrame) -> pd.DataFrame:
    """Return the precision-recall curve.

    :param test: as for `roc_curve`
    :return: ``threshold``, ``precision``, ``recall`` (float64), from the lowest threshold on; the
        last row is the end at recall 0. No rows unless both labels are there
    """
    from sklearn import metrics

    columns = ["threshold", "precision", "recall"]
    if test["label"].nunique() < 2:
        return pd.DataFrame(columns=columns, dtype=np.float64)
    values, places = np.unique(test["score"], return_inverse=True)
    precision, recall, at = metrics.precision_recall_curve(
        test["label"], places, drop_intermediate=True
    )
    scores = np.append(values[at.astype(np.int64)], np.inf)
    return pd.DataFrame(dict(zip(columns, (scores, precision, recall), strict=True)))


def score_histogram(test: pd.DataFrame, relation: int | None = None) -> pd.DataFrame:
    """Count scores in bins of one width: ``left``, ``right``, ``true``, ``false``.

    Infinite scores are in none.

    :param test: ``relation`` (ids), ``label`` (bool), ``score`` (float64)
    :param relation: id, for its triples alone
    """
    rows = test if relation is None else test[test["relation"] == relation]
    scores, label = rows["score"].to_numpy(), rows["label"].to_numpy()
    edges = bin_edges(scores[np.isfinite(scores)], _BINS)
    true = np.histogram(scores[np.isfinite(scores) & label], edges)[0]
    false = np.histogram(scores[np.isfinite(scores) & ~label], edges)[0]
    return pd.DataFrame({"left": edges[:-1], "right": edges[1:], "true": true, "false": false})
