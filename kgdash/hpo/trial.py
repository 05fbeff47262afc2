"""One trial of a search: train a configuration and judge it on validation."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import optuna
from optuna.trial import TrialState

from kgdash.errors import KgdashError, check_name
from kgdash.graph import KnowledgeGraph
from kgdash.hpo.space import SearchSpace, check_space, suggest
from kgdash.progress import Progress
from kgdash.runs.softmax_training import SOFTMAX
from kgdash.runs.training import fit
from kgdash.runs.validation import validation_mrr
from kgdash.scoring.build_model import scoring_state

SAMPLERS = ("tpe", "random")


@dataclass(frozen=True)
class SearchPlan:
    """What to search and how.

    ``sampler`` is "tpe" (Optuna's tree-structured Parzen estimator) or "random". Each trial is
    judged after its last epoch; with ``check_every`` also every so many epochs, and its value is
    then the best of these. That allows ``patience`` (the trial ends after so many checks without a
    better value) and ``prune`` (it ends where its value is below the median of the earlier trials
    at the same epoch).
    """

    space: SearchSpace
    sampler: str = "tpe"
    check_every: int | None = None
    patience: int | None = None
    prune: bool = False

    def check(self) -> None:
        """Refuse what can not be searched.

        :raises KgdashError: naming what is wrong
        """
        check_space(self.space)
        if self.space.training_loop == SOFTMAX:
            raise KgdashError(f"the training loop {SOFTMAX} is not searched; use sLCWA or LCWA")
        check_name("sampler", self.sampler, SAMPLERS, "the search")
        for name in ("check_every", "patience"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise KgdashError(f"expected {name} of at least 1; found {number}")
        if (self.patience or self.prune) and not self.check_every:
            raise KgdashError("patience and pruning need check_every: epochs between two checks")


def run_trial(
    study: optuna.Study, graph: KnowledgeGraph, plan: SearchPlan, number: int, progress: Progress
) -> None:
    """Run the next trial of a study and write down how it ended.

    A configuration that PyKEEN can not train, or that diverges, is a failed trial with its reason.

    :param graph: its test triples are not read
    :param number: of trials that came to an end before
    :param progress: called with (done, total) after each epoch; may raise to cancel: the trial is
        then failed without a reason, and the exception goes on
    """
    # By the number of the trial: a search that was interrupted goes on as if it had not been.
    study.sampler = _sampler(plan, number)
    study.pruner = optuna.pruners.MedianPruner() if plan.prune else optuna.pruners.NopPruner()
    trial = study.ask()
    judge = _Judge(trial, graph, plan, progress)
    try:
        judge.train()
    except optuna.TrialPruned:
        study.tell(trial, state=TrialState.PRUNED)
    except (KgdashError, MemoryError) as error:
        if error is not judge.cancelled:
            trial.set_user_attr("reason", str(error) or type(error).__name__)
        study.tell(trial, state=TrialState.FAIL)
        if error is judge.cancelled:
            raise
    except BaseException:
        study.tell(trial, state=TrialState.FAIL)
        raise
    else:
        study.tell(trial, judge.best)


def _sampler(plan: SearchPlan, number: int) -> optuna.samplers.BaseSampler:
    sequence = np.random.SeedSequence([plan.space.random_seed, number])
    seed = int(sequence.generate_state(1)[0])
    if plan.sampler == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    return optuna.samplers.TPESampler(seed=seed)


class _Enough(Exception):
    """The trial has had its patience's worth of checks without a better value."""


class _Judge:
    """Trains a trial's configuration and keeps the best value that it reaches on validation."""

    def __init__(
        self, trial: optuna.Trial, graph: KnowledgeGraph, plan: SearchPlan, progress: Progress
    ) -> None:
        self._trial, self._graph, self._plan, self._progress = trial, graph, plan, progress
        self._since_best = 0
        self.best = -np.inf
        self.cancelled: BaseException | None = None

    def train(self) -> None:
        """Choose a configuration and train it; `best` then holds its value."""
        try:
            self._config = suggest(self._trial, self._plan.space)
        except (ValueError, TypeError, AttributeError) as error:
            # Optuna's, where earlier trials chose from other values, or are damaged.
            raise KgdashError(f"earlier trials do not lead to another one: {error}") from error
        with suppress(_Enough):
            fit(self._graph, self._config, self._report, self._watch)

    def _report(self, done: float, total: float) -> None:
        try:
            self._progress(done, total)
        except BaseException as error:
            self.cancelled = error
            raise

    def _watch(self, epoch: int, loss: float, model: Any, mrr: float | None) -> None:
        last = epoch == self._config.epochs
        if not last and (not self._plan.check_every or epoch % self._plan.check_every):
            return
        value = validation_mrr(self._graph, self._config.spec(), scoring_state(model))
        if value > self.best:
            self.best, self._since_best = value, 0
            self._trial.set_user_attr("epochs", epoch)
        else:
            self._since_best += 1
        self._trial.report(value, epoch)
        if last:
            return
        if self._trial.should_prune():
            raise optuna.TrialPruned
        if self._plan.patience and self._since_best >= self._plan.patience:
            raise _Enough
