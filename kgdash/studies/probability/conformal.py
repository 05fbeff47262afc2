"""Thresholds of split conformal prediction, for all queries or by groups.

Defined in numbers.md#24-answer-sets. Vovk, Gammerman and Shafer, "Algorithmic learning in a random
world", 2005, for sets and for groups (Mondrian); Angelopoulos and Bates, "Conformal prediction: a
gentle introduction", 2023, for the quantile.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError

_LEAST = 1e-9


def check_epsilon(epsilon: float) -> None:
    """Refuse a share of misses that none is.

    :raises KgdashError: if it is not between 0 and 1
    """
    if not _LEAST <= epsilon < 1:
        raise KgdashError(f"expected an epsilon between {_LEAST:g} and 1; found {epsilon:g}")


def fewest_queries(epsilon: float) -> int:
    """Return the validation queries that a group needs for a threshold of its own: ⌈2/ε⌉."""
    return math.ceil(2 / epsilon)


def conformal_quantile(values: np.ndarray, epsilon: float) -> float:
    """Return the ⌈(n + 1)(1 − ε)⌉-th least of n values, +inf if there are not so many.

    >>> conformal_quantile(np.arange(1.0, 10.0), 0.1)
    9.0
    """
    place = _place(len(values), epsilon)
    return float(np.partition(values, place - 1)[place - 1]) if place <= len(values) else math.inf


def expected_coverage(queries: np.ndarray, epsilon: float) -> np.ndarray:
    """Return what thresholds of n exchangeable queries cover on average: ⌈(n + 1)(1 − ε)⌉/(n + 1).

    :param queries: n ≥ 1, ``(k,)``
    :return: float64, ``(k,)``, in [1 − ε, 1]
    """
    return np.array([min(_place(int(n), epsilon) / (n + 1), 1.0) for n in queries])


def _place(n: int, epsilon: float) -> int:
    # (n + 1)(1 − ε) may be a whole number that rounding would carry over.
    return max(1, math.ceil(round((n + 1) * (1 - epsilon), 9)))


def find_thresholds(values: np.ndarray, codes: np.ndarray, epsilon: float) -> pd.DataFrame:
    """Find a threshold for each group with enough validation queries, and one for the others.

    :param values: nonconformities of true answers, float64, ``(n,)``
    :param codes: groups, int64, ``(n,)``, -1 for none
    :return: ``group`` (-1: all others together, or all if these are too few), ``queries``, ``most``
    """
    fewest = fewest_queries(epsilon)
    numbers, counts = np.unique(codes[codes >= 0], return_counts=True)
    large = numbers[counts >= fewest]
    rest = values[~np.isin(codes, large)]
    pooled = rest if len(rest) >= fewest else values
    rows = [(-1, len(pooled), conformal_quantile(pooled, epsilon))]
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.add.outer(large, [0, 1]))
    for number, (begin, end) in zip(large.tolist(), ends.tolist(), strict=True):
        own = values[order[begin:end]]
        rows.append((number, len(own), conformal_quantile(own, epsilon)))
    return pd.DataFrame(rows, columns=["group", "queries", "most"])


def allowed_of(thresholds: pd.DataFrame, codes: np.ndarray) -> np.ndarray:
    """Return the greatest nonconformity that each query's set allows.

    :param thresholds: of `find_thresholds`
    :param codes: groups of queries, int64, ``(n,)``, -1 for none
    :return: float64, ``(n,)``
    """
    most = thresholds.set_index("group")["most"]
    return most.reindex(codes).fillna(most[-1]).to_numpy(np.float64)
