"""Answer sets with a guarantee: split conformal prediction, for all queries or by groups.

Defined in numbers.md#24-answer-sets. Romano, Sesia and Candès, "Classification with valid and
adaptive coverage", 2020; Zhu et al., "Conformalized answer set prediction for knowledge graph
embedding", 2025; by groups: Vovk, Gammerman and Shafer, "Algorithmic learning in a random world",
2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kgdash.errors import check_name
from kgdash.graph import IDS
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.statistics.bootstrap import check_level
from kgdash.statistics.multiple_testing import holm
from kgdash.statistics.proportions import clopper_pearson, exact_p
from kgdash.studies.probability.answer_scores import SCORES
from kgdash.studies.probability.conformal import check_epsilon, expected_coverage
from kgdash.studies.probability.query_groups import Grouping, Queries, grouping
from kgdash.studies.probability.set_tables import CONDITIONS, SetTables, set_tables

#: ε that pages offer, whose tables `kgdash.studies.overview.preparation.prepare_pages` makes
EPSILONS = (0.05, 0.1, 0.2)

#: groupings in the order of values, whose groups are not sorted by coverage
IN_ORDER = ("degree", "relik")


@dataclass(frozen=True)
class AnswerSetSetting:
    """What sets are wanted.

    ``epsilon`` in (0, 1): the share that may miss the true answer; ``score`` of `SCORES`;
    ``groups`` of `CONDITIONS`.

    :raises KgdashError: if one of them is none
    """

    epsilon: float = 0.1
    score: str = "softmax"
    groups: str = "none"

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_name("score", self.score, SCORES, "answer sets")
        check_name("groups", self.groups, CONDITIONS, "answer sets")


@dataclass(frozen=True)
class AnswerSets:
    """The answer sets of test queries.

    ``thresholds``: ``group`` (-1: all others), ``queries`` (of validation), ``most`` (the greatest
    nonconformity allowed). ``queries``: one row per side and test triple, all heads first:
    `kgdash.graph.IDS`, ``side``, ``covered`` (bool: the true answer is in), ``size`` (int32).
    """

    run: Run
    setting: AnswerSetSetting
    thresholds: pd.DataFrame
    queries: pd.DataFrame

    def summary(self, level: float = 0.95) -> dict[str, float]:
        """Return coverage with its Clopper–Pearson interval, and the size of sets.

        :raises KgdashError: if the level is out of range
        """
        check_level(level)
        row = _coverage(self.queries, np.zeros(len(self.queries), dtype=np.int64), level)
        return {name: float(row[name].iloc[0]) for name in _MEASURES}

    def by_groups(
        self, groups: str, level: float = 0.95, progress: Progress = silent
    ) -> pd.DataFrame:
        """Return coverage and size by groups of test queries: where is the promise broken?

        :param groups: of `kgdash.studies.probability.query_groups.GROUPINGS`
        :return: one row per group, the least coverage first, deciles in order: ``group`` (str),
            ``number`` (int64; -1: unknown), ``n`` (int64), ``coverage``, ``low``, ``high``
            (Clopper–Pearson), ``mean_size``, ``median_size``, ``p_holm`` (`promise_p`, corrected
            for the number of groups)
        """
        first, second = phases(progress, [1.0, 1.0])
        made = grouping(self.run, groups, first)
        table = self.by_grouping(made, groups not in IN_ORDER, level)
        is_side = groups == self.setting.groups == "side"
        p = self.promise_p(made.codes(self.asked), is_side, second).loc[table["number"]]
        return table.assign(p_holm=holm(p.to_numpy()))

    def promise_p(
        self, codes: np.ndarray, is_side: bool = False, progress: Progress = silent
    ) -> pd.Series:
        """Return the p-values of the promise: that validation and a group's queries are alike.

        Both queries of a triple count as one, of validation and of test: they depend on each other.

        :param codes: groups of the queries, int64, as many as `queries`
        :param is_side: thresholds and groups are of a side each: queries are triples
        :return: by group, in [0, 1]
        """
        found = self.thresholds.set_index("group")["queries"]
        share = pd.Series(expected_coverage(found.to_numpy(), self.setting.epsilon), found.index)
        of = pd.Series(self._threshold_codes(progress))
        of = of.where(of.isin(found.index), -1)
        weight = pd.crosstab(codes, of, normalize="index")
        known = 1 / (weight**2 / found).sum(axis=1) / (1 if is_side else 2)
        triple = np.arange(len(self.queries)) % (len(self.queries) // 2)
        grouped = self.queries.assign(triple=triple).groupby(codes)
        n = grouped["triple"].nunique()
        p = exact_p(grouped["covered"].mean() * n, n, (weight * share).sum(axis=1), known)
        return pd.Series(p, n.index)

    def _threshold_codes(self, progress: Progress) -> np.ndarray:
        """Return the group of each query by which thresholds were found."""
        if self.setting.groups == "none":
            return np.full(len(self.queries), -1)
        return grouping(self.run, self.setting.groups, progress).codes(self.asked)

    def by_grouping(self, made: Grouping, is_sorted: bool, level: float = 0.95) -> pd.DataFrame:
        """Return `by_groups`, but for ``p_holm``, of a grouping that was made before."""
        table = _coverage(self.queries, made.codes(self.asked), level)
        names = [_group_name(made, int(number)) for number in table["number"]]
        table.insert(0, "group", names)
        if not is_sorted:
            return table
        return table.sort_values("coverage", kind="stable", ignore_index=True)

    def coverage_gap(self, table: pd.DataFrame) -> float:
        """Return CovGap: the mean over groups of |coverage − (1 − ε)|.

        :param table: of `by_groups`
        """
        return float((table["coverage"] - (1 - self.setting.epsilon)).abs().mean())

    @property
    def asked(self) -> Queries:
        """Return the queries, in the order of their rows."""
        return Queries.of(self.queries[: len(self.queries) // 2][IDS].to_numpy())


def answer_sets(
    run: Run, setting: AnswerSetSetting | None = None, progress: Progress = silent
) -> AnswerSets:
    """Find thresholds on validation queries and the sets of test queries; kept on disk.

    P(the true answer is in its set) ≥ 1 − ε where validation and test queries are exchangeable.

    :raises KgdashError: without validation or test triples; if a score is NaN or infinite
    """
    setting = setting or AnswerSetSetting()
    found = set_tables(run, [setting.groups], [setting.epsilon], progress)
    return _of_tables(run, setting, found[setting.groups, setting.epsilon])


def prepare_answer_sets(run: Run, progress: Progress = silent) -> None:
    """Make the tables of all conditions and `EPSILONS` in one pass.

    :raises KgdashError: as `answer_sets`
    """
    set_tables(run, list(CONDITIONS), EPSILONS, progress)


def compare_conditions(
    run: Run,
    setting: AnswerSetSetting,
    by: str,
    conditions: Sequence[str] = tuple(CONDITIONS),
    progress: Progress = silent,
) -> pd.DataFrame:
    """Hold plain sets against those with a threshold for each group: what does it mend and cost?

    :param setting: ``groups`` is of no matter
    :param by: the groups that coverage is told of, of `GROUPINGS`
    :return: one row per condition: ``condition``, ``coverage``, ``low``, ``high``, ``mean_size``,
        ``median_size``, ``covgap``, and of the groups with 100 test queries or more (all, if there
        are none) the least coverage: ``worst`` and its ``worst_group``
    """
    first, second = phases(progress, [4.0, 1.0])
    found = set_tables(run, conditions, [setting.epsilon], first)
    made, rows = grouping(run, by, second), []
    for condition in conditions:
        asked = replace(setting, groups=condition)
        sets = _of_tables(run, asked, found[condition, setting.epsilon])
        groups = sets.by_grouping(made, is_sorted=True)
        large = groups[groups["n"] >= 100]
        worst = (large if len(large) else groups).iloc[0]
        row = {"condition": condition, **sets.summary(), "covgap": sets.coverage_gap(groups)}
        rows.append(row | {"worst": worst["coverage"], "worst_group": worst["group"]})
    return pd.DataFrame(rows)


_MEASURES = ("coverage", "low", "high", "mean_size", "median_size")


def _of_tables(run: Run, setting: AnswerSetSetting, tables: SetTables) -> AnswerSets:
    thresholds = tables.thresholds[tables.thresholds["score"] == setting.score]
    triples = run.graph.split("test")
    queries = pd.DataFrame(np.concatenate([triples, triples]), columns=IDS).assign(
        side=np.repeat(["head", "tail"], len(triples)),
        covered=tables.sets[f"{setting.score}_covered"].to_numpy(),
        size=tables.sets[f"{setting.score}_size"].to_numpy(),
    )
    own = thresholds.drop(columns="score").reset_index(drop=True)
    return AnswerSets(run, setting, own, queries)


def _coverage(queries: pd.DataFrame, codes: np.ndarray, level: float) -> pd.DataFrame:
    """Return coverage and size of groups of queries, by number: of `AnswerSets.by_groups`."""
    grouped = queries.groupby(codes)
    table = pd.DataFrame(
        {
            "n": grouped.size().astype("int64"),
            "coverage": grouped["covered"].mean(),
            "mean_size": grouped["size"].mean(),
            "median_size": grouped["size"].median().astype("float64"),
        }
    ).rename_axis("number")
    covered = grouped["covered"].sum().to_numpy()
    table["low"], table["high"] = clopper_pearson(covered, table["n"].to_numpy(), level)
    return table.reset_index()[["number", "n", *_MEASURES]]


def _group_name(made: Grouping, number: int) -> str:
    return made.name(number) if number >= 0 else "unknown"
