"""Choose a configuration on validation alone, by Optuna over PyKEEN's search space.

The test triples are taken out of the graph before anything else, so that neither training, nor
evaluation, nor the filter can see them. Each trial chooses from PyKEEN's ranges by PyKEEN's
``suggest_kwargs`` and is trained by `kgdash.runs.training.fit`, which also trains the run that is
written in the end: with the same seed that gives the same weights. PyKEEN's own ``hpo_pipeline``
keeps the test triples out of its values as well, but insists on being handed them, draws a seed
per trial, counts its trials anew at each call, and ranks with PyKEEN's evaluator, where ours is
many times faster.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.hpo.space import SearchSpace, suggest
from kgdash.hpo.study import opened
from kgdash.hpo.study_file import FORMAT, VERSION, StudyFile, read_study
from kgdash.hpo.text import training_command
from kgdash.hpo.trial import SearchPlan, run_trial
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.runs.training import TrainingConfig, train
from kgdash.runs.validation import FILTER, METRIC, SPLIT


@dataclass(frozen=True)
class Budget:
    """When a search ends: after so many trials, or so many seconds of trials, earlier ones too.

    :raises KgdashError: if there is no limit, or one is not above 0
    """

    trials: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if (self.trials is None or self.trials < 1) and (self.seconds is None or self.seconds <= 0):
            raise KgdashError("give the search a budget: a number of trials, or of seconds")

    def used(self, state: StudyFile) -> float:
        """Return which share of the budget a study has used up."""
        by_trials = state.counted / self.trials if self.trials else 0.0
        by_time = float(state.trials["seconds"].sum()) / self.seconds if self.seconds else 0.0
        return max(by_trials, by_time)

    def next_trial(self, state: StudyFile) -> float:
        """Return which share of the budget the next trial is likely to take."""
        mean = state.trials["seconds"].mean()
        by_time = mean / self.seconds if self.seconds and mean == mean else 0.0
        return max(1 / self.trials if self.trials else 0.0, by_time)


def search(
    graph: KnowledgeGraph,
    plan: SearchPlan,
    path: Path,
    budget: Budget,
    progress: Progress = silent,
    on_trial: Callable[[StudyFile], None] = lambda study: None,
) -> StudyFile:
    """Run trials until the budget is used up; a study that exists is gone on with.

    A trial that diverges, or whose configuration PyKEEN can not train, fails with its reason and
    counts. One that was interrupted does not count and is tried again.

    :param graph: the dataset; only train and valid are read
    :param plan: what to search and how; the same as before if the study exists
    :param path: the study's SQLite file, made if it is not there
    :param budget: what earlier trials took counts, too; no trial is started after it
    :param progress: called with (done, total); may raise to cancel between two epochs
    :param on_trial: called with the study so far after each trial
    :return: the study
    :raises KgdashError: if the file is another study's or no study, or another process searches on
        it
    """
    plan.check()
    seen = _without_test(graph)
    seen.split(SPLIT)  # refuses a graph without validation triples
    about = _about(seen, plan)
    with opened(path, about) as study:
        state = read_study(path)
        for row in np.flatnonzero(state.trials["state"] == "finished"):
            _configuration(state, int(row), plan.space)
        while (done := budget.used(state)) < 1:
            each = min(budget.next_trial(state), 1 - done)
            report = phases(progress, [done, each, 1 - done - each])[1]
            run_trial(study, seen, plan, state.counted, report)
            state = read_study(path)
            on_trial(state)
    progress(1, 1)
    return state


def train_best(
    graph: KnowledgeGraph,
    study: StudyFile,
    space: SearchSpace,
    out: Path,
    progress: Progress = silent,
) -> Run:
    """Train the best configuration of a search again, evaluate that once on test, and write it.

    The written run holds, under ``training.search``, the study's record.

    :param out: directory to write; must not exist
    :raises KgdashError: if no trial finished, or ``out`` exists
    """
    config = best_configuration(study, space)
    states = study.trials["state"].value_counts()
    best = study.trials.loc[study.best]
    record = {
        "study": study.path.name,
        "trials": study.counted,
        "finished": int(states.get("finished", 0)),
        "best_trial": int(best["trial"]),
        "best_value": float(best["value"]),
        **{key: study.about[key] for key in ("metric", "split", "filter", "sampler")},
    }
    return train(graph, config, out, progress, record)


def best_configuration(study: StudyFile, space: SearchSpace) -> TrainingConfig:
    """Return the configuration of the best finished trial, with the epochs it was best at.

    :raises KgdashError: if no trial finished, or its parameters are not of the space
    """
    if study.best is None:
        reasons = [reason for reason in study.trials["reason"] if reason]
        raise KgdashError(
            f"{study.path}: none of the {study.counted} trials finished"
            + (f"; the last one: {reasons[-1]}" if reasons else "")
        )
    config = _configuration(study, study.best, space)
    epochs = study.trials["epochs"][study.best]
    return config if pd.isna(epochs) else replace(config, epochs=int(epochs))


def _configuration(study: StudyFile, row: int, space: SearchSpace) -> TrainingConfig:
    """Return what a finished trial chose; refuse what the space does not offer."""
    trial = optuna.trial.FixedTrial(dict(study.chosen[row]))
    try:
        config = suggest(trial, space)
        for name, distribution in trial.distributions.items():
            if study.parameters[name] != distribution:
                raise ValueError(f"{name} was chosen from {study.parameters[name]}")
    except ValueError as error:
        raise KgdashError(
            f"{study.path}: trial {study.trials['trial'][row]} is not of its space: {error}"
        ) from error
    return config


def best_command(study: StudyFile) -> str:
    """Return the command line that trains the best configuration of a study.

    :raises KgdashError: as `best_configuration`, or if the file does not say what was searched
    """
    space = SearchSpace.from_json(study.about.get("space"), str(study.path))
    return training_command(best_configuration(study, space), str(study.about.get("graph")))


def _without_test(graph: KnowledgeGraph) -> KnowledgeGraph:
    nothing = np.empty((0, 3), dtype=np.int64)
    left_out = {split: count for split, count in graph.left_out.items() if split != "test"}
    return replace(graph, splits={**graph.splits, "test": nothing}, left_out=left_out)


def _about(seen: KnowledgeGraph, plan: SearchPlan) -> dict[str, Any]:
    how = {key: value for key, value in vars(plan).items() if key != "space"}
    return {
        "format": FORMAT,
        "version": VERSION,
        "graph": seen.name,
        "train and valid": seen.digest,
        "metric": METRIC,
        "split": SPLIT,
        "filter": FILTER,
        "pykeen": version("pykeen"),
        **how,
        "space": plan.space.to_json(),
    }
