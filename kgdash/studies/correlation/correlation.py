"""Does ReliK predict local performance? How the values of subgraphs correlate.

Defined in numbers.md#6-correlation-study.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, pearsonr, spearmanr

from kgdash.errors import unknown_name
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.statistics.bootstrap import Bootstrap, check_level
from kgdash.statistics.correlation_bootstrap import Resamples
from kgdash.statistics.multiple_testing import holm
from kgdash.statistics.rounding import rounded
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from kgdash.studies.reliability.subgraph_table import (
    default_size,
    draw_subgraphs,
    score_subgraphs,
    task_columns,
)

#: name -> SciPy's function of two samples
COEFFICIENTS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "pearson": pearsonr,
    "spearman": spearmanr,
    "kendall": kendalltau,
}

_COLUMNS = [
    *("task", "coefficient", "subgraphs", "left_out", "without_triples"),
    *("value", "p", "low", "high"),
]

#: fewer subgraphs than this have no correlation worth the name
_FEWEST = 3

#: of the intervals, over subgraphs
BOOTSTRAP = Bootstrap()


def correlations(
    table: pd.DataFrame, tasks: Sequence[str] | None = None, bootstrap: Bootstrap = BOOTSTRAP
) -> pd.DataFrame:
    """Correlate the ReliK of subgraphs with each task.

    Coefficients and two-sided p-values are SciPy's, Holm's correction statsmodels'. The intervals
    are percentile bootstraps over subgraphs. Overlapping subgraphs are not independent, so that
    p-values and intervals flatter.

    :param table: of `score_subgraphs`
    :param tasks: columns of it; default: all
    :return: one row per task and coefficient ("pearson", "spearman", "kendall"): ``task``,
        ``coefficient`` (str), ``subgraphs`` (int64: taken), ``left_out`` (int64: those without a
        value), ``without_triples`` (int64: those of them without any known triple, so that there
        is no ReliK), ``value``, ``p``, ``low``, ``high`` (float64; NaN for fewer than 3 subgraphs
        or where one of the two is the same everywhere), ``p_holm`` (corrected for the number of
        tasks)
    :raises KgdashError: if a task is no column of the table
    """
    rows = []
    drawn: dict[bytes, Resamples] = {}
    for task in task_columns(table) if tasks is None else tasks:
        x, y = finite_pairs(table, task)
        counts = {
            "subgraphs": len(x),
            "left_out": len(table) - len(x),
            "without_triples": int(table["relik"].isna().sum()),
        }
        # Most tasks leave out the same subgraphs: then the resamples of ReliK are the same, too.
        if x.tobytes() not in drawn:
            drawn[x.tobytes()] = Resamples(x, bootstrap)
        resampled = drawn[x.tobytes()]
        for name in COEFFICIENTS:
            value, p = _correlate(name, x, y)
            low, high = resampled.interval(name, y) if len(x) >= _FEWEST else (np.nan,) * 2
            values = {"value": value, "p": p, "low": low, "high": high}
            rows.append({"task": task, "coefficient": name, **counts, **values})
    table = pd.DataFrame(rows, columns=_COLUMNS)
    table["p_holm"] = table.groupby("coefficient")["p"].transform(lambda p: holm(p.to_numpy()))
    return table


def regression_band(
    table: pd.DataFrame, task: str, level: float = 0.95, log_relik: bool = False, points: int = 80
) -> pd.DataFrame:
    """Fit a task on ReliK by least squares, with the confidence band of the line.

    The band is of the mean at that ReliK, not of single subgraphs (statsmodels'
    ``get_prediction``).

    :param table: of `score_subgraphs`
    :param task: a column of it
    :param level: of the band, in (0, 1)
    :param log_relik: fit on log10 of ReliK
    :param points: of the line, evenly spaced on the scale that is fitted on
    :return: ``relik``, ``mean``, ``low``, ``high`` (float64), ReliK from the least to the
        greatest; no rows for fewer than 3 subgraphs, or where ReliK is the same everywhere
    :raises KgdashError: if the task is no column of the table, or the level out of range
    """
    from statsmodels.regression.linear_model import OLS
    from statsmodels.tools.tools import add_constant

    check_level(level)
    x, y = finite_pairs(table, task)
    if len(x) < _FEWEST or not np.ptp(x):
        return pd.DataFrame(columns=["relik", "mean", "low", "high"], dtype=np.float64)
    x = np.log10(x) if log_relik else x
    grid = np.linspace(x.min(), x.max(), points)
    # On the scale of its own, ReliK of 1e-6 would count as constant.
    scale = np.ptp(x)
    fit = OLS(y, add_constant((x - x.min()) / scale)).fit()
    line = fit.get_prediction(add_constant((grid - x.min()) / scale)).summary_frame(1 - level)
    return pd.DataFrame(
        {
            "relik": 10**grid if log_relik else grid,
            "mean": line["mean"].to_numpy(),
            "low": line["mean_ci_lower"].to_numpy(),
            "high": line["mean_ci_upper"].to_numpy(),
        }
    )


def correlation_study(
    run: Run,
    sizes: Sequence[int] = (),
    sampling: SubgraphSampling = SubgraphSampling(),
    evaluation: SubgraphEvaluation = SubgraphEvaluation(),
    bootstrap: Bootstrap = BOOTSTRAP,
    progress: Progress = silent,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw subgraphs of one or several sizes and correlate ReliK with performance for each size.

    All sizes start from the same entities and seeds of walks, so that a smaller subgraph is the
    beginning of a larger one.

    :param sizes: of the subgraphs, in entities, in place of the sampling's; default:
        `default_size` alone
    :param bootstrap: of the intervals, over subgraphs
    :return: the tables of `score_subgraphs` and of `correlations`, each with a column ``size``
        before
    :raises KgdashError: as they do
    """
    sizes = list(sizes) or [default_size(run)]
    drawing, scoring, correlating = phases(progress, [0.1, 0.8, 0.1])
    drawn = []
    for size, report in zip(sizes, phases(drawing, [1.0] * len(sizes)), strict=True):
        drawn += draw_subgraphs(run, replace(sampling, size=size), report)
    # All sizes at once: what they share is scored once.
    table = score_subgraphs(run, drawn, evaluation, scoring)
    table.insert(0, "size", np.repeat(sizes, sampling.count))
    parts = []
    for done, size in enumerate(sizes, start=1):
        coefficients = correlations(table[table["size"] == size], bootstrap=bootstrap)
        coefficients.insert(0, "size", size)
        parts.append(coefficients)
        correlating(done, len(sizes))
    return table, pd.concat(parts, ignore_index=True)


def correlation_studies(
    runs: Mapping[str, Run],
    sizes: Sequence[int] = (),
    sampling: SubgraphSampling = SubgraphSampling(),
    evaluation: SubgraphEvaluation = SubgraphEvaluation(),
    bootstrap: Bootstrap = BOOTSTRAP,
    progress: Progress = silent,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make the study of several runs; those on one graph get the same subgraphs.

    :param runs: by name; the other arguments are those of `correlation_study`
    :return: its tables, each with a column ``run`` before
    :raises KgdashError: as `correlation_study`
    """
    scores: list[pd.DataFrame] = []
    coefficients: list[pd.DataFrame] = []
    reports = phases(progress, [1.0] * len(runs))
    for (name, run), report in zip(runs.items(), reports, strict=True):
        tables = correlation_study(run, sizes, sampling, evaluation, bootstrap, report)
        for table, every in zip(tables, (scores, coefficients), strict=True):
            table.insert(0, "run", name)
            every.append(table)
    return pd.concat(scores, ignore_index=True), pd.concat(coefficients, ignore_index=True)


def finite_pairs(table: pd.DataFrame, task: str) -> tuple[np.ndarray, np.ndarray]:
    """Return ReliK and a task of the subgraphs that have both, `rounded`: two arrays ``(n,)``.

    :raises KgdashError: if the task is no column of the table
    """
    if task not in table:
        raise unknown_name("task", task, task_columns(table), "the study")
    x, y = (rounded(table[column].to_numpy()) for column in ("relik", task))
    finite = np.isfinite(x) & np.isfinite(y)
    return x[finite], y[finite]


def _correlate(name: str, x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    if len(x) < _FEWEST or not np.ptp(x) or not np.ptp(y):
        return np.nan, np.nan
    test = COEFFICIENTS[name](x, y)
    return float(test.statistic), float(test.pvalue)
