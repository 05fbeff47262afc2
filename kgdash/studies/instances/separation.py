"""How well measures tell true instances from false ones.

Defined in numbers.md#11-instances-true-and-false.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from kgdash.engine.workers import run_in_threads
from kgdash.errors import check_name
from kgdash.progress import Progress, silent
from kgdash.statistics.auc_by_counts import auc_by_counts
from kgdash.statistics.bootstrap import Bootstrap, percentile_interval
from kgdash.statistics.multiple_testing import holm
from kgdash.studies.instances.instances import AGGREGATES, MEASURES
from kgdash.studies.instances.separation_bootstrap import Resampled, resampled

#: the row over all groups together
ALL = "all"

#: what is compared on the same instances: over all triples of a grounding, or over those alone that
#: give the answer
COMPARED = {
    "all triples": ("relik", "reciprocal_rank", "score"),
    "answering triples": ("relik_answer", "reciprocal_rank_answer", "score_answer"),
}


@dataclass(frozen=True)
class Comparison:
    """What several measures make of the same instances.

    ``by_measure``: measure -> table of `separation`. ``differences``: how much larger the first
    measure's ROC-AUC is than each other's: ``group``, ``against`` (str), ``difference``, ``low``,
    ``high`` (float64, in [-1, 1]; interval by bootstrap, both measures on the same resamples).
    """

    by_measure: Mapping[str, pd.DataFrame]
    differences: pd.DataFrame

    def overall(self, measure: str) -> pd.Series:
        """Return a measure's row over all groups."""
        return self.by_measure[measure].set_index("group").loc[ALL]

    def difference(self, against: str, group: str = ALL) -> pd.Series:
        """Return the row of ``differences`` of a group against a measure."""
        return self.differences.set_index(["group", "against"]).loc[(group, against)]


def separation(
    table: pd.DataFrame,
    measure: str = "relik",
    aggregate: str = "max",
    bootstrap: Bootstrap = Bootstrap(),
    order: str = "given",
) -> pd.DataFrame:
    """Compare true and false instances per group, and over all groups together.

    Intervals are percentile bootstraps, the wider of two: over questions, the instances of one, a
    true answer and a false one, drawn together in whatever groups they are; and over answers, since
    groundings of one answer share triples. p-values are of the two-sided Mann–Whitney test, which
    takes instances as independent. A figure that is not defined (an interval of one question and
    answer, the AUC of one class, Cohen's d without spread) is NaN. The row "all" pools the
    instances; where groups differ in level, it says less than the groups do. It has no p-value:
    what several rules predict is an instance of each, so that they are not independent.

    :param table: the ``table`` of `kgdash.studies.instances.instances.ScoredInstances`
    :param measure: one of `kgdash.studies.instances.instances.MEASURES`
    :param aggregate: "max" or "mean" of an instance's groundings
    :param order: "given" (of appearance) or "separation" (by ROC-AUC, best first, undefined
        last; then the larger group); "all" is the last row in either
    :return: ``group, questions, n_true, n_false`` (int64); ``mean_true, low_true, high_true,
        mean_false, low_false, high_false``; ``roc_auc, auc_low, auc_high`` (in [0, 1]; ties count
        half); ``auc_chance`` (what random values have: of the mean 0.5, of the greatest
        `auc_by_counts` of the groundings); ``cliffs_delta`` (Cliff 1993: 2 · AUC − 1, in [-1, 1]);
        ``average_precision, ap_low, ap_high`` (in [0, 1]; chance is ``share_true``); ``cohens_d``
        (pooled standard deviation); ``p`` and ``p_holm`` (corrected for the number of groups; both
        NaN for "all")
    :raises KgdashError: on an unknown measure or choice
    """
    compared = compare_measures(table, (measure,), aggregate, bootstrap, order)
    return compared.by_measure[measure]


def compare_measures(
    table: pd.DataFrame,
    measures: Sequence[str] = COMPARED["all triples"],
    aggregate: str = "max",
    bootstrap: Bootstrap = Bootstrap(),
    order: str = "given",
    progress: Progress = silent,
) -> Comparison:
    """Compute `separation` for several measures on the same resamples.

    :param table: as for `separation`, and so are the other parameters
    :param measures: the first is held against the others, and orders the groups of all
    :raises KgdashError: as `separation`
    """
    columns = {measure: measure_column(measure, aggregate) for measure in measures}
    check_name("order", order, ("given", "separation"), "separation")
    labels = table["label"].to_numpy(dtype=bool)
    units = [pd.factorize(table[column])[0] for column in ("question", "answer")]
    groups = dict(table.reset_index(drop=True).groupby("group", sort=False).indices)
    groups[ALL] = np.arange(len(table))
    values = {m: table[column].to_numpy(dtype=np.float64) for m, column in columns.items()}
    found = _of_groups(values, labels, units, groups, bootstrap, progress)
    rows = {measure: [found[group][0][measure] for group in groups] for measure in measures}
    differences = [row for group in groups for row in found[group][1]]
    if order == "separation":
        ordered = sorted(rows[measures[0]][:-1], key=_by_separation)
        place = {row["group"]: number for number, row in enumerate(ordered)} | {ALL: len(ordered)}
        for of_measure in (*rows.values(), differences):
            of_measure.sort(key=lambda row: place[row["group"]])
    against = pd.DataFrame(differences, columns=["group", "against", "difference", "low", "high"])
    parted = {group: (at[labels[at]], at[~labels[at]]) for group, at in groups.items()}
    by_measure = {}
    for measure, of_measure in rows.items():
        count = _counted(table, measure, aggregate)
        chance = {
            g: auc_by_counts(count[true], count[false]) for g, (true, false) in parted.items()
        }
        by_measure[measure] = _table(of_measure, chance)
    return Comparison(by_measure, against)


def measure_column(measure: str, aggregate: str) -> str:
    """Name the column of the scored instances that holds a measure.

    :raises KgdashError: if there is no such measure or aggregate
    """
    check_name("measure", measure, MEASURES, "separation")
    check_name("aggregate", aggregate, AGGREGATES, "separation")
    return f"{measure}_{aggregate}"


def _counted(table: pd.DataFrame, measure: str, aggregate: str) -> np.ndarray:
    """Return of how many values each instance's is the greatest: of a mean, 1."""
    if aggregate == "mean":
        return np.ones(len(table), dtype=np.int64)
    name = "distinct_answer" if measure.endswith("_answer") else "distinct"
    return table[name].to_numpy(dtype=np.int64)


def roc_auc(true: np.ndarray, false: np.ndarray) -> float:
    """Return the share of (true, false) pairs in which the true value is larger; ties count half.

    It is the U statistic of Mann and Whitney (1947) over the number of pairs.

    :param true: shape ``(n,)``
    :param false: shape ``(m,)``
    :return: in [0, 1], 0.5 for chance; NaN if either is empty
    """
    if not len(true) or not len(false):
        return np.nan
    ranks = stats.rankdata(np.concatenate([true, false]))[: len(true)]
    wins = ranks.sum() - len(true) * (len(true) + 1) / 2
    return float(wins / (len(true) * len(false)))


def average_precision(true: np.ndarray, false: np.ndarray) -> float:
    """Return the area under the precision-recall steps, as scikit-learn has it.

    :param true: shape ``(n,)``
    :param false: shape ``(m,)``
    :return: in (0, 1]; chance is n / (n + m); NaN if either is empty, or a value is NaN
    """
    # Here, since scikit-learn takes a second to import.
    from sklearn.metrics import average_precision_score

    if not len(true) or not len(false):
        return np.nan
    # Ranks in place of values: scikit-learn refuses infinite ones.
    ranks = stats.rankdata(np.concatenate([true, false]))
    if np.isnan(ranks).any():  # as the mean of +∞ and −∞ is
        return np.nan
    return float(average_precision_score(np.arange(len(ranks)) < len(true), ranks))


def cohens_d(true: np.ndarray, false: np.ndarray) -> float:
    """Return the difference of the means in units of the pooled standard deviation (Cohen 1988).

    :param true: shape ``(n,)``
    :param false: shape ``(m,)``
    :return: any real number; NaN if either is empty, n + m < 3, or nothing varies
    """
    freedom = len(true) + len(false) - 2
    if not len(true) or not len(false) or freedom < 1 or _constant(true) & _constant(false):
        return np.nan
    squares = ((true - true.mean()) ** 2).sum() + ((false - false.mean()) ** 2).sum()
    return float((true.mean() - false.mean()) / np.sqrt(squares / freedom))


def _of_groups(
    values: dict[str, np.ndarray],
    labels: np.ndarray,
    units: Sequence[np.ndarray],
    groups: dict[str, np.ndarray],
    bootstrap: Bootstrap,
    progress: Progress,
) -> dict[str, tuple[dict[str, dict], list[dict]]]:
    """Compare each group, the one of all instances first: it takes as long as all others.

    Of its resamples, which are as large for a group of two, only the intervals stay.

    :return: by group: the row of each measure, and the differences
    """
    found: dict[str, tuple[dict[str, dict], list[dict]]] = {}

    def work(task: tuple[int, str], _: None) -> float:
        number, group = task
        at = groups[group]
        numbered = replace(bootstrap, seed=bootstrap.seed + number)
        own = {measure: of_all[at] for measure, of_all in values.items()}
        drawn = [resampled(own, labels[at], of[at], numbered) for of in units]
        about = {"group": group, "questions": len(np.unique(units[0][at]))}
        rows = {
            measure: about
            | _compare(of, labels[at], [each[measure] for each in drawn], bootstrap.level)
            for measure, of in own.items()
        }
        aucs = {measure: row["roc_auc"] for measure, row in rows.items()}
        found[group] = rows, _differences(group, aucs, drawn, bootstrap.level)
        return float(len(at))

    tasks = reversed(list(enumerate(groups)))
    run_in_threads(tasks, work, lambda: None, 2.0 * len(labels), progress)
    return found


def _by_separation(row: dict) -> tuple[float, int, str]:
    return -np.nan_to_num(row["roc_auc"], nan=-1.0), -row["n_true"] - row["n_false"], row["group"]


def _constant(values: np.ndarray) -> bool:
    """Tell whether all values are equal: rounding can give such values a tiny variance."""
    return bool((values == values[0]).all())


def _compare(
    values: np.ndarray, labels: np.ndarray, drawn: Sequence[dict[str, np.ndarray]], level: float
) -> dict:
    def interval(metric: str) -> tuple[float, float]:
        return _widest([each[metric] for each in drawn], level)

    true, false = values[labels], values[~labels]
    row: dict[str, Any] = {"n_true": len(true), "n_false": len(false)}
    for name, own in (("true", true), ("false", false)):
        row[f"mean_{name}"] = float(own.mean()) if len(own) else np.nan
        row[f"low_{name}"], row[f"high_{name}"] = interval(f"mean_{name}")
    row["roc_auc"] = roc_auc(true, false)
    row["auc_low"], row["auc_high"] = interval("roc_auc")
    row["cliffs_delta"] = 2 * row["roc_auc"] - 1
    row["average_precision"] = average_precision(true, false)
    row["ap_low"], row["ap_high"] = interval("average_precision")
    row["share_true"] = len(true) / len(values) if len(values) else np.nan
    row["cohens_d"] = cohens_d(true, false)
    both = len(true) and len(false)
    row["p"] = float(stats.mannwhitneyu(true, false).pvalue) if both else np.nan
    return row


def _widest(drawn: Sequence[np.ndarray], level: float) -> tuple[float, float]:
    """Return an interval that holds those of several ways to draw; NaN where none has one."""
    low, high = zip(*(percentile_interval(values, level) for values in drawn), strict=True)
    return float(np.fmin.reduce(low)), float(np.fmax.reduce(high))


def _differences(
    group: str, found: dict[str, float], drawn: Sequence[Resampled], level: float
) -> list[dict]:
    first, *others = found
    rows = []
    for other in others:
        low, high = _widest(
            [each[first]["roc_auc"] - each[other]["roc_auc"] for each in drawn], level
        )
        difference = found[first] - found[other]
        rows.append(
            {"group": group, "against": other, "difference": difference, "low": low, "high": high}
        )
    return rows


def _table(rows: list[dict], chance: dict[Hashable, float]) -> pd.DataFrame:
    """Make a table of rows, the one over all groups last, with the AUC by chance of each group."""
    table = pd.DataFrame(rows)
    table.insert(list(table).index("cliffs_delta"), "auc_chance", table["group"].map(chance))
    table.loc[table.index[-1], "p"] = np.nan
    table["p_holm"] = holm(table["p"].to_numpy())
    return table
