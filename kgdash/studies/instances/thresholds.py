"""A threshold on a measure: at or above it an instance is predicted true; how often rightly."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, check_name
from kgdash.studies.instances.separation import ALL, measure_column

#: what a threshold is good at
RATES = ("precision", "recall", "f1", "accuracy")

#: what a threshold may be chosen by
CRITERIA = ("f1", "accuracy")

_COUNTS = ["true_positive", "false_positive", "true_negative", "false_negative"]


def threshold_curve(labels: np.ndarray, values: np.ndarray) -> pd.DataFrame:
    """Return what each threshold does: exact, since only the values themselves make a difference.

    :param labels: bool, ``(n,)``
    :param values: float64, ``(n,)``, without NaN
    :return: one row per distinct value, ascending, and ∞ (nothing is predicted true): ``threshold``
        (float64), ``true_positive, false_positive, true_negative, false_negative`` (int64),
        `RATES` (float64, in [0, 1]; NaN where there is nothing to take a share of)
    """
    distinct, place = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    true, false = (
        np.bincount(place, weights=kind, minlength=len(distinct)).astype(np.int64)
        for kind in (labels, ~np.asarray(labels, dtype=bool))
    )
    below_true, below_false = (np.append(0, np.cumsum(counts)) for counts in (true, false))
    return _with_rates(
        pd.DataFrame(
            {
                "threshold": np.append(distinct, np.inf),
                "true_positive": below_true[-1] - below_true,
                "false_positive": below_false[-1] - below_false,
                "true_negative": below_false,
                "false_negative": below_true,
            }
        )
    )


def rates_at(curve: pd.DataFrame, threshold: float) -> pd.Series:
    """Return the row of any threshold, which need not be a value: it acts as the next value does.

    :param curve: of `threshold_curve`
    :param threshold: -∞ to ∞
    """
    at = int(np.searchsorted(curve["threshold"], threshold))
    return curve.iloc[at].drop("threshold")


def best_of(curve: pd.DataFrame, criterion: str = "f1") -> float:
    """Return the best threshold: the middle between the best value and the next lower one.

    On a log scale where both are positive. Of equally good values the highest is taken.

    :param curve: of `threshold_curve`
    :param criterion: one of `CRITERIA`
    :return: -∞ where calling all true is best, ∞ where calling nothing true is, or all is NaN
    :raises KgdashError: on an unknown criterion
    """
    return _middle(*best_span(curve, criterion))


def best_span(curve: pd.DataFrame, criterion: str = "f1") -> tuple[float, float]:
    """Return the thresholds that are as good as `best_of`: above the first, up to the second.

    :raises KgdashError: on an unknown criterion
    """
    check_name("criterion", criterion, CRITERIA, "kgdash")
    reached = curve[criterion].fillna(-1.0).to_numpy()
    at = int(np.flatnonzero(reached == reached.max())[-1])
    bounds = (-np.inf, *curve["threshold"].iloc[max(at - 1, 0) : at + 1])
    return float(bounds[-2]), float(bounds[-1])


def plain_threshold(curve: pd.DataFrame, criterion: str, places: Sequence[float]) -> float:
    """Return a threshold that is as good as `best_of`: a place, or the one of fewest digits.

    :param places: ascending, the first at or below all values, the last ∞
    """
    low, high = best_span(curve, criterion)
    inside = [place for place in places if low < place <= high]
    if inside:
        return inside[len(inside) // 2]
    best = _middle(low, high)
    rounded = (float(f"{best:.{digits}g}") for digits in range(1, 17))
    return next((place for place in rounded if low < place <= high), best)


def _middle(low: float, high: float) -> float:
    if np.isinf(high) or np.isinf(low):
        return np.inf if np.isinf(high) else -np.inf
    middle = float(np.sqrt(low) * np.sqrt(high) if low > 0 else low + (high - low) / 2)
    return middle if low < middle <= high else high  # those may be neighbours


def judged_thresholds(
    table: pd.DataFrame,
    measure: str = "relik",
    aggregate: str = "max",
    group: Hashable = ALL,
    seed: int = 0,
) -> pd.DataFrame:
    """Choose thresholds on one half of the questions and judge them on the other.

    The rates of a threshold on the instances that it was chosen on flatter it; on the other half
    they do not. Instances of one question are in the same half.

    :param table: the ``table`` of `kgdash.studies.instances.instances.ScoredInstances`
    :param measure: one of `kgdash.studies.instances.instances.MEASURES`
    :param aggregate: "max" or "mean"
    :param group: one of the table's, or "all"
    :param seed: of the choice of the half, ≥ 0
    :return: one row per criterion: ``criterion`` (str), ``threshold``, ``chosen_on`` and ``n``
        (int64: instances of either half), ``reached`` (the criterion where it was chosen), `RATES`
        on the other half. No rows where a half lacks one of the labels
    :raises KgdashError: on an unknown measure, aggregate or group, or a seed below 0
    """
    labels, values, units = measured(table, measure, aggregate, group)
    if seed < 0:
        raise KgdashError(f"expected a seed ≥ 0; found {seed}")
    count = int(units.max(initial=-1)) + 1
    first = np.random.default_rng(seed).permutation(count) < (count + 1) // 2
    chosen_on = first[units]
    halves = [(labels[half], values[half]) for half in (chosen_on, ~chosen_on)]
    columns = ["criterion", "threshold", "chosen_on", "n", "reached", *RATES]
    if any(len(np.unique(of)) < 2 for of, _ in halves):
        return pd.DataFrame(columns=columns)
    own, other = (threshold_curve(*half) for half in halves)
    rows = []
    for criterion in CRITERIA:
        threshold = best_of(own, criterion)
        row = {"criterion": criterion, "threshold": threshold}
        row |= {"chosen_on": len(halves[0][0]), "n": len(halves[1][0])}
        row["reached"] = rates_at(own, threshold)[criterion]
        rows.append(row | rates_at(other, threshold)[list(RATES)].to_dict())
    return pd.DataFrame(rows, columns=columns)


def measured(
    table: pd.DataFrame, measure: str, aggregate: str, group: Hashable = ALL
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the labels, values and questions (numbered from 0) of a group's instances.

    :param table: the ``table`` of `kgdash.studies.instances.instances.ScoredInstances`
    :raises KgdashError: on an unknown measure, aggregate or group
    """
    column = measure_column(measure, aggregate)
    rows = table if group == ALL else table[table["group"] == group]
    if rows.empty:
        raise KgdashError(f"expected a group of the instances, or {ALL!r}; found {group!r}")
    units = pd.factorize(rows["question"])[0]
    return rows["label"].to_numpy(dtype=bool), rows[column].to_numpy(dtype=np.float64), units


def _with_rates(counts: pd.DataFrame) -> pd.DataFrame:
    right, wrong, rejected, missed = (counts[c].to_numpy(dtype=np.float64) for c in _COUNTS)
    with np.errstate(divide="ignore", invalid="ignore"):
        return counts.assign(
            precision=right / (right + wrong),
            recall=right / (right + missed),
            f1=2 * right / (2 * right + wrong + missed),
            accuracy=(right + rejected) / (right + wrong + rejected + missed),
        )
