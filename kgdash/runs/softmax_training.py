"""The training loop of our own: softmax over all entities, the best epoch on validation kept.

Why and how: docs/training.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from pykeen.optimizers import optimizer_resolver
from pykeen.triples import CoreTriplesFactory

from kgdash.errors import KgdashError, check_name
from kgdash.graph import KnowledgeGraph
from kgdash.learning.queries import Queries
from kgdash.learning.trainer import Settings, Trainer, is_like
from kgdash.learning.weights import MODELS
from kgdash.runs.checkpoint import Checkpoint
from kgdash.runs.validation import MOST_CHECKED, SPLIT, validation_mrr
from kgdash.scoring.build_model import scoring_state
from kgdash.scoring.model_spec import check_arguments

if TYPE_CHECKING:
    from kgdash.runs.training import TrainingConfig, Watch

#: the name of the loop
SOFTMAX = "softmax"

#: argument of the loop -> its default, the least and the greatest value
ARGUMENTS: Mapping[str, tuple[Any, float, float]] = {
    "answers": (16, 1, 10_000),
    "n3": (0.0, 0.0, 1e3),
    "spread": (0.01, 0.0, 10.0),
    "check_every": (0, 0, 10**6),
    "patience": (5, 1, 10**6),
}

#: a check of validation per so many training triples, each counted twice, unless one says another
_PER_CHECK = 100_000


@dataclass
class Course:
    """How a training went: a loss per epoch, MRR on valid after some, the weights of the best."""

    losses: list[float] = field(default_factory=list)
    checks: list[tuple[int, float]] = field(default_factory=list)
    best: dict[str, torch.Tensor] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def best_epoch(self) -> int:
        """Return the first of the epochs with the best MRR; 0 if none was checked."""
        return max(self.checks, key=lambda check: check[1])[0] if self.checks else 0

    def without_better(self) -> int:
        """Return how many checks came after the best one."""
        return sum(epoch > self.best_epoch for epoch, _ in self.checks)


def check_loop(config: TrainingConfig) -> dict[str, Any]:
    """Return the loop's arguments, all of them.

    :raises KgdashError: naming what is none of them, not a number, or out of its range
    """
    check_name("model", config.model, MODELS, f"the training loop {SOFTMAX}")
    wrong = {
        "--loss": config.loss,
        "regularizer": config.regularizer,
        "negative_sampler": config.negative_sampler,
        "--no-inverse": config.create_inverse_triples is False,
    }
    if found := [name for name, given in wrong.items() if given]:
        raise KgdashError(
            f"{', '.join(found)}: the training loop {SOFTMAX} has its own loss (cross-entropy "
            "among all entities), norm (loop.n3) and inverse relations; leave that out"
        )
    arguments = {name: default for name, (default, _, _) in ARGUMENTS.items()}
    for name, value in config.loop_kwargs.items():
        check_name("argument", name, list(ARGUMENTS), f"the training loop {SOFTMAX}")
        default, least, most = ARGUMENTS[name]
        kinds = (int,) if isinstance(default, int) else (int, float)
        if type(value) not in kinds or not least <= value <= most:
            kind = "whole number" if isinstance(default, int) else "number"
            raise KgdashError(
                f"loop.{name}: expected a {kind} from {least:g} to {most:g}; found {value!r}"
            )
        arguments[name] = value
    if config.batch_size is not None and config.batch_size < 2:
        raise KgdashError(f"expected a batch size of at least 2; found {config.batch_size}")
    return arguments


def train_softmax(
    graph: KnowledgeGraph,
    config: TrainingConfig,
    progress: Callable[[float, float], None],
    watch: Watch,
) -> tuple[Any, Course]:
    """Train a model; its weights are then those of the epoch that was best on validation.

    A training of over a minute is gone on with if it is asked for again, after it was cancelled or
    killed, and ends with the same weights.

    :param graph: its test triples are not read
    :param progress: called with (epochs done, epochs), fractions of epochs too; may raise to cancel
    :raises KgdashError: if the configuration is not one that this loop can train, or it diverges
    """
    arguments = check_loop(config)
    torch.manual_seed(config.random_seed)
    model = _model(graph, config)
    settings = {name: arguments[name] for name in ("answers", "n3", "spread")}
    trainer = Trainer(
        model,
        Queries(graph.splits["train"], graph.num_relations, arguments["answers"]),
        Settings(rows=config.batch_size or Settings.rows, **settings),
        lambda tensors: _optimizer(config, tensors),
        config.random_seed,
    )
    checkpoint = Checkpoint({"graph": graph.digest, "training": config.record()})
    course = _resumed(checkpoint, trainer, model)
    start = time.monotonic() - course.seconds
    for epoch, loss in enumerate(course.losses, start=1):
        watch(epoch, loss, model, dict(course.checks).get(epoch))
    every = arguments["check_every"] or -(-_PER_CHECK // max(1, 2 * len(graph.splits["train"])))
    every = every if len(graph.splits[SPLIT]) else 0

    def report(share: float) -> None:
        progress(len(course.losses) + share, config.epochs)

    while len(course.losses) < config.epochs and course.without_better() < arguments["patience"]:
        loss, epoch = trainer.epoch(report), len(course.losses) + 1
        _check_finite(model, loss, epoch)
        course.losses.append(loss)
        mrr = None
        if every and (epoch % every == 0 or epoch == config.epochs):
            mrr = _check(graph, config, model, course)
        watch(epoch, loss, model, mrr)
        progress(epoch, config.epochs)
        if checkpoint.is_due():
            course.seconds = time.monotonic() - start
            _keep(checkpoint, trainer, course)
    if course.best:
        model.load_state_dict(course.best, strict=False)
    course.seconds = time.monotonic() - start
    checkpoint.remove()
    return model, course


def _model(graph: KnowledgeGraph, config: TrainingConfig) -> Any:
    spec = config.spec()
    build: Any = check_arguments(spec, "train")
    # Constructors are PyKEEN's and raise whatever they please on a bad combination.
    try:
        factory = CoreTriplesFactory(
            torch.from_numpy(graph.splits["train"]),
            num_entities=graph.num_entities,
            num_relations=graph.num_relations,
            create_inverse_triples=True,
        )
        model = build(triples_factory=factory, random_seed=config.random_seed, **spec.kwargs)
        model.predict_hrt(factory.mapped_triples[:1])  # some find only here what does not fit
        return model.train()
    except Exception as error:
        raise KgdashError(
            f"PyKEEN can not build {config.model} with {dict(spec.kwargs)}: {error}"
        ) from error


def _optimizer(config: TrainingConfig, tensors: list[torch.Tensor]) -> torch.optim.Optimizer:
    try:
        made = optimizer_resolver.make(
            config.optimizer, dict(config.optimizer_kwargs), params=tensors
        )
    except (TypeError, ValueError, KeyError) as error:
        raise KgdashError(
            f"no optimizer {config.optimizer} with {dict(config.optimizer_kwargs)}: {error}"
        ) from error
    assert isinstance(made, torch.optim.Optimizer)
    return made


def _check(graph: KnowledgeGraph, config: TrainingConfig, model: Any, course: Course) -> float:
    """Rank validation triples; keep the weights if they are the best so far."""
    epoch, state = len(course.losses), scoring_state(model)
    mrr = validation_mrr(graph, config.spec(), state, MOST_CHECKED)
    course.checks.append((epoch, mrr))
    if course.best_epoch == epoch:
        course.best = state
    return mrr


def _check_finite(model: Any, loss: float, epoch: int) -> None:
    finite = loss == loss and all(bool(p.isfinite().all()) for p in model.parameters())
    if not finite:
        raise KgdashError(
            f"training diverged: weights are NaN or infinite after epoch {epoch}; "
            "try a lower learning rate"
        )


_BEST = "best."


def _keep(checkpoint: Checkpoint, trainer: Trainer, course: Course) -> None:
    said = {"losses": course.losses, "checks": course.checks, "seconds": course.seconds}
    best = {_BEST + name: tensor for name, tensor in course.best.items()}
    checkpoint.write(said, trainer.state() | best)


def _resumed(checkpoint: Checkpoint, trainer: Trainer, model: Any) -> Course:
    """Have a trainer go on from where it was; where nothing sound is kept, nothing changes."""
    found = checkpoint.read()
    if found is None:
        return Course()
    said, tensors = found
    best = {k.removeprefix(_BEST): each for k, each in tensors.items() if k.startswith(_BEST)}
    like = scoring_state(model)
    # Whoever can write there may have written anything.
    try:
        losses, seconds = [float(loss) for loss in said["losses"]], float(said["seconds"])
        checks = [(int(epoch), float(mrr)) for epoch, mrr in said["checks"]]
        epochs = {epoch for epoch, _ in checks}
        if not epochs <= set(range(1, len(losses) + 1)) or not np.isfinite(losses).all():
            raise ValueError("checks of epochs that were not")
        if best and (set(best) != set(like) or not all(is_like(best[n], like[n]) for n in like)):
            raise ValueError("the best weights are another model's")
        trainer.go_on({k: each for k, each in tensors.items() if not k.startswith(_BEST)})
    except (KeyError, TypeError, ValueError, OverflowError):
        return Course()
    return Course(losses, checks, best, seconds)
