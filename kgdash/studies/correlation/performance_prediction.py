"""What performance is expected where ReliK is so high? Learnt on subgraphs, checked on others.

Defined in numbers.md#17-expected-performance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, check_name
from kgdash.graph.subgraph import Subgraph, SubgraphSampling
from kgdash.graph.triples_inside import triples_inside
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.statistics.bootstrap import check_level
from kgdash.studies.correlation.prediction_check import (
    SCHEMES,
    Check,
    Predictions,
    coverage_of,
    errors_of,
)
from kgdash.studies.correlation.prediction_intervals import FEWEST, Sample, cv_plus, fit_line
from kgdash.studies.reliability.subgraph_evaluation import EVALUATED, SubgraphEvaluation
from kgdash.studies.reliability.subgraph_table import draw_subgraphs, score_subgraphs, task_columns

#: levels whose coverage is always reported
LEVELS = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class PerformancePrediction:
    """A prediction of one task from ReliK, and how well it did on subgraphs that it had not seen.

    ``sample``: the subgraphs learnt from, ``rows``: their numbers in the table given;
    ``left_out``: int, rows without ReliK or without an evaluated triple.

    ``points``: one row per subgraph of the sample: ``row``, ``seed_entity`` (int64), ``relik``,
    ``observed`` (float64), ``evaluated`` (int64: triples behind it), ``predicted``, ``low``,
    ``high`` (float64: by others; of the scheme "overlapping", in the first repeat), ``scheme``
    (str: "disjoint" where that could be done, else "overlapping").

    ``errors``: one row per scheme and curve ("linear"; "mean", which knows nothing of ReliK):
    ``scheme``, ``curve`` (str), ``subgraphs`` (int64: that could be predicted), ``mae``, ``rmse``,
    ``r2`` (float64: 1 − squared error over that of the training subgraphs' mean; NaN if that has
    none).

    ``coverage``: one row per scheme and level: ``scheme`` (str), ``level``, ``subgraphs`` (int64),
    ``covered`` (float64: share inside), ``covered_low``, ``covered_high`` (95% Clopper–Pearson
    over subgraphs), ``width`` (float64: mean).
    """

    task: str
    level: float
    seed: int
    sample: Sample
    rows: np.ndarray
    left_out: int
    points: pd.DataFrame
    errors: pd.DataFrame
    coverage: pd.DataFrame

    def predict(
        self,
        relik: Sequence[float] | np.ndarray,
        evaluated: Sequence[int] | np.ndarray | None = None,
        without: Sequence[int] | np.ndarray = (),
    ) -> pd.DataFrame:
        """Predict the task for other subgraphs.

        :param relik: their mean ReliK, in (0, 1]
        :param evaluated: triples that the true values are means over, ≥ 1; default: the median of
            the subgraphs learnt from
        :param without: rows of the table not to learn from, such as those that share triples
        :return: ``relik``, ``predicted``, ``low``, ``high`` (float64, in [0, 1])
        :raises KgdashError: if a number is out of range, or too few subgraphs are left
        """
        sample = self.sample.part(~np.isin(self.rows, np.asarray(without, dtype=np.int64)))
        _check_size(len(sample), self.task)
        values = np.asarray(relik, dtype=np.float64)
        counts = np.full(len(values), np.median(self.sample.n))
        if evaluated is not None:
            counts = np.asarray(evaluated, dtype=np.float64)
        if not ((values > 0) & (values <= 1)).all() or not (counts >= 1).all():
            raise KgdashError("expected ReliK in (0, 1] and at least 1 evaluated triple")
        x = np.log10(values)
        ends = cv_plus(sample, x, counts, (self.level,), self.seed)[0]
        predicted = fit_line(sample).curve(x)
        return pd.DataFrame(
            {"relik": values, "predicted": predicted, "low": ends[:, 0], "high": ends[:, 1]}
        )


def predict_performance(
    table: pd.DataFrame,
    task: str = "tail_mrr",
    shared: np.ndarray | None = None,
    level: float = 0.9,
    seed: int = 0,
    progress: Progress = silent,
) -> PerformancePrediction:
    """Learn to predict a task from the ReliK of subgraphs, and check it.

    Checked by cross-validation, ten folds of subgraphs, three times over ("overlapping"). Where two
    subgraphs share evaluated triples, part of the one's value is known from the other. So each
    subgraph is also predicted from all those alone that share none with it ("disjoint").

    :param table: of `kgdash.studies.reliability.subgraph_table.score_subgraphs`
    :param task: a column of it with values in [0, 1]
    :param shared: int64 ``(n, n)``: evaluated triples that each two rows share, see
        `shared_triples`; without it there is no scheme "disjoint"
    :param seed: of the folds, ≥ 0
    :raises KgdashError: on an unknown task, a level out of range, or fewer than 20 subgraphs
    """
    check_level(level)
    check_name("task", task, task_columns(table), "the prediction")
    x, y = (table[name].to_numpy(dtype=np.float64) for name in ("relik", task))
    n = table["labelled" if task == "accuracy" else "evaluated"].to_numpy(dtype=np.float64)
    rows = np.flatnonzero(np.isfinite(x) & np.isfinite(y) & (x > 0) & (n > 0))
    sample = Sample(np.log10(x[rows]), y[rows], n[rows])
    _check_size(len(sample) // 2, task)
    disjoint = None if shared is None else shared[np.ix_(rows, rows)] == 0
    levels = tuple(sorted({*LEVELS, level}))
    predictions = Check(sample, disjoint, levels, seed).run(progress)
    points = pd.DataFrame(
        {
            "row": rows,
            "seed_entity": table["seed_entity"].to_numpy()[rows],
            "relik": x[rows],
            "observed": y[rows],
            "evaluated": n[rows].astype(np.int64),
        }
    ).join(_first_predictions(predictions, levels.index(level)))
    return PerformancePrediction(
        task,
        level,
        seed,
        sample,
        rows,
        len(table) - len(rows),
        points,
        errors_of(predictions, sample),
        coverage_of(predictions, sample, levels),
    )


def predict_performance_of_run(
    run: Run,
    task: str,
    sampling: SubgraphSampling,
    evaluation: SubgraphEvaluation = SubgraphEvaluation(),
    level: float = 0.9,
    progress: Progress = silent,
) -> tuple[PerformancePrediction, list[Subgraph]]:
    """Draw subgraphs of a run, score them, and learn to predict a task.

    :param task: as of `predict_performance`
    :param sampling: of `draw_subgraphs`; its seed is that of the folds, too
    :return: the prediction, and the subgraphs that its rows stand for
    :raises KgdashError: as they do
    """
    check_level(level)
    drawing, scoring, checking = phases(progress, [0.1, 0.7, 0.2])
    parts = draw_subgraphs(run, sampling, drawing)
    table = score_subgraphs(run, parts, evaluation, scoring)
    shared = shared_triples(parts, parts, evaluation.evaluated)
    return predict_performance(table, task, shared, level, sampling.seed, checking), parts


def predict_subgraphs(
    run: Run,
    prediction: PerformancePrediction,
    learnt: Sequence[Subgraph],
    subgraphs: Sequence[Subgraph],
    evaluation: SubgraphEvaluation = SubgraphEvaluation(),
    progress: Progress = silent,
) -> pd.DataFrame:
    """Predict the task in subgraphs of one's own choice, with its true value where there is one.

    Learns only from subgraphs that share no evaluated triple with the one to predict, where there
    are enough of these. A prediction holds for subgraphs picked in the way of those learnt from.

    :param prediction: and ``learnt``: of `predict_performance_of_run`
    :param subgraphs: of the run's graph, at least one
    :param evaluation: as it was there
    :return: one row per subgraph: ``seed_entity`` (int64 id), ``entities``, ``triples``,
        ``evaluated`` (int64: triples behind the true value), ``relik``, ``predicted``, ``low``,
        ``high`` (float64; NaN without a triple inside), ``observed`` (float64, NaN if nothing is
        evaluated: the interval is then one for as many triples as is usual), ``disjoint`` (bool: no
        evaluated triple was shared)
    :raises KgdashError: as `kgdash.studies.reliability.subgraph_table.score_subgraphs`
    """
    table = score_subgraphs(run, subgraphs, evaluation, progress)
    number = "labelled" if prediction.task == "accuracy" else "evaluated"
    shared = shared_triples(subgraphs, learnt, evaluation.evaluated) > 0
    rows = []
    for row, overlap in zip(table.to_dict("records"), shared, strict=True):
        without = np.flatnonzero(overlap)
        left = len(prediction.rows) - int(np.isin(prediction.rows, without).sum())
        disjoint = left >= FEWEST
        expected = {"predicted": np.nan, "low": np.nan, "high": np.nan}
        if row["relik"] > 0:
            counts = [row[number]] if row[number] else None
            predicted = prediction.predict([row["relik"]], counts, without if disjoint else ())
            expected = predicted.iloc[0][list(expected)].to_dict()
        about = {name: row[name] for name in ("seed_entity", "entities", "triples")}
        about |= {"evaluated": row[number], "relik": row["relik"]}
        observed = {"observed": row[prediction.task], "disjoint": disjoint}
        rows.append({**about, **expected, **observed})
    return pd.DataFrame(rows)


def shared_triples(
    some: Sequence[Subgraph], others: Sequence[Subgraph], evaluated: str = "test"
) -> np.ndarray:
    """Count the evaluated triples that subgraphs share.

    :param some: of one graph, at least one
    :param others: of the same graph, at least one
    :param evaluated: "test" or "all"
    :return: int64, ``(some, others)``
    """
    graph = some[0].graph
    triples = np.concatenate([graph.splits[split] for split in EVALUATED[evaluated]])
    inside, inside_others = (triples_inside(parts, triples).matrix() for parts in (some, others))
    return (inside @ inside_others.T).toarray().astype(np.int64)


def _first_predictions(predictions: dict[str, Predictions], level: int) -> pd.DataFrame:
    """Return predictions of the first repeat, "disjoint" where there is one.

    :param level: its number
    """
    columns: dict[str, np.ndarray] = {}
    for name in (scheme for scheme in SCHEMES if scheme in predictions):
        line = predictions[name].values["linear"][0]
        values = (line, *predictions[name].ends[0, level].T, np.full(len(line), name, dtype=object))
        there = np.isfinite(line)
        for column, new in zip(("predicted", "low", "high", "scheme"), values, strict=True):
            columns[column] = np.where(there, new, columns.get(column, new))
    return pd.DataFrame(columns)


def _check_size(count: int, task: str) -> None:
    if count < FEWEST:
        raise KgdashError(
            f"too few subgraphs with a value of {task} to learn from: draw more, take larger "
            f"ones, or evaluate all triples; at least {2 * FEWEST} are needed"
        )
