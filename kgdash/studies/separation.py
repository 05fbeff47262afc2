"""How well a measure tells true instances from false ones (§8, §9)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from kgdash.errors import KgdashError, unknown_name
from kgdash.studies.instances import CHAINS, MEASURES

#: the row over all groups together
ALL = "all"


def separation(
    table: pd.DataFrame,
    measure: str = "relik",
    chains: str = "best",
    confidence: float = 0.95,
    order: str = "given",
) -> pd.DataFrame:
    """Compare true and false instances per group, and over all groups together.

    A figure that is not defined (an interval of fewer than two instances, the AUC of one class,
    Cohen's d without spread) is NaN. The row "all" pools the instances; where groups differ in
    level, it says less than the groups do.

    :param table: the ``table`` of `kgdash.studies.instances.ScoredInstances`
    :param measure: one of "relik", "relik_head", "reciprocal_rank", "reciprocal_rank_head"
    :param chains: "best" or "mean" of an instance's chains
    :param confidence: of the intervals on the means, in (0, 1)
    :param order: "given" (of appearance) or "separation" (by ROC-AUC, best first, undefined
        last; then the larger group); "all" is the last row in either
    :return: ``group, n_true, n_false`` (int64), ``mean_true, low_true, high_true, mean_false,
        low_false, high_false`` (Student's t), ``roc_auc`` (in [0, 1]; ties count half; 0.5 is
        chance), ``cohens_d`` (pooled standard deviation)
    :raises KgdashError: on an unknown measure or choice of chains, or a confidence out of range
    """
    column = measure_column(measure, chains)
    if not 0 < confidence < 1:
        raise KgdashError(f"expected a confidence between 0 and 1; found {confidence}")
    labels, values = table["label"].to_numpy(dtype=bool), table[column].to_numpy(dtype=float)
    rows = [
        {"group": group} | _compare(values[at][labels[at]], values[at][~labels[at]], confidence)
        for group, at in table.reset_index().groupby("group", sort=False).indices.items()
    ]
    if order == "separation":
        rows.sort(key=_by_separation)
    elif order != "given":
        raise unknown_name("order", order, ("given", "separation"), "separation")
    rows.append({"group": ALL} | _compare(values[labels], values[~labels], confidence))
    return pd.DataFrame(rows)


def measure_column(measure: str, chains: str) -> str:
    """Name the column of the scored instances that holds a measure.

    :raises KgdashError: if there is no such measure or choice of chains
    """
    if measure not in MEASURES:
        raise unknown_name("measure", measure, list(MEASURES), "separation")
    if chains not in CHAINS:
        raise unknown_name("choice of chains", chains, CHAINS, "separation")
    return f"{measure}_{chains}"


def roc_auc(true: np.ndarray, false: np.ndarray) -> float:
    """Return the share of (true, false) pairs in which the true value is larger; ties count half.

    It is the Mann–Whitney U statistic over the number of pairs.

    :param true: shape ``(n,)``
    :param false: shape ``(m,)``
    :return: in [0, 1], 0.5 for chance; NaN if either is empty
    """
    if not len(true) or not len(false):
        return np.nan
    ranks = stats.rankdata(np.concatenate([true, false]))[: len(true)]
    wins = ranks.sum() - len(true) * (len(true) + 1) / 2
    return float(wins / (len(true) * len(false)))


def cohens_d(true: np.ndarray, false: np.ndarray) -> float:
    """Return the difference of the means in units of the pooled standard deviation.

    :param true: shape ``(n,)``
    :param false: shape ``(m,)``
    :return: any real number; NaN if either is empty, n + m < 3, or nothing varies
    """
    freedom = len(true) + len(false) - 2
    if not len(true) or not len(false) or freedom < 1 or _constant(true) & _constant(false):
        return np.nan
    squares = sum(float(((part - part.mean()) ** 2).sum()) for part in (true, false))
    return float((true.mean() - false.mean()) / np.sqrt(squares / freedom))


def mean_interval(values: np.ndarray, confidence: float) -> tuple[float, float, float]:
    """Return mean, low and high end of Student's t interval; NaN where they are not defined."""
    if not len(values):
        return np.nan, np.nan, np.nan
    mean = float(values.mean())
    if len(values) < 2:
        return mean, np.nan, np.nan
    error = 0.0 if _constant(values) else float(values.std(ddof=1)) / np.sqrt(len(values))
    reach = float(stats.t.ppf(0.5 + confidence / 2, len(values) - 1)) * error
    return mean, mean - reach, mean + reach


def _by_separation(row: dict) -> tuple[float, int, str]:
    return -np.nan_to_num(row["roc_auc"], nan=-1.0), -row["n_true"] - row["n_false"], row["group"]


def _constant(values: np.ndarray) -> bool:
    """Tell whether all values are equal: rounding can give such values a tiny variance."""
    return bool((values == values[0]).all())


def _compare(true: np.ndarray, false: np.ndarray, confidence: float) -> dict:
    row: dict[str, float] = {"n_true": len(true), "n_false": len(false)}
    for name, values in (("true", true), ("false", false)):
        ends = mean_interval(values, confidence)
        row |= dict(zip((f"mean_{name}", f"low_{name}", f"high_{name}"), ends, strict=True))
    return row | {"roc_auc": roc_auc(true, false), "cohens_d": cohens_d(true, false)}
