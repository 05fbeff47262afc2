"""Which of several models to trust where: what ReliK picks, what is best, and what that costs.

Defined in numbers.md#19-which-model-where.

The baseline that picking by ReliK in each part of the graph must beat is to take everywhere the
model that is best overall.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, pearsonr, permutation_test, rankdata, spearmanr

from kgdash.statistics.bootstrap import check_level, percentile_interval
from kgdash.statistics.multiple_testing import holm
from kgdash.studies.comparison.part_scores import EQUAL, PartFigures

#: resamples of the bootstraps over parts
RESAMPLES = 2000

#: fewer parts than this have no interval
_FEWEST = 3

#: up to so many parts, p-values go through all permutations
_ENUMERATED = 8


def strategies(
    figures: PartFigures, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES
) -> pd.DataFrame:
    """Compare ways to choose a model: by ReliK in each part, or one model everywhere.

    :param level: of the intervals, in (0, 1): Clopper and Pearson's of the share, percentile
        bootstraps over parts of the regret; all ways share the resamples
    :param seed: of the bootstrap, ≥ 0
    :return: rows "by ReliK", one per run, "at random", "the best of each part": ``strategy`` (str:
        these or the run's name), ``overall_best`` (bool), ``right`` (float64: parts where it takes
        a best model; for "at random" the expectation), ``parts`` (int64), ``share``, ``low``,
        ``high`` (of right ones; no interval for the last two rows), ``regret`` (mean over parts of
        the best MRR less the MRR of what is taken), ``regret_low``, ``regret_high`` (NaN for fewer
        than 3 parts), ``mrr`` (mean over parts, each counting by its evaluated triples)
    :raises KgdashError: if the level is out of range
    """
    check_level(level)
    mrr, regret, best = (figures.wide(column) for column in ("mrr", "regret", "best"))
    weights = figures.wide("evaluated")[:, 0]
    count, runs = best.shape
    by_relik = figures.wide("picked").argmax(axis=1)
    chosen = {"by ReliK": np.eye(runs)[by_relik]}
    chosen |= {name: np.tile(np.eye(runs)[n], (count, 1)) for n, name in enumerate(figures.runs)}
    chosen["at random"] = np.full((count, runs), 1 / runs)
    chosen["the best of each part"] = best / best.sum(axis=1, keepdims=True)
    regrets = np.stack([(taken * regret).sum(axis=1) for taken in chosen.values()], axis=1)
    ends = _bootstrap(regrets, level, seed, resamples)
    leader = figures.overall["run"][figures.overall["best"]].item()
    rows = []
    for number, (name, taken) in enumerate(chosen.items()):
        right = float((taken * best).sum())
        row = {"strategy": name, "overall_best": name == leader, "right": right, "parts": count}
        row |= {"share": right / count, "low": np.nan, "high": np.nan}
        if number <= runs:
            interval = binomtest(round(right), count).proportion_ci(level)
            row |= {"low": interval.low, "high": interval.high}
        row |= {"regret": regrets[:, number].mean()}
        row |= {"regret_low": ends[0][number], "regret_high": ends[1][number]}
        row["mrr"] = float(np.average((taken * mrr).sum(axis=1), weights=weights))
        rows.append(row)
    return pd.DataFrame(rows)


def _bootstrap(
    values: np.ndarray, level: float, seed: int, resamples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the percentile bootstrap of each column's mean over rows."""
    count, columns = values.shape
    if count < _FEWEST:
        return np.full(columns, np.nan), np.full(columns, np.nan)
    rng = np.random.default_rng(seed)
    times = rng.multinomial(count, np.full(count, 1 / count), size=resamples)
    return percentile_interval(times @ values / count, level)


def verdict(
    figures: PartFigures, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """Say how often ReliK picks the right model, against chance and against the best overall.

    - ``chance``: the share that picking at random gets right: 1/runs, more where several are best.
      ``p_chance``: two-sided binomial test of the share against it.
    - ``p_overall``: McNemar's exact test of picking by ReliK against the model that is best
      overall, on the parts ``only_relik`` and ``only_overall`` that one of the two gets right.
    - ``regret_gain``: mean regret of the best overall less that by ReliK, above 0 where ReliK is
      worth it; with the ends of the percentile bootstrap over parts, which keeps pairs together.
    - ``spearman``: mean over parts of Spearman's ρ between the order of the runs by ReliK and that
      by MRR, with its ends; parts where all runs are equal in one of them are left out.
      ``kendall_w``: (ρ + 1)/2, Kendall's coefficient of concordance of two orders without ties.

    :param level: of the intervals, in (0, 1)
    :param seed: of the bootstraps, ≥ 0
    :return: these, and ``parts``, ``left_out``, ``runs``, ``right`` (int), ``share``, ``low``,
        ``high``, ``overall`` (name of the best overall), ``overall_share``, ``mrr_ties``,
        ``relik_ties`` (int: parts where several runs are first)
    :raises KgdashError: if the level is out of range
    """
    table = strategies(figures, level, seed, resamples).set_index("strategy")
    best, picked, regret = (figures.wide(column) for column in ("best", "picked", "regret"))
    leader = int(figures.overall["best"].to_numpy().argmax())
    right, overall_right = (best & picked).any(axis=1), best[:, leader]
    only = int((right & ~overall_right).sum()), int((~right & overall_right).sum())
    gain = regret[:, leader] - (picked * regret).sum(axis=1)
    low, high = _bootstrap(gain[:, None], level, seed, resamples)
    own, everywhere = table.loc["by ReliK"], table.loc[figures.runs[leader]]
    chance = float(table.loc["at random", "share"])
    relik = figures.wide("relik")
    relik_first = (relik >= relik.max(axis=1, keepdims=True) - EQUAL).sum(axis=1)
    return {
        "parts": len(best),
        "left_out": figures.left_out,
        "runs": len(figures.runs),
        "right": int(right.sum()),
        **{name: float(own[name]) for name in ("share", "low", "high")},
        "chance": chance,
        "p_chance": float(binomtest(int(right.sum()), len(best), min(chance, 1.0)).pvalue),
        "overall": figures.runs[leader],
        "overall_share": float(everywhere["share"]),
        "only_relik": only[0],
        "only_overall": only[1],
        "p_overall": float(binomtest(only[0], sum(only)).pvalue) if sum(only) else 1.0,
        "regret": float(own["regret"]),
        "overall_regret": float(everywhere["regret"]),
        "regret_gain": float(gain.mean()),
        "regret_gain_low": float(low[0]),
        "regret_gain_high": float(high[0]),
        "mrr": float(own["mrr"]),
        "overall_mrr": float(everywhere["mrr"]),
        "best_mrr": float(table.loc["the best of each part", "mrr"]),
        **_order_agreement(figures, level, seed, resamples),
        "mrr_ties": int((best.sum(axis=1) > 1).sum()),
        "relik_ties": int((relik_first > 1).sum()),
    }


def _order_agreement(
    figures: PartFigures, level: float, seed: int, resamples: int
) -> dict[str, float]:
    relik, mrr = figures.wide("relik"), figures.wide("mrr")
    told_apart = (np.ptp(relik, axis=1) > 0) & (np.ptp(mrr, axis=1) > 0)
    if not told_apart.any():
        return dict.fromkeys(("spearman", "spearman_low", "spearman_high", "kendall_w"), np.nan)
    # Spearman's coefficient is Pearson's of the ranks, which SciPy takes of all rows at once.
    orders = [rankdata(values[told_apart], axis=1) for values in (relik, mrr)]
    found = pearsonr(*orders, axis=1).statistic
    low, high = _bootstrap(found[:, None], level, seed, resamples)
    mean = float(found.mean())
    ends = {"spearman_low": float(low[0]), "spearman_high": float(high[0])}
    return {"spearman": mean, **ends, "kendall_w": (mean + 1) / 2}


def pair_differences(figures: PartFigures) -> pd.DataFrame:
    """Subtract, for each pair of runs and each part, ReliK and MRR of the second from the first.

    :return: one row per pair and part: ``a``, ``b``, ``name`` (str), ``part``, ``evaluated``
        (int64), ``relik_difference``, ``mrr_difference`` (a − b; float64)
    """
    about = figures.table.iloc[:: len(figures.runs)]
    relik, mrr = figures.wide("relik"), figures.wide("mrr")
    tables = []
    for a, b in combinations(range(len(figures.runs)), 2):
        table = about[["part", "name", "evaluated"]].reset_index(drop=True)
        table.insert(0, "a", figures.runs[a])
        table.insert(1, "b", figures.runs[b])
        table["relik_difference"] = relik[:, a] - relik[:, b]
        table["mrr_difference"] = mrr[:, a] - mrr[:, b]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def pair_correlations(differences: pd.DataFrame) -> pd.DataFrame:
    """Tell for each pair of runs whether ReliK says where one beats the other.

    :param differences: of `pair_differences`
    :return: one row per pair: ``a``, ``b`` (str), ``parts`` (int64), ``same_sign`` (share of the
        parts with both differences not 0 whose signs agree), ``spearman``, ``p``, ``p_holm``
        (between the differences over parts; p by all permutations for at most 8 parts, else by
        Student's t; corrected for the number of pairs; NaN for fewer than 3 parts or where a
        difference is the same everywhere)
    """
    rows = []
    for (a, b), part in differences.groupby(["a", "b"], sort=False):
        x, y = part["relik_difference"].to_numpy(), part["mrr_difference"].to_numpy()
        decided = (np.abs(x) > EQUAL) & (np.abs(y) > EQUAL)
        same = np.mean(np.sign(x[decided]) == np.sign(y[decided])) if decided.any() else np.nan
        rows.append((a, b, len(part), float(same), *_spearman(x, y)))
    table = pd.DataFrame(rows, columns=["a", "b", "parts", "same_sign", "spearman", "p"])
    table["p_holm"] = holm(table["p"].to_numpy())
    return table


def _spearman(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return Spearman's ρ and its two-sided p-value."""
    if len(x) < _FEWEST or not np.ptp(x) or not np.ptp(y):
        return np.nan, np.nan
    value, p = spearmanr(x, y)
    if len(x) <= _ENUMERATED:
        first, second = rankdata(x), rankdata(y)
        second -= second.mean()
        p = permutation_test(
            (first,),
            lambda ranks, axis: (ranks * second).sum(axis=axis),
            permutation_type="pairings",
            vectorized=True,
            n_resamples=np.inf,
        ).pvalue
    return float(value), float(p)
