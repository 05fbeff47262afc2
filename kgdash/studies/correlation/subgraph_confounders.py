"""Does ReliK go with the performance of random subgraphs beyond what degree explains?

Subgraphs overlap, so that intervals and the p-values of independent rows flatter; those by dealing
ReliK anew do not.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, unknown_name
from kgdash.graph.ends import train_degrees
from kgdash.graph.subgraph import Subgraph, SubgraphSampling
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.multiple_testing import holm
from kgdash.statistics.partial_correlation import BOOTSTRAP, Controls, partial_table
from kgdash.studies.correlation.confounders import log_count
from kgdash.studies.reliability.dealt_relik import dealt_means
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from kgdash.studies.reliability.subgraph_table import draw_subgraphs, score_subgraphs

#: what ReliK is held against: columns of `subgraph_factors`
TASKS = ("tail_mrr", "head_mrr", "both_mrr", "relation_mrr")


def subgraph_factors(
    run: Run,
    sampling: SubgraphSampling,
    evaluation: SubgraphEvaluation = SubgraphEvaluation(),
    progress: Progress = silent,
) -> tuple[pd.DataFrame, list[np.ndarray]]:
    """Score random subgraphs, add the mean log degree of their entities, and deal ReliK anew.

    :param sampling: its seed is that of the deals, too
    :return: the table of `score_subgraphs` with a column ``mean_log_degree`` (of
        `mean_log_degrees`), and what `dealt_means` gives
    :raises KgdashError: as they do
    """
    first, second, third = phases(progress, [0.1, 0.7, 0.2])
    parts = draw_subgraphs(run, sampling, first)
    table = score_subgraphs(run, parts, evaluation, second)
    dealt = dealt_means(run, parts, evaluation, sampling.seed, third)
    return table.assign(mean_log_degree=mean_log_degrees(parts)), dealt


def mean_log_degrees(subgraphs: Sequence[Subgraph]) -> np.ndarray:
    """Return the mean of log₁₀(1 + train degree) over the entities of each subgraph."""
    if not subgraphs:
        return np.empty(0)
    graph = subgraphs[0].graph
    logs = log_count(train_degrees(graph))
    return np.array([logs[part.entities].mean() for part in subgraphs])


def subgraph_partials(
    table: pd.DataFrame,
    dealt: Sequence[np.ndarray],
    tasks: Sequence[str] = TASKS,
    bootstrap: Bootstrap = BOOTSTRAP,
) -> pd.DataFrame:
    """Correlate mean ReliK with performance over subgraphs, plain and with degree taken out.

    :param table: of `subgraph_factors`; subgraphs without a value are left out
    :param dealt: of `subgraph_factors`: arrays ``(deals, subgraphs)``
    :param tasks: columns of the table
    :param bootstrap: of the intervals, over subgraphs
    :return: as `partial_table`, with a column ``task`` before,
        for the controls "none" and "degree"; ``p_holm`` is corrected for the number of tasks and
        coefficients
    :raises KgdashError: if a task is unknown
    """
    sets = {"none": (), "degree": ("degree",)}
    controls = Controls({"degree": table["mean_log_degree"].to_numpy()}, sets)
    parts = []
    for task in tasks:
        if task not in table:
            raise unknown_name("task", task, list(tasks), "the study")
        columns = table["relik"].to_numpy(), table[task].to_numpy()
        part = partial_table(*columns, controls, bootstrap, dealt=[[way] for way in dealt])
        part.insert(0, "task", task)
        parts.append(part)
    if not parts:
        raise KgdashError("expected at least one task; found none")
    partials = pd.concat(parts, ignore_index=True)
    for rows in partials.groupby("controls").indices.values():
        partials.loc[rows, "p_holm"] = holm(partials["p_permutation"].to_numpy()[rows])
    return partials
