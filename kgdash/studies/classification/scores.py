"""How well labelled triples were classified: accuracy to average precision, with intervals.

Defined in numbers.md#7-triple-classification.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kgdash.progress import Progress, silent
from kgdash.statistics.bootstrap import FEWEST, percentile_interval, times_drawn
from kgdash.statistics.rounding import rounded
from kgdash.statistics.unseen import allow_for_unseen

#: metric -> what it is; all are in [0, 1], higher is better
METRICS = {
    "accuracy": "share of triples classified right",
    "precision": "share of true ones among those predicted true",
    "recall": "share of true triples predicted true",
    "f1": "harmonic mean of precision and recall",
    "roc_auc": "chance that a true triple scores above a false one, ties half; 0.5 is guessing",
    "pr_auc": "average precision over all thresholds; guessing has the share of true triples",
}

#: resamples of the bootstrap over triples
RESAMPLES = 1000

#: weights of triples that are summed up at once
_BLOCK = 2**21


def confusion(table: pd.DataFrame) -> dict[str, int]:
    """Count what was predicted to be what.

    :param table: ``label`` and ``predicted`` (bool)
    :return: "true_positive", "false_positive", "true_negative", "false_negative"
    """
    label, predicted = table["label"].to_numpy(), table["predicted"].to_numpy()
    return {
        "true_positive": int((label & predicted).sum()),
        "false_positive": int((~label & predicted).sum()),
        "true_negative": int((~label & ~predicted).sum()),
        "false_negative": int((label & ~predicted).sum()),
    }


def metric_table(
    table: pd.DataFrame,
    paired: bool,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return `metric_values` with `metric_intervals`, one row each.

    :return: ``figure`` (str), ``value``, ``low``, ``high`` (float64)
    """
    ends = metric_intervals(table, paired, level, seed, progress=progress)
    rows = [(name, value, *ends[name]) for name, value in metric_values(table).items()]
    return pd.DataFrame(rows, columns=["figure", "value", "low", "high"])


def metric_values(table: pd.DataFrame) -> dict[str, float]:
    """Compute `METRICS`, by scikit-learn.

    :param table: ``label``, ``predicted`` (bool) and ``score`` (float64, without NaN)
    :return: NaN where a metric is not defined: precision if nothing is predicted true, recall if
        nothing is, F1 if neither, the areas unless both labels are there
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    counts = confusion(table)
    right = counts["true_positive"]
    predicted = right + counts["false_positive"]
    true = right + counts["false_negative"]
    values = {
        "accuracy": _ratio(right + counts["true_negative"], len(table)),
        "precision": _ratio(right, predicted),
        "recall": _ratio(right, true),
        "f1": _ratio(2 * right, predicted + true),
        "roc_auc": np.nan,
        "pr_auc": np.nan,
    }
    if 0 < true < len(table):
        # Ranks in place of scores: scikit-learn refuses infinite ones.
        label, place = table["label"].to_numpy(), _places(table["score"].to_numpy())
        values["roc_auc"] = float(roc_auc_score(label, place))
        values["pr_auc"] = float(average_precision_score(label, place))
    return values


def metric_intervals(
    table: pd.DataFrame,
    paired: bool,
    level: float = 0.95,
    seed: int | Sequence[int] = 0,
    resamples: int = RESAMPLES,
    progress: Progress = silent,
) -> dict[str, tuple[float, float]]:
    """Return the percentile bootstrap of `metric_values` over triples.

    It allows for what no triple showed, as intervals of mean ReliK do. True and false triples are
    drawn apart, so that each resample has as many of either. Threshold and negatives stay as they
    are.

    :param table: as for `metric_values`
    :param paired: the table holds n true triples, then for each its corruption, in the same order;
        the two are drawn together
    :return: low and high end; NaN where the metric is not defined, there are not ten triples of
        either label, or all resamples are equal
    """
    label = table["label"].to_numpy()
    groups = [np.flatnonzero(label), np.flatnonzero(~label)]
    fewest = min(len(group) for group in groups)
    if fewest < FEWEST:
        return dict.fromkeys(METRICS, (np.nan, np.nan))
    rng = np.random.default_rng(seed)
    block, parts = max(1, _BLOCK // len(table)), []
    for start in range(0, resamples, block):
        count = min(block, resamples - start)
        weights = np.empty((count, len(table)))
        drawn = [
            times_drawn(rng.integers(0, len(group), size=(count, len(group))))
            for group in groups[: 1 if paired else 2]
        ]
        for group, times in zip(groups, [*drawn, drawn[0]] if paired else drawn, strict=True):
            weights[:, group] = times
        parts.append(weighted_metrics(table, weights))
        progress(start + count, resamples)
    found = [np.concatenate([part[name] for part in parts]) for name in METRICS]
    ends = np.stack(percentile_interval(np.stack(found, axis=1), level), axis=1)
    ends[rounded(ends[:, 0]) == rounded(ends[:, 1])] = np.nan
    values = np.array(list(metric_values(table).values()))
    ends = allow_for_unseen(values, ends, fewest, level)
    return {name: (float(a), float(b)) for name, (a, b) in zip(METRICS, ends, strict=True)}


def weighted_metrics(table: pd.DataFrame, weights: np.ndarray) -> dict[str, np.ndarray]:
    """Compute `METRICS` for many weightings of the triples at once.

    As scikit-learn's functions with ``sample_weight``, which take a call per weighting, and thereby
    half a minute for a thousand of them on FB15k-237.

    :param table: as for `metric_values`
    :param weights: ≥ 0, shape ``(m, n)``; some weight on either label
    :return: metric -> float64, ``(m,)``
    """
    order = np.argsort(-_places(table["score"].to_numpy()), kind="stable")
    label, predicted = (table[column].to_numpy()[order] for column in ("label", "predicted"))
    last = np.flatnonzero(np.diff(_places(table["score"].to_numpy())[order], append=-1))
    ordered = weights[:, order]
    of_true = np.where(label, ordered, 0.0)
    above = np.cumsum(ordered, axis=1)[:, last]
    true_above = np.cumsum(of_true, axis=1)[:, last]
    false_above = above - true_above
    true, false = true_above[:, -1], false_above[:, -1]
    gained = np.diff(true_above, axis=1, prepend=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        areas = np.diff(false_above, axis=1, prepend=0) * (true_above - gained / 2)
        precision = np.where(above > 0, true_above / above, 0.0)
        right, all_predicted = of_true @ predicted, ordered @ predicted
        return {
            "accuracy": (right + false - (all_predicted - right)) / (true + false),
            "precision": right / all_predicted,
            "recall": right / true,
            "f1": 2 * right / (all_predicted + true),
            "roc_auc": areas.sum(axis=1) / (true * false),
            "pr_auc": (gained * precision).sum(axis=1) / true,
        }


def _places(scores: np.ndarray) -> np.ndarray:
    """Number the distinct scores from 0, ascending: int64, ``(n,)``."""
    return np.unique(scores, return_inverse=True)[1]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
