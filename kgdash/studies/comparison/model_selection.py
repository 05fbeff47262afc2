"""Which of several models to trust where: what ReliK picks, what is best, and what that costs.

Defined in numbers.md#19-which-model-where.

The baseline that picking by ReliK in each part of the graph must beat is to take everywhere the
model that is best overall.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, pearsonr, permutation_test, rankdata, sem, spearmanr, t

from kgdash.ranking.ratio_metrics import LARGE
from kgdash.statistics.bootstrap import FEWEST, Bootstrap, percentile_interval
from kgdash.statistics.estimate import percent
from kgdash.statistics.multiple_testing import holm
from kgdash.statistics.proportions import clopper_pearson
from kgdash.statistics.rounding import DIGITS, rounded
from kgdash.studies.comparison.part_scores import PartScores, leaders

#: over parts
BOOTSTRAP = Bootstrap(resamples=2000)

#: kinds of parts that share triples, so that of gains and losses nothing is claimed
SHARING = ("communities", "subgraphs")

#: fewer parts than this have no interval
_FEWEST = 3

#: up to so many parts, p-values go through all permutations
_ENUMERATED = 8


def strategies(scores: PartScores, bootstrap: Bootstrap = BOOTSTRAP) -> pd.DataFrame:
    """Compare ways to choose a model: by ReliK in each part, or one model everywhere.

    :param bootstrap: the level is that of all intervals: those of the accuracy are Clopper and
        Pearson's (1934), those of the regret percentile bootstraps over parts, below ten parts
        Student's t; all ways share the resamples
    :return: rows "by ReliK", one per run, "at random", "the best of each part": ``strategy`` (str:
        these or the run's name), ``overall_best`` (bool), ``correct`` (float64: parts where it
        takes a best model; for "at random" the expectation), ``parts`` (int64), ``accuracy`` (their
        share), ``low``, ``high`` (no interval for the last two rows), ``regret`` (mean over parts
        of the best MRR less the MRR of what is taken), ``regret_low``, ``regret_high`` (NaN for
        fewer than 3 parts, or where all are equal), ``mrr`` (mean over parts, each counting by its
        evaluated triples)
    """
    mrr, regret, best = (scores.wide(column) for column in ("mrr", "regret", "best"))
    weights = scores.wide("evaluated")[:, 0]
    count, runs = best.shape
    by_relik = scores.wide("picked").argmax(axis=1)
    chosen = [
        ("by ReliK", np.eye(runs)[by_relik]),
        *((name, np.tile(np.eye(runs)[n], (count, 1))) for n, name in enumerate(scores.runs)),
        ("at random", np.full((count, runs), 1 / runs)),
        ("the best of each part", best / best.sum(axis=1, keepdims=True)),
    ]
    regrets = np.stack([(taken * regret).sum(axis=1) for _, taken in chosen], axis=1)
    ends = _interval_of_means(regrets, bootstrap)
    leader = 1 + int(scores.overall["best"].to_numpy().argmax())
    rows = []
    for number, (name, taken) in enumerate(chosen):
        correct = float((taken * best).sum())
        row = {"strategy": name, "overall_best": number == leader}
        row |= {"correct": correct, "parts": count}
        row |= {"accuracy": correct / count, "low": np.nan, "high": np.nan}
        if number <= runs:
            low, high = clopper_pearson(round(correct), count, bootstrap.level)
            row |= {"low": float(low), "high": float(high)}
        row |= {"regret": regrets[:, number].mean()}
        row |= {"regret_low": np.maximum(ends[0][number], 0.0), "regret_high": ends[1][number]}
        row["mrr"] = float(np.average((taken * mrr).sum(axis=1), weights=weights))
        rows.append(row)
    return pd.DataFrame(rows)


def _interval_of_means(values: np.ndarray, bootstrap: Bootstrap) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the percentile bootstrap of each column's mean over rows.

    Below ten rows, of which resamples vary too little, those of Student's t; from `LARGE` rows on
    those of the normal interval, as for groups of triples. NaN where all values are equal.

    :param values: in [−1, 1], as the ends are
    """
    count, columns = values.shape
    if count < _FEWEST:
        return np.full(columns, np.nan), np.full(columns, np.nan)
    if count < FEWEST or count >= LARGE:
        # Of many, the resamples would take gigabytes and minutes.
        half = t.ppf((1 + bootstrap.level) / 2, count - 1) * sem(values, axis=0)
        low, high = values.mean(axis=0) - half, values.mean(axis=0) + half
    else:
        rng = np.random.default_rng(bootstrap.seed)
        times = rng.multinomial(count, np.full(count, 1 / count), size=bootstrap.resamples)
        low, high = percentile_interval(times @ values / count, bootstrap.level)
    low, high = np.clip((low, high), -1.0, 1.0)
    same = rounded(low) == rounded(high)
    return np.where(same, np.nan, low), np.where(same, np.nan, high)


def selection_summary(scores: PartScores, bootstrap: Bootstrap = BOOTSTRAP) -> dict[str, Any]:
    """Say how often ReliK picks a best model, against chance and against the best overall.

    - ``chance``: the accuracy of picking at random: 1/runs, more where several are best.
      ``p_chance``: two-sided binomial test of the accuracy against it.
    - ``p_overall``: McNemar's exact test (1947) of picking by ReliK against the model that is best
      overall, on the parts ``only_relik`` and ``only_overall`` that one of the two gets right.
    - ``regret_gain``: mean regret of the best overall less that by ReliK, above 0 where ReliK is
      worth it; with the ends of the percentile bootstrap over parts, which keeps pairs together.
    - ``spearman``: mean over parts of Spearman's ρ between the order of the runs by ReliK and that
      by MRR, with its ends; parts where all runs are equal in one of them are left out.
      ``kendall_w``: (ρ + 1)/2, Kendall's coefficient of concordance of two orders without ties.

    :return: these, and ``parts``, ``left_out``, ``runs``, ``correct`` (int), ``accuracy``, ``low``,
        ``high``, ``overall`` (name of the best overall), ``overall_accuracy``, ``mrr_ties``,
        ``relik_ties`` (int: parts where several runs are first)
    """
    ways = strategies(scores, bootstrap).to_dict("records")
    best, picked, regret = (scores.wide(column) for column in ("best", "picked", "regret"))
    leader = int(scores.overall["best"].to_numpy().argmax())
    correct, overall_correct = (best & picked).any(axis=1), best[:, leader]
    only = int((correct & ~overall_correct).sum()), int((~correct & overall_correct).sum())
    gain = regret[:, leader] - (picked * regret).sum(axis=1)
    low, high = _interval_of_means(gain[:, None], bootstrap)
    own, everywhere, at_random, best_of_each = (ways[at] for at in (0, 1 + leader, -2, -1))
    chance = at_random["accuracy"]
    relik_first = leaders(scores.wide("relik")).sum(axis=1)
    return {
        "parts": len(best),
        "left_out": scores.left_out,
        "runs": len(scores.runs),
        "correct": int(correct.sum()),
        **{name: float(own[name]) for name in ("accuracy", "low", "high")},
        "chance": chance,
        "p_chance": float(binomtest(int(correct.sum()), len(best), min(chance, 1.0)).pvalue),
        "overall": scores.runs[leader],
        "overall_accuracy": float(everywhere["accuracy"]),
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
        "best_mrr": best_of_each["mrr"],
        **_order_agreement(scores, bootstrap),
        "mrr_ties": int((best.sum(axis=1) > 1).sum()),
        "relik_ties": int((relik_first > 1).sum()),
    }


def describe_selection(summary: Mapping[str, Any], kind: str, level: float = 0.95) -> list[str]:
    """Say how often ReliK picks the right model, and whether picking by it pays.

    :param summary: of `selection_summary`
    :param kind: of the parts, "communities" say
    :return: two sentences
    """
    right = (
        f"ReliK picks a best model in {summary['correct']:,} of {summary['parts']:,} {kind} "
        f"({percent(summary['accuracy'])}, {percent(level)} interval {percent(summary['low'])} to "
        f"{percent(summary['high'])}), picking at random would in {percent(summary['chance'])}, "
        f"{summary['overall']} everywhere does in {percent(summary['overall_accuracy'])}."
    )
    gain, low, high = (summary[f"regret_gain{end}"] for end in ("", "_low", "_high"))
    cost = (
        f"It costs {summary['regret']:.3f} MRR on average against knowing the best, "
        f"{summary['overall']} everywhere {summary['overall_regret']:.3f}"
    )
    if kind in SHARING:
        return [right, f"{cost}; {kind} share triples, so that nothing more is claimed of them."]
    if pd.isna(low):
        return [right, f"{cost}; too few {kind} to tell whether that is more than chance."]
    ends = " to ".join(f"{end:.3f}".replace("-", "−") for end in (low, high))
    between = f"{abs(gain):.3f} ({percent(level)} interval of the gain {ends})"
    if low > 0:
        return [right, f"{cost}: picking by ReliK gains {between}."]
    if high < 0:
        return [right, f"{cost}: picking by ReliK loses {between}."]
    return [right, f"{cost}: the difference of {between} can not be told from chance."]


def _order_agreement(scores: PartScores, bootstrap: Bootstrap) -> dict[str, float]:
    relik, mrr = rounded(scores.wide("relik")), rounded(scores.wide("mrr"))
    told_apart = (np.ptp(relik, axis=1) > 0) & (np.ptp(mrr, axis=1) > 0)
    if not told_apart.any():
        return dict.fromkeys(("spearman", "spearman_low", "spearman_high", "kendall_w"), np.nan)
    # Spearman's coefficient is Pearson's of the ranks, which SciPy takes of all rows at once.
    orders = [rankdata(values[told_apart], axis=1) for values in (relik, mrr)]
    found = pearsonr(*orders, axis=1).statistic
    low, high = _interval_of_means(found[:, None], bootstrap)
    mean = float(found.mean())
    ends = {"spearman_low": float(low[0]), "spearman_high": float(high[0])}
    return {"spearman": mean, **ends, "kendall_w": (mean + 1) / 2}


def pair_differences(scores: PartScores) -> pd.DataFrame:
    """Subtract, for each pair of runs and each part, ReliK and MRR of the second from the first.

    :return: one row per pair and part: ``a``, ``b``, ``name`` (str), ``part``, ``evaluated``
        (int64), ``relik_difference``, ``mrr_difference`` (a − b; float64)
    """
    about = scores.table.iloc[:: len(scores.runs)]
    relik, mrr = scores.wide("relik"), scores.wide("mrr")
    tables = []
    for a, b in combinations(range(len(scores.runs)), 2):
        table = about[["part", "name", "evaluated"]].reset_index(drop=True)
        table.insert(0, "a", scores.runs[a])
        table.insert(1, "b", scores.runs[b])
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
        # In places, not digits: what is left of equal values is 0.
        x, y = part[["relik_difference", "mrr_difference"]].to_numpy().T.round(DIGITS)
        decided = (x != 0) & (y != 0)
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
