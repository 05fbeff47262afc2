"""Does ReliK predict local performance? How the values of subgraphs correlate.

Defined in numbers.md#6-correlation-study.
"""

from collections.abc import Callable, Mapping, Sequence
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
from kgdash.statistics.permutation import coefficients, largest_p
from kgdash.statistics.rounding import rounded
from kgdash.studies.reliability.dealt_relik import dealt_means
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from kgdash.studies.reliability.subgraph_table import (
    draw_of_sizes,
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
    *("value", "p", "p_permutation", "low", "high"),
]

#: fewer subgraphs than this have no correlation worth the name
_FEWEST = 3

#: of the intervals, over subgraphs
BOOTSTRAP = Bootstrap()


def correlations(
    table: pd.DataFrame,
    tasks: Sequence[str] | None = None,
    bootstrap: Bootstrap = BOOTSTRAP,
    dealt: Sequence[np.ndarray] = (),
) -> pd.DataFrame:
    """Correlate the ReliK of subgraphs with each task.

    Coefficients and two-sided p-values are SciPy's, Holm's correction statsmodels'. The intervals
    are percentile bootstraps over subgraphs. Overlapping subgraphs are not independent, so that
    SciPy's p-values and the intervals flatter; those by dealing ReliK anew do not.

    :param table: of `score_subgraphs`
    :param tasks: columns of it; default: all
    :param dealt: of `dealt_means`, of the table's subgraphs: arrays ``(deals, rows)``
    :return: one row per task and coefficient ("pearson", "spearman", "kendall"): ``task``,
        ``coefficient`` (str), ``subgraphs`` (int64: taken), ``left_out`` (int64: those without a
        value), ``without_triples`` (int64: those of them without any known triple, so that there
        is no ReliK), ``value``, ``p`` (SciPy's), ``p_permutation`` (of `largest_p`; NaN without
        ``dealt``), ``low``, ``high`` (float64; NaN for fewer than 3 subgraphs or where one of the
        two is the same everywhere), ``p_holm`` (``p_permutation``, without ``dealt`` ``p``,
        corrected for the number of tasks)
    :raises KgdashError: if a task is no column of the table
    """
    rows = []
    drawn: dict[bytes, Resamples] = {}
    for task in task_columns(table) if tasks is None else tasks:
        _, x, y = _pairs(table, task)
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
    found = pd.DataFrame(rows, columns=_COLUMNS)
    found["p_permutation"] = _permutation_p(table, found, dealt)
    corrected = found.groupby("coefficient")["p_permutation" if dealt else "p"]
    return found.assign(p_holm=corrected.transform(lambda p: holm(p.to_numpy())))


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

    :param sizes: of the subgraphs, in entities, in place of the sampling's, each once; default:
        `default_size` alone
    :param bootstrap: of the intervals, over subgraphs
    :return: the tables of `score_subgraphs` and of `correlations` with ReliK dealt anew, each with
        a column ``size`` before
    :raises KgdashError: as they do
    """
    drawing, scoring, correlating = phases(progress, [0.1, 0.7, 0.2])
    drawn, of = draw_of_sizes(run, sizes, sampling, drawing)
    # All sizes at once: what they share is scored once.
    table = score_subgraphs(run, drawn, evaluation, scoring)
    table.insert(0, "size", of)
    parts, sizes = [], list(dict.fromkeys(of))
    for size, report in zip(sizes, phases(correlating, [1.0] * len(sizes)), strict=True):
        mine = (table["size"] == size).to_numpy()
        of_size = [drawn[row] for row in np.flatnonzero(mine)]
        dealt = dealt_means(run, of_size, evaluation, bootstrap.seed, report)
        found = correlations(table[mine], bootstrap=bootstrap, dealt=dealt)
        found.insert(0, "size", size)
        parts.append(found)
        report(1, 1)
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
    found: list[pd.DataFrame] = []
    reports = phases(progress, [1.0] * len(runs))
    for (name, run), report in zip(runs.items(), reports, strict=True):
        tables = correlation_study(run, sizes, sampling, evaluation, bootstrap, report)
        for table, every in zip(tables, (scores, found), strict=True):
            table.insert(0, "run", name)
            every.append(table)
    return pd.concat(scores, ignore_index=True), pd.concat(found, ignore_index=True)


def finite_pairs(table: pd.DataFrame, task: str) -> tuple[np.ndarray, np.ndarray]:
    """Return ReliK and a task of the subgraphs that have both, `rounded`: two arrays ``(n,)``.

    :raises KgdashError: if the task is no column of the table
    """
    return _pairs(table, task)[1:]


def _pairs(table: pd.DataFrame, task: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which rows `finite_pairs` takes, ``(rows,)``, and what it does."""
    if task not in table:
        raise unknown_name("task", task, task_columns(table), "the study")
    x, y = (rounded(table[column].to_numpy()) for column in ("relik", task))
    finite = np.isfinite(x) & np.isfinite(y)
    return finite, x[finite], y[finite]


def _permutation_p(
    table: pd.DataFrame, found: pd.DataFrame, dealt: Sequence[np.ndarray]
) -> np.ndarray:
    """Hold each coefficient found beside those of dealt ReliK: ``(len(found),)``."""
    columns: dict[str, np.ndarray] = {}
    alike: dict[bytes, np.ndarray] = {}
    of_rows: dict[str, bytes] = {}
    for task in found["task"].unique():
        finite, _, columns[task] = _pairs(table, task)
        of_rows[task] = finite.tobytes()
        alike[of_rows[task]] = finite
    p_values = np.full(len(found), np.nan)
    # Those that leave out the same subgraphs together: dealt ReliK is then ranked once.
    for (name, same), rows in found.groupby(["coefficient", found["task"].map(of_rows)]):
        ours = np.column_stack([columns[task] for task in rows["task"]])
        chance = ([coefficients(str(name), way[:, alike[same]], ours)] for way in dealt)
        p_values[rows.index] = largest_p(rows["value"].to_numpy(), chance)
    return p_values


def _correlate(name: str, x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    if len(x) < _FEWEST or not np.ptp(x) or not np.ptp(y):
        return np.nan, np.nan
    test = COEFFICIENTS[name](x, y)
    return float(test.statistic), float(test.pvalue)
