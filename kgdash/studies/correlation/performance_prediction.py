"""What performance does ReliK lead to expect? Learnt on some subgraphs, checked on others.

Defined in numbers.md#17-prognosis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, unknown_name
from kgdash.graph.subgraph import Subgraph, SubgraphSampling, triples_inside
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.statistics.bootstrap import check_level
from kgdash.studies.correlation.prediction_check import (
    SCHEMES,
    Check,
    Found,
    coverage_of,
    errors_of,
)
from kgdash.studies.correlation.prediction_curves import (
    CURVES,
    FEWEST,
    INTERVALS,
    Sample,
    fit,
    interval,
)
from kgdash.studies.reliability.subgraph_evaluation import EVALUATED, SubgraphEvaluation
from kgdash.studies.reliability.subgraph_table import (
    default_size,
    draw_subgraphs,
    score_subgraphs,
    task_columns,
)

#: levels whose coverage is always reported
LEVELS = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Prognosis:
    """A prediction of one task from ReliK, and how well it did on subgraphs that it had not seen.

    ``sample``: the subgraphs learnt from, ``rows``: their numbers in the table given;
    ``left_out``: int, rows without ReliK or without an evaluated triple.

    ``points``: one row per subgraph of the sample: ``row``, ``seed_entity`` (int64), ``relik``,
    ``observed`` (float64), ``evaluated`` (int64: triples behind it), ``predicted``,
    ``low``, ``high`` (float64: by others; of the scheme "any", in the first repeat), ``scheme``
    (str: "apart" where that could be done, else "any").

    ``errors``: one row per scheme and curve: ``scheme``, ``curve`` (str), ``subgraphs`` (int64:
    that could be predicted), ``mae``, ``rmse``, ``r2`` (float64: 1 − squared error over that of
    the training subgraphs' mean; NaN if that has none).

    ``coverage``: one row per scheme, kind of interval and level: ``scheme``, ``interval`` (str),
    ``level``, ``subgraphs`` (int64), ``covered`` (float64: share inside), ``covered_low``,
    ``covered_high`` (95 % Clopper–Pearson over subgraphs), ``width`` (float64: mean).
    """

    task: str
    curve: str
    interval: str
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
        ends = interval(self.interval, self.curve, sample, x, counts, (self.level,), self.seed)[0]
        predicted = fit(self.curve, sample).curve(x)
        return pd.DataFrame(
            {"relik": values, "predicted": predicted, "low": ends[:, 0], "high": ends[:, 1]}
        )


def prognosis(
    table: pd.DataFrame,
    task: str = "tail_mrr",
    shared: np.ndarray | None = None,
    curve: str = "linear",
    interval: str = "cv+",
    level: float = 0.9,
    seed: int = 0,
    progress: Progress = silent,
) -> Prognosis:
    """Learn to predict a task from the ReliK of subgraphs, and check it.

    Checked by cross-validation, ten folds of subgraphs, three times over ("any"). Subgraphs
    overlap: where two share evaluated triples, part of the one's value is known from the other. So
    each subgraph is also predicted from all those alone that share none with it ("apart").

    :param table: of `kgdash.studies.reliability.subgraph_table.score_subgraphs`
    :param task: a column of it with values in [0, 1]
    :param shared: int64 ``(n, n)``: evaluated triples that each two rows share, see
        `shared_triples`; without it there is no scheme "apart"
    :param curve: of `kgdash.studies.correlation.prediction_curves.CURVES`
    :param interval: of `kgdash.studies.correlation.prediction_curves.INTERVALS`
    :param level: of the intervals, in (0, 1)
    :param seed: of the folds, ≥ 0
    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: on an unknown choice, a level out of range, or fewer than 20 subgraphs
    """
    check_level(level)
    for what, name, known in (
        ("curve", curve, CURVES),
        ("interval", interval, INTERVALS),
        ("task", task, task_columns(table)),
    ):
        if name not in known:
            raise unknown_name(what, name, list(known), "the prognosis")
    x, y = (table[name].to_numpy(dtype=np.float64) for name in ("relik", task))
    n = table["labelled" if task == "accuracy" else "evaluated"].to_numpy(dtype=np.float64)
    rows = np.flatnonzero(np.isfinite(x) & np.isfinite(y) & (x > 0) & (n > 0))
    sample = Sample(np.log10(x[rows]), y[rows], n[rows])
    _check_size(len(sample) // 2, task)
    apart = None if shared is None else shared[np.ix_(rows, rows)] == 0
    levels = tuple(sorted({*LEVELS, level}))
    found = Check(sample, apart, curve, levels, seed).run(progress)
    points = table.iloc[rows][["seed_entity", "relik"]].reset_index(drop=True)
    points.insert(0, "row", rows)
    points = points.assign(observed=sample.y, evaluated=sample.n.astype(np.int64))
    points = points.join(_first(found, len(sample), curve, interval, levels.index(level)))
    return Prognosis(
        task,
        curve,
        interval,
        level,
        seed,
        sample,
        rows,
        len(table) - len(rows),
        points,
        errors_of(found, sample),
        coverage_of(found, sample, levels),
    )


def prognosis_of_run(
    run: Run,
    task: str = "tail_mrr",
    count: int = 100,
    size: int | None = None,
    method: str = "rwr",
    evaluated: str = "test",
    relik_method: str = "exact",
    filter: str = "train+valid+test",
    curve: str = "linear",
    interval: str = "cv+",
    level: float = 0.9,
    seed: int = 0,
    progress: Progress = silent,
    **parameters: Any,
) -> tuple[Prognosis, list[Subgraph]]:
    """Draw subgraphs of a run, compute their figures, and learn to predict a task.

    The arguments are those of `kgdash.studies.reliability.subgraph_table.draw_subgraphs`, of
    `score_subgraphs` there, and of `prognosis`.

    :return: the prognosis, and the subgraphs that its rows stand for
    :raises KgdashError: as they do
    """
    check_level(level)
    drawing, computing, checking = phases(progress, [0.1, 0.7, 0.2])
    parts = draw_subgraphs(
        run,
        SubgraphSampling(
            count, default_size(run) if size is None else size, method, seed=seed, **parameters
        ),
        drawing,
    )
    table = score_subgraphs(
        run, parts, SubgraphEvaluation(evaluated, relik_method, filter), computing
    )
    shared = shared_triples(parts, parts, evaluated)
    return prognosis(table, task, shared, curve, interval, level, seed, checking), parts


def expect(
    run: Run,
    found: Prognosis,
    learnt: Sequence[Subgraph],
    subgraphs: Sequence[Subgraph],
    evaluated: str = "test",
    relik_method: str = "exact",
    filter: str = "train+valid+test",
    progress: Progress = silent,
) -> pd.DataFrame:
    """Predict the task in subgraphs of one's own choice, beside its true value where there is one.

    Learns only from subgraphs that share no evaluated triple with the one to predict, where there
    are enough of these. A prediction holds for subgraphs picked in the way of those learnt from.

    :param found: and ``learnt``: of `prognosis_of_run`
    :param subgraphs: of the run's graph, at least one
    :param evaluated: ``relik_method``, ``filter``: as they were for `prognosis_of_run`
    :param progress: called with (done, total); may raise to cancel
    :return: one row per subgraph: ``seed_entity`` (int64 id), ``entities``, ``triples``,
        ``evaluated`` (int64: triples behind the true value), ``relik``, ``predicted``, ``low``,
        ``high`` (float64; NaN without a triple inside), ``observed`` (float64, NaN if nothing is
        evaluated: the interval is then one for as many triples as is usual), ``apart`` (bool: no
        evaluated triple was shared)
    :raises KgdashError: as `kgdash.studies.reliability.subgraph_table.score_subgraphs`
    """
    figures = score_subgraphs(
        run, subgraphs, SubgraphEvaluation(evaluated, relik_method, filter), progress
    )
    number = "labelled" if found.task == "accuracy" else "evaluated"
    shared = shared_triples(subgraphs, learnt, evaluated) > 0
    rows = []
    for row, overlap in zip(figures.to_dict("records"), shared, strict=True):
        without = np.flatnonzero(overlap)
        apart = len(found.rows) - int(np.isin(found.rows, without).sum()) >= FEWEST
        expected = {"predicted": np.nan, "low": np.nan, "high": np.nan}
        if row["relik"] > 0:
            counts = [row[number]] if row[number] else None
            predicted = found.predict([row["relik"]], counts, without if apart else ())
            expected = predicted.iloc[0][list(expected)].to_dict()
        about = {name: row[name] for name in ("seed_entity", "entities", "triples")}
        about |= {"evaluated": row[number], "relik": row["relik"]}
        rows.append({**about, **expected, "observed": row[found.task], "apart": apart})
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
    held, of_others = (triples_inside(parts, triples) for parts in (some, others))
    return (held @ of_others.T).toarray().astype(np.int64)


def _first(found: Found, count: int, curve: str, kind: str, level: int) -> pd.DataFrame:
    """Return predictions of the first repeat, "apart" where there is one."""
    columns = {"predicted": np.full(count, np.nan), "low": np.full(count, np.nan)}
    columns["high"], scheme = np.full(count, np.nan), np.full(count, SCHEMES[0], dtype=object)
    for name in found.predicted:
        values = found.predicted[name][curve][0]
        ends = found.ends[name][kind][0, level]
        there = np.isfinite(values)
        scheme[there] = name
        for column, own in zip(columns, (values, *ends.T), strict=True):
            columns[column][there] = own[there]
    return pd.DataFrame({**columns, "scheme": scheme})


def _check_size(count: int, task: str) -> None:
    if count < FEWEST:
        raise KgdashError(
            f"too few subgraphs with a value of {task} to learn from: draw more, take larger "
            f"ones, or evaluate all triples; at least {2 * FEWEST} are needed"
        )
