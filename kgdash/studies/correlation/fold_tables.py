"""Results of cross-validation, as tables: coefficients per fold, their mean, the folds averaged."""

import pandas as pd

from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.correlation.correlation import BOOTSTRAP, correlations
from kgdash.studies.reliability.subgraph_table import task_columns

_QUESTION = ["model", "size", "task", "coefficient"]


def fold_correlations(scores: pd.DataFrame) -> pd.DataFrame:
    """Correlate ReliK with each task, for each model, fold and size of its own.

    :param scores: of `kgdash.studies.correlation.cross_validation.cross_validate`
    :return: columns ``model``, ``fold``, ``size`` and those of `correlations` but for the intervals
    """
    # A single resample, since the spread is that of the folds.
    coefficients = _each(scores, ["model", "fold", "size"], Bootstrap(resamples=1))
    return coefficients.drop(columns=["low", "high"])


def spread(coefficients: pd.DataFrame) -> pd.DataFrame:
    """Average each coefficient over the folds.

    :param coefficients: of `fold_correlations`
    :return: one row per ``model``, ``size``, ``task`` and ``coefficient``, in the order given:
        ``folds`` (int64: those that have the coefficient), ``mean``, ``std`` (of the sample, n − 1;
        NaN for one fold), ``min``, ``max`` (float64 in [−1, 1]; NaN without folds), ``p_max`` (the
        largest p-value of a fold)
    """
    groups = coefficients.groupby(_QUESTION, sort=False)
    return groups.agg(
        folds=("value", "count"),
        mean=("value", "mean"),
        std=("value", "std"),
        min=("value", "min"),
        max=("value", "max"),
        p_max=("p", "max"),
    ).reset_index()


def averaged_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Average the values of each subgraph over the folds where it has evaluated triples.

    So does the authors' code.

    ReliK is averaged over the same folds as the tasks.

    :param scores: of `kgdash.studies.correlation.cross_validation.cross_validate`
    :return: one row per ``model``, ``size`` and ``subgraph``: ``folds`` (int64: averaged ones),
        ``evaluated`` (int64: triples of these folds together), ``relik`` and the tasks (float64;
        NaN where no fold has evaluated triples)
    """
    keys = ["model", "size", "subgraph"]
    groups = scores[scores["evaluated"] > 0].groupby(keys, sort=False)
    means = groups[["relik", *task_columns(scores)]].mean()
    means.insert(0, "folds", groups.size())
    means.insert(1, "evaluated", groups["evaluated"].sum())
    # Those without any evaluated triple stand there too, so that they are counted as left out.
    every = pd.MultiIndex.from_frame(scores[keys].drop_duplicates())
    counts = {"folds": 0, "evaluated": 0}
    return means.reindex(every).fillna(counts).astype(dict.fromkeys(counts, "int64")).reset_index()


def averaged_correlations(scores: pd.DataFrame, bootstrap: Bootstrap = BOOTSTRAP) -> pd.DataFrame:
    """Correlate once, as the paper did: the values of subgraphs averaged over the folds.

    So does the authors' code.

    :param scores: of `kgdash.studies.correlation.cross_validation.cross_validate`
    :param bootstrap: of the intervals, over subgraphs
    :return: columns ``model``, ``size`` and those of `correlations`
    """
    return _each(averaged_scores(scores), ["model", "size"], bootstrap)


def model_means(runs: pd.DataFrame) -> pd.DataFrame:
    """Average what is known of the trained models over the folds.

    :param runs: of `kgdash.studies.correlation.cross_validation.cross_validate`
    :return: one row per ``model``: ``folds`` (int64), ``mrr``, ``mrr_std``, ``hits_at_10``,
        ``hits_at_10_std`` (float64: mean and standard deviation of the sample),
        ``training_seconds``, ``study_seconds`` (float64: of all folds together)
    """
    groups = runs.groupby("model", sort=False)
    return groups.agg(
        folds=("fold", "count"),
        mrr=("mrr", "mean"),
        mrr_std=("mrr", "std"),
        hits_at_10=("hits_at_10", "mean"),
        hits_at_10_std=("hits_at_10", "std"),
        training_seconds=("training_seconds", "sum"),
        study_seconds=("study_seconds", "sum"),
    ).reset_index()


def both_ways(scores: pd.DataFrame, bootstrap: Bootstrap = BOOTSTRAP) -> pd.DataFrame:
    """Put the mean of the folds' coefficients and that of the averaged scores side by side.

    :return: the columns of `spread`, then ``averaged``, ``p``, ``p_holm``, ``low``, ``high``,
        ``subgraphs``, ``left_out`` of `averaged_correlations`
    """
    once = averaged_correlations(scores, bootstrap)
    once = once.rename(columns={"value": "averaged"})
    columns = ["averaged", "p", "p_holm", "low", "high", "subgraphs", "left_out"]
    means = spread(fold_correlations(scores))
    return means.merge(once[[*_QUESTION, *columns]], on=_QUESTION, validate="one_to_one")


def _each(scores: pd.DataFrame, keys: list[str], bootstrap: Bootstrap) -> pd.DataFrame:
    parts = []
    for values, rows in scores.groupby(keys, sort=False):
        coefficients = correlations(rows, bootstrap=bootstrap)
        for position, (key, value) in enumerate(zip(keys, values, strict=True)):
            coefficients.insert(position, key, value)
        parts.append(coefficients)
    return pd.concat(parts, ignore_index=True)
