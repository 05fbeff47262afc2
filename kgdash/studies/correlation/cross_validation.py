"""The correlation study as the paper made it: models trained on folds, the same subgraphs in all.

Every model is trained once per fold (`fold_runs`); the subgraphs are drawn on all
known triples, which the folds share. What follows from the tables stands in
`kgdash.studies.correlation.fold_tables`.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from kgdash.errors import KgdashError, check_name
from kgdash.files.table_cache import cached_table
from kgdash.graph import FILTERS, KnowledgeGraph
from kgdash.graph.folds import Fold, cut_folds
from kgdash.graph.subgraph import SUBGRAPH_METHODS, Subgraph, SubgraphSampling
from kgdash.hpo.recipes import recipe
from kgdash.hpo.space import fixed_configuration
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.relik import RELIK_METHODS
from kgdash.runs import Run
from kgdash.runs.training import TrainingConfig
from kgdash.scoring.model_spec import check_arguments, model_class
from kgdash.studies.correlation.fold_runs import fold_run, is_trained
from kgdash.studies.reliability.subgraph_evaluation import (
    CORRUPT,
    EVALUATED,
    KS,
    SubgraphEvaluation,
)
from kgdash.studies.reliability.subgraph_table import draw_of_sizes, score_subgraphs

#: the paper's six (numbers.md#6-correlation-study)
MODELS = ("TransE", "DistMult", "RotatE", "PairRE", "ComplEx", "ConvE")

#: what an epoch costs, one of TransE 1, where that is not about the same: for the time left
_COSTS = {"ConvE": 12.0, "ComplEx": 2.0, "RotatE": 1.3, "PairRE": 1.5}

#: raise when the meaning of a stored table changes
_TABLE_VERSION = 1

#: called with each fold and run, and whether it had been trained before
OnFold = Callable[[Fold, Run, bool], None]


@dataclass(frozen=True)
class CrossValidation:
    """What is trained, and what is asked of the trained models.

    ``folds`` and ``seed`` are of `cut_folds`; fold i trains with the seed ``seed + i``.
    ``folds_only`` names the folds to take; none: all. What is not said here of training is that of
    the ``recipe`` (`kgdash.hpo.recipes.RECIPES`). ``subgraphs``, ``sizes`` (none: `default_size`),
    ``method``, ``walk`` and ``seed`` are of `draw_subgraphs`, ``seed`` and the rest of
    `score_subgraphs`.
    """

    folds: int = 5
    models: tuple[str, ...] = MODELS
    dimension: int | None = None
    epochs: int | None = None
    batch_size: int | None = None
    recipe: str = "PyKEEN's"
    seed: int = 0
    folds_only: tuple[int, ...] = ()
    subgraphs: int = 100
    sizes: tuple[int, ...] = ()
    method: str = "rwr"
    walk: Mapping[str, Any] = field(default_factory=dict)
    evaluated: str = "test"
    relik_method: str = "exact"
    filter: str = "train+valid+test"
    ks: tuple[int, ...] = KS
    corrupt: str = "inside"

    @property
    def sampling(self) -> SubgraphSampling:
        """Return how subgraphs are drawn."""
        return SubgraphSampling(self.subgraphs, method=self.method, seed=self.seed, **self.walk)

    @property
    def evaluation(self) -> SubgraphEvaluation:
        """Return what is computed of the subgraphs."""
        ranks = (self.evaluated, self.relik_method, self.filter)
        return SubgraphEvaluation(*ranks, self.ks, self.corrupt, self.seed)

    def config(self, model: str) -> TrainingConfig:
        """Return how a model is trained."""
        given = {
            "model.embedding_dim": self.dimension,
            "training.num_epochs": self.epochs,
            "training.batch_size": self.batch_size,
        }
        values = {name: value for name, value in given.items() if value is not None}
        return fixed_configuration(recipe(self.recipe, model).space(model, self.seed, **values))


def cross_validate(
    graph: KnowledgeGraph,
    plan: CrossValidation,
    workdir: Path,
    progress: Progress = silent,
    on_fold: OnFold = lambda fold, run, before: None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Train every model on every fold, and score the same subgraphs with each.

    Fold after fold, so that the time left is known after the first. Trained runs stay in
    ``workdir`` and are found again; ranks, ReliK and scores are cached on disk. An interrupted
    call thereby goes on where it was, with whatever model it was training begun again.

    :param graph: its known triples are cut into folds
    :param on_fold: called when a model of a fold is trained or found
    :return: the scores and the runs. Scores: one row per model, fold, size and subgraph:
        ``model`` (str), ``fold``, ``size``, ``subgraph`` (int64, counted from 0 in each size) and
        the columns of `score_subgraphs`. Runs: one row per model and fold: ``model`` (str),
        ``fold``, ``train``, ``valid``, ``test`` (int64: triples), ``kept`` (int64, see `Fold`),
        ``mrr``, ``hits_at_10`` (float64 in [0, 1]: on test, both sides, filtered, realistic),
        ``training_seconds``, ``study_seconds`` (float64: when it was computed), ``digest`` (str)
    :raises KgdashError: if the plan can not be carried out
    """
    _check(plan)
    sampling, folds = plan.sampling, _chosen_folds(graph, plan)
    jobs = [(fold, model) for fold in folds for model in plan.models]
    reports = phases(progress, _weights(jobs, plan, workdir))
    scores, runs = [], []
    drawn: tuple[list[Subgraph], list[int]] = ([], [])
    for (fold, model), report in zip(jobs, reports, strict=True):
        training, asking = phases(report, [0.9, 0.1])
        config = plan.config(model)
        before = is_trained(workdir, fold, config)
        run = fold_run(workdir, fold, config, training)
        on_fold(fold, run, before)
        if not drawn[0]:
            drawn = draw_of_sizes(run, plan.sizes, sampling)
        table = _scores(run, *drawn, plan, asking)
        seconds = table.pop("seconds").max()
        scores.append(table.assign(model=model, fold=fold.number))
        runs.append(_about(fold, model, run, seconds))
    first = ["model", "fold", "size", "subgraph"]
    together = pd.concat(scores, ignore_index=True)
    return together[[*first, *together.columns.drop(first)]], pd.DataFrame(runs)


def _check(plan: CrossValidation) -> None:
    """Refuse a plan that would fail after hours of training."""
    if not plan.models or len(set(plan.models)) < len(plan.models):
        raise KgdashError(f"expected models, each once; found {', '.join(plan.models) or 'none'}")
    for model in plan.models:
        model_class(model, "cross-validation")
        check_arguments(plan.config(model).spec(), "cross-validation")
    for what, value, known in (
        ("choice of evaluated triples", plan.evaluated, tuple(EVALUATED)),
        ("method", plan.relik_method, RELIK_METHODS),
        ("filter", plan.filter, tuple(FILTERS)),
        ("method", plan.method, SUBGRAPH_METHODS),
        ("choice of candidates", plan.corrupt, CORRUPT),
    ):
        check_name(what, value, known, "cross-validation")
    least = min(plan.subgraphs, *plan.sizes, *plan.ks)
    if plan.batch_size is not None:
        least = min(least, plan.batch_size)
    if least < 1:
        raise KgdashError(
            "cross-validation: expected numbers of subgraphs, entities, epochs, triples in a batch "
            f"and k of Hits@k of at least 1; found {least}"
        )


def _chosen_folds(graph: KnowledgeGraph, plan: CrossValidation) -> list[Fold]:
    folds = cut_folds(graph, plan.folds, plan.seed)
    wrong = sorted(set(plan.folds_only) - set(range(len(folds))))
    if wrong:
        raise KgdashError(f"expected folds from 0 to {len(folds) - 1}; found {wrong[0]}")
    for fold in folds:
        fold.graph.split("test")
    return [fold for fold in folds if not plan.folds_only or fold.number in plan.folds_only]


def _weights(jobs: Sequence[tuple[Fold, str]], plan: CrossValidation, workdir: Path) -> list[float]:
    """Weigh the parts of the progress by what they will cost: trained runs hardly anything."""
    return [
        0.02 if is_trained(workdir, fold, plan.config(model)) else _COSTS.get(model, 1.0)
        for fold, model in jobs
    ]


def _scores(
    run: Run, drawn: list[Subgraph], sizes: list[int], plan: CrossValidation, progress: Progress
) -> pd.DataFrame:
    """Score all subgraphs, kept on disk with the seconds that they took."""

    def compute() -> pd.DataFrame:
        start = time.monotonic()
        # The splits of a subgraph are those of its graph, and each fold has its own.
        parts = [replace(part, graph=run.graph) for part in drawn]
        table = score_subgraphs(run, parts, plan.evaluation, progress)
        table.insert(0, "size", sizes)
        table.insert(1, "subgraph", table.groupby("size").cumcount())
        return table.assign(seconds=time.monotonic() - start)

    entities = b"".join(part.entities.astype("<i8").tobytes() + b"\xff" * 8 for part in drawn)
    key = {
        "kind": "study",
        "version": _TABLE_VERSION,
        "run": run.digest,
        "subgraphs": hashlib.sha256(entities).hexdigest(),
        "choices": [plan.evaluated, plan.relik_method, plan.filter, plan.subgraphs, plan.seed],
        "more_choices": [sizes, list(plan.ks), plan.corrupt],
    }
    about: dict[str, Any] = {"kind": "study", "run": run.name, "run_digest": run.digest}
    about |= {"graph": run.graph.name, "graph_digest": run.graph.digest, "seed": plan.seed}
    about |= {"method": plan.relik_method, "filter": plan.filter}
    table = cached_table(key, compute, about, progress)
    progress(1.0, 1.0)
    return table


def _about(fold: Fold, model: str, run: Run, study_seconds: float) -> dict[str, Any]:
    evaluation = run.training["evaluation"]
    return {
        "model": model,
        "fold": fold.number,
        **{split: len(triples) for split, triples in fold.graph.splits.items()},
        "kept": fold.kept,
        "mrr": evaluation["inverse_harmonic_mean_rank"],
        "hits_at_10": evaluation["hits_at_10"],
        "training_seconds": run.training["seconds"],
        "study_seconds": study_seconds,
        "digest": run.digest,
    }
