"""Answer sets with a guarantee: split conformal prediction, for all queries or by groups.

Defined in numbers.md#24-answer-sets. Vovk, Gammerman and Shafer, "Algorithmic learning in a random
world", 2005, for sets and for groups (Mondrian); Angelopoulos and Bates, "Conformal prediction: a
gentle introduction", 2023, for the quantile; Romano, Sesia and Candès, "Classification with valid
and adaptive coverage", 2020; Zhu et al., "Conformalized answer set prediction for knowledge graph
embedding", 2025.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, check_name
from kgdash.files.table_cache import cached_table
from kgdash.graph import IDS, default_filter
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.studies.probability.answer_queries import answer_queries
from kgdash.studies.probability.answer_scores import SCORES, answer_scores, set_sizes
from kgdash.studies.probability.calibration import Calibration, fit_calibration
from kgdash.studies.probability.query_groups import GROUPINGS, Grouping, Queries, grouping

#: how thresholds are found: one for all, or one for each group
CONDITIONS = {"none": "one threshold for all queries", **GROUPINGS}

#: raise when the meaning of a stored table changes
_VERSION = 1


@dataclass(frozen=True)
class AnswerSetSetting:
    """What sets are wanted.

    ``epsilon`` in (0, 1): the share that may miss the true answer; ``score`` of `SCORES`;
    ``groups`` of `CONDITIONS`.

    :raises KgdashError: if one of them is none
    """

    epsilon: float = 0.1
    score: str = "adaptive"
    groups: str = "none"

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < 1:
            raise KgdashError(f"expected an epsilon between 0 and 1; found {self.epsilon:g}")
        check_name("score", self.score, SCORES, "answer sets")
        check_name("groups", self.groups, CONDITIONS, "answer sets")

    @property
    def fewest(self) -> int:
        """Return the validation queries that a group needs for a threshold of its own: ⌈2/ε⌉."""
        return math.ceil(2 / self.epsilon)


def conformal_quantile(values: np.ndarray, epsilon: float) -> float:
    """Return the ⌈(n + 1)(1 − ε)⌉-th least of n values, +inf if there are not so many.

    >>> conformal_quantile(np.arange(1.0, 10.0), 0.1)
    9.0
    """
    # (n + 1)(1 − ε) may be a whole number that rounding would carry over.
    place = math.ceil(round((len(values) + 1) * (1 - epsilon), 9))
    return float(np.partition(values, place - 1)[place - 1]) if place <= len(values) else math.inf


@dataclass(frozen=True)
class AnswerSets:
    """The answer sets of test queries.

    ``thresholds``: ``group`` (-1: all others), ``queries`` (of validation), ``most`` (the greatest
    nonconformity allowed). ``queries``: one row per side and test triple, all heads first:
    `kgdash.graph.IDS`, ``side``, ``covered`` (bool: the true answer is in), ``size`` (int64).
    """

    run: Run
    setting: AnswerSetSetting
    thresholds: pd.DataFrame
    queries: pd.DataFrame

    def summary(self, level: float = 0.95) -> dict[str, float]:
        """Return coverage with its Clopper–Pearson interval, and the size of sets."""
        covered, size = self.queries["covered"], self.queries["size"]
        low, high = _clopper_pearson(int(covered.sum()), len(covered), level)
        return {
            "coverage": float(covered.mean()),
            "low": low,
            "high": high,
            "mean_size": float(size.mean()),
            "median_size": float(size.median()),
        }

    def by_groups(
        self, groups: str, level: float = 0.95, progress: Progress = silent
    ) -> pd.DataFrame:
        """Return coverage and size by groups of test queries: where is the promise broken?

        :param groups: of `kgdash.studies.probability.query_groups.GROUPINGS`
        :return: one row per group, the least coverage first, deciles in order: ``group`` (str),
            ``n`` (int64), ``coverage``, ``low``, ``high`` (Clopper–Pearson), ``mean_size``,
            ``median_size``
        """
        made = grouping(self.run, groups, progress)
        codes = made.codes(Queries.of(self.queries[: len(self.queries) // 2][IDS].to_numpy()))
        rows = []
        for number in np.unique(codes):
            own = self.queries[codes == number]
            covered = int(own["covered"].sum())
            low, high = _clopper_pearson(covered, len(own), level)
            row = {"group": _group_name(made, int(number)), "n": len(own)}
            row |= {"coverage": covered / len(own), "low": low, "high": high}
            row |= {"mean_size": own["size"].mean(), "median_size": own["size"].median()}
            rows.append(row)
        table = pd.DataFrame(rows)
        if groups in ("degree", "relik"):
            return table
        return table.sort_values("coverage", kind="stable", ignore_index=True)

    def coverage_gap(self, table: pd.DataFrame) -> float:
        """Return CovGap: the mean over groups of |coverage − (1 − ε)|.

        :param table: of `by_groups`
        """
        return float((table["coverage"] - (1 - self.setting.epsilon)).abs().mean())


def answer_sets(
    run: Run, setting: AnswerSetSetting | None = None, progress: Progress = silent
) -> AnswerSets:
    """Find thresholds on validation queries and the sets of test queries; kept on disk.

    P(the true answer is in its set) ≥ 1 − ε where validation and test queries are exchangeable.

    :raises KgdashError: without validation or test triples; if a score is NaN or infinite
    """
    setting = setting or AnswerSetSetting()
    first, second, third, fourth = phases(progress, [3.0, 2.0, 2.0, 2.0])
    fitted = fit_calibration(run, progress=first)
    valid, test = (run.graph.split(split) for split in ("valid", "test"))
    known = _scores(run, fitted, valid, "valid", second)
    new = _scores(run, fitted, test, "test", third)
    made = None if setting.groups == "none" else grouping(run, setting.groups)
    old_codes, codes = (
        np.full(2 * len(rows), -1) if made is None else made.codes(Queries.of(rows))
        for rows in (valid, test)
    )
    thresholds = find_thresholds(known[setting.score].to_numpy(), old_codes, setting)
    most = thresholds.set_index("group")["most"]
    allowed = most.reindex(codes).fillna(most.get(-1, math.inf)).to_numpy()
    table = cached_table(
        {
            "kind": "answer sets",
            "sets": _VERSION,
            "allowed": np.round(most, 12).to_json(),
            "score": setting.score,
            "groups": setting.groups,
            **run.table_key(test),
        },
        lambda: pd.DataFrame({"size": _sizes(run, fitted, setting.score, allowed, fourth)}),
        run.table_about("calibration", test, filter=default_filter("test")),
        fourth,
    )
    queries = new[[*IDS, "side"]].assign(
        covered=new[setting.score].to_numpy() <= allowed, size=table["size"].to_numpy()
    )
    return AnswerSets(run, setting, thresholds, queries)


def find_thresholds(
    values: np.ndarray, codes: np.ndarray, setting: AnswerSetSetting
) -> pd.DataFrame:
    """Find a threshold for each group with enough validation queries, and one for the others.

    :param values: nonconformities of true answers, float64, ``(n,)``
    :param codes: groups, int64, ``(n,)``, -1 for none
    :return: ``group`` (-1: all others together, or all if these are too few), ``queries``, ``most``
    """
    numbers, counts = np.unique(codes[codes >= 0], return_counts=True)
    large = numbers[counts >= setting.fewest]
    rest = values[~np.isin(codes, large)]
    pooled = rest if len(rest) >= setting.fewest else values
    rows = [(-1, len(pooled), conformal_quantile(pooled, setting.epsilon))]
    for number in large:
        own = values[codes == number]
        rows.append((int(number), len(own), conformal_quantile(own, setting.epsilon)))
    return pd.DataFrame(rows, columns=["group", "queries", "most"])


def _scores(
    run: Run, fitted: Calibration, triples: np.ndarray, split: str, progress: Progress
) -> pd.DataFrame:
    filter = default_filter(split)
    return cached_table(
        {"kind": "answer scores", "sets": _VERSION, "filter": filter, **run.table_key(triples)},
        lambda: answer_scores(run, fitted, triples, filter, progress),
        run.table_about("calibration", triples, filter=filter),
        progress,
    )


def _sizes(
    run: Run, fitted: Calibration, score: str, allowed: np.ndarray, progress: Progress
) -> np.ndarray:
    triples = run.graph.split("test")
    sides = answer_queries(run, triples, default_filter("test"))
    parts = np.split(allowed, len(sides))
    reports = phases(progress, [1.0] * len(sides))
    return np.concatenate(
        [
            set_sizes(queries, fitted, score, most, report)
            for queries, most, report in zip(sides, parts, reports, strict=True)
        ]
    )


def _group_name(made: Grouping, number: int) -> str:
    return made.name(number) if number >= 0 else "unknown"


def _clopper_pearson(covered: int, n: int, level: float) -> tuple[float, float]:
    from scipy.stats import binomtest

    ends = binomtest(covered, n).proportion_ci(level, "exact")
    return float(ends.low), float(ends.high)
