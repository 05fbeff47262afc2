"""Train a model, with PyKEEN's pipeline or a loop of our own, and write it in the safe form."""

import gc
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from pykeen.pipeline import pipeline
from pykeen.training import TrainingCallback, training_loop_resolver
from pykeen.triples import TriplesFactory
from pykeen.version import get_version

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import bounded_memory
from kgdash.formats.run_directory import check_free, write_run
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.metrics import metrics
from kgdash.runs import Run
from kgdash.runs.loading import assemble
from kgdash.runs.softmax_training import SOFTMAX, train_softmax
from kgdash.scoring.build_model import scoring_state, skeleton
from kgdash.scoring.model_spec import ModelSpec, Scalar, check_arguments
from kgdash.scoring.pykeen_scorer import best_device
from kgdash.scoring.reckoned_memory import check_batch, check_made, most_for_training
from kgdash.scoring.turning import check_turning

#: called after each epoch with its number (≥ 1), its mean loss, the model and its MRR on valid
#: where the loop looked at that; may raise to end the training. It must not change the model nor
#: draw from torch's random generators
Watch = Callable[[int, float, Any, float | None], None]

#: models that PyKEEN only trains with inverse relations
_NEED_INVERSE = frozenset({"ConvE", "CompGCN", "NodePiece"})

#: what PyKEEN and torch raise of arguments that they can not take
_REFUSALS = (
    TypeError,
    ValueError,
    AttributeError,
    RuntimeError,
    ArithmeticError,
    LookupError,
    AssertionError,
)


def unwatched(epoch: int, loss: float, model: Any, mrr: float | None) -> None:
    """Look at nothing."""


@dataclass(frozen=True)
class Trained:
    """A model, the loss of each epoch, and what else is recorded of its training."""

    model: Any
    losses: list[float]
    record: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TrainingConfig:
    """How to train: what is not given is PyKEEN's default.

    ``loss``, ``regularizer``, ``optimizer`` and ``negative_sampler`` are PyKEEN's names; the
    arguments of a regularizer are only read with its name. ``create_inverse_triples`` defaults to
    what the model needs. ``training_loop`` is PyKEEN's sLCWA or LCWA, or softmax: one of our own,
    for which ``loop_kwargs`` are (`kgdash.runs.softmax_training.ARGUMENTS`).
    """

    model: str
    model_kwargs: Mapping[str, Scalar] = field(default_factory=dict)
    epochs: int = 100
    batch_size: int | None = None
    random_seed: int = 0
    training_loop: str = "sLCWA"
    create_inverse_triples: bool | None = None
    regularizer: str | None = None
    regularizer_kwargs: Mapping[str, Any] = field(default_factory=dict)
    loss: str | None = None
    loss_kwargs: Mapping[str, Any] = field(default_factory=dict)
    optimizer: str = "Adam"
    optimizer_kwargs: Mapping[str, Any] = field(default_factory=dict)
    negative_sampler: str | None = None
    negative_sampler_kwargs: Mapping[str, Any] = field(default_factory=dict)
    loop_kwargs: Mapping[str, Any] = field(default_factory=dict)

    def spec(self) -> ModelSpec:
        """Return the configuration of the model that this trains."""
        inverse = self.create_inverse_triples
        if inverse is None:
            inverse = self.model in _NEED_INVERSE or self.training_loop == SOFTMAX
        return ModelSpec(self.model, dict(self.model_kwargs), inverse)

    def record(self) -> dict[str, Any]:
        """Return the configuration as JSON can hold it, defaults that PyKEEN fills in left out."""
        return {key: value for key, value in vars(self).items() if value not in (None, {})}


def train(
    graph: KnowledgeGraph,
    config: TrainingConfig,
    out: Path,
    progress: Progress = silent,
    search: Mapping[str, Any] | None = None,
    watch: Watch = unwatched,
) -> Run:
    """Train a model on a graph's training triples, evaluate it on test and write the run.

    :param out: directory to write; must not exist
    :param progress: called with (done, total); may raise to cancel, then nothing is written
    :param search: JSON-ready record of how the configuration was found, kept with the training's
    :param watch: called after each epoch
    :return: the run as written
    :raises KgdashError: if ``out`` exists, the configuration is not one that PyKEEN can train, or
        training diverges
    """
    check_free(out)
    report = phases(progress, [0.95, 0.05])
    start = time.monotonic()
    result = fit(graph, config, report[0], watch)
    state = scoring_state(result.model)
    training = {
        "dataset": graph.name,
        **config.record(),
        "losses": result.losses,
        "seconds": round(time.monotonic() - start, 1),
        **result.record,
    }
    if search is not None:
        training["search"] = dict(search)
    provenance = {"form": "trained with kgdash", "pykeen": get_version()}
    if graph.folder is not None:
        provenance["dataset"] = str(graph.folder)
    run = assemble(out.name, graph, config.spec(), state, training, provenance)
    _check_rebuilt(result.model, run)
    if len(graph.splits["test"]):
        values = metrics(run.ranks(progress=report[1])).values()
        keys = ("inverse_harmonic_mean_rank", "hits_at_1", "hits_at_3", "hits_at_10")
        training["evaluation"] = {key: round(values[key], 6) for key in keys}
    write_run(out, graph, config.spec(), state, training, provenance)
    return run


def fit(
    graph: KnowledgeGraph,
    config: TrainingConfig,
    progress: Progress = silent,
    watch: Watch = unwatched,
) -> Trained:
    """Train a model on a graph's training triples; nothing is written.

    :param graph: the dataset; test triples are not read
    :param progress: called with (done, total) after each epoch; may raise to cancel
    :param watch: called after each epoch, before the progress
    :raises KgdashError: if the configuration is not one that can be trained, or training diverges
    """
    spec = config.spec()
    check_arguments(spec, "train")
    if config.epochs < 1:
        raise KgdashError(f"expected at least 1 epoch; found {config.epochs}")
    if config.training_loop == SOFTMAX:
        model, course = train_softmax(graph, config, progress, watch)
        checks = [[epoch, round(mrr, 6)] for epoch, mrr in course.checks]
        record = {"best_epoch": course.best_epoch, "validation_mrr": checks} if checks else {}
        return Trained(model, course.losses, record | {"seconds": round(course.seconds, 1)})
    if config.loop_kwargs:
        raise KgdashError(
            f"loop.{min(config.loop_kwargs)}: only for the training loop {SOFTMAX}; "
            f"found {config.training_loop}"
        )
    most = check_memory(graph, config)
    free = f"train: to train {config.model} takes more memory than is free, {most / 2**30:.3g} GiB"
    refusal = f"{free}: take a smaller batch, fewer dimensions or another loss"
    on_cpu = best_device().type == "cpu"  # others refuse by themselves, and reserve what they map
    with bounded_memory(most, refusal) if on_cpu else nullcontext():
        return _fit_with_pykeen(graph, config, progress, watch)


def check_memory(graph: KnowledgeGraph, config: TrainingConfig, of_run: str = "") -> int:
    """Refuse a configuration that takes more memory than there is, or than a run's own words may.

    :param of_run: the run that says how it was trained, which a stranger may have written
    :return: the bytes that it may take, of which it does not take more as far as is known before
    :raises KgdashError: if it does, or PyKEEN can not build its model
    """
    where = f"training in run.json of run {of_run}" if of_run else "train"
    triples, spec = graph.splits["train"], config.spec()
    model = skeleton(spec, triples, graph.num_entities, graph.num_relations, where)
    check_made(model, where)
    rows = min(len(triples) * (1 + spec.create_inverse_triples), config.batch_size or 256)
    each = config.negative_sampler_kwargs.get("num_negs_per_pos", 1)
    most = most_for_training(is_own=not of_run)
    if best_device().type == "cpu":
        with suppress(KeyError):  # softmax takes its batches in parts; PyKEEN refuses what is none
            loop = training_loop_resolver.lookup(config.training_loop)
            check_batch(model, (loop.__name__, rows, each), where, most)
    return most


def _fit_with_pykeen(
    graph: KnowledgeGraph, config: TrainingConfig, progress: Progress, watch: Watch
) -> Trained:
    spec = config.spec()
    factories = _factories(graph, spec.create_inverse_triples)
    listener = _Report(progress, config.epochs, watch)
    course = {"num_epochs": config.epochs, "batch_size": config.batch_size or None}
    sampler: dict[str, Any] = {}
    if config.negative_sampler and config.training_loop.lower() == "slcwa":
        sampler = {
            "negative_sampler": config.negative_sampler,
            "negative_sampler_kwargs": dict(config.negative_sampler_kwargs),
        }
    # PyKEEN collects garbage after every epoch; without the imported modules that takes no time.
    gc.freeze()
    try:
        result = pipeline(
            training=factories["train"],
            validation=factories["valid"],
            # The pipeline insists on evaluating; one triple keeps that short, ours follows.
            testing=factories["one"],
            model=config.model,
            model_kwargs=dict(spec.kwargs),
            regularizer=config.regularizer,
            regularizer_kwargs=dict(config.regularizer_kwargs) or None,
            loss=config.loss,
            loss_kwargs=dict(config.loss_kwargs) or None,
            optimizer=config.optimizer,
            optimizer_kwargs=dict(config.optimizer_kwargs) or None,
            training_loop=config.training_loop,
            training_kwargs=course | {"callbacks": [listener], "use_tqdm": False},
            random_seed=config.random_seed,
            evaluator_kwargs={"clear_on_finalize": True},
            evaluation_kwargs={"use_tqdm": False},
            **sampler,
        )
    except _REFUSALS as error:
        if error is listener.raised:
            raise
        raise KgdashError(
            f"PyKEEN can not train {config.model} with {config.record()}: {error}"
        ) from error
    finally:
        gc.unfreeze()
    return Trained(result.model, [float(loss) for loss in result.losses])


def _factories(graph: KnowledgeGraph, inverse: bool) -> dict[str, TriplesFactory]:
    names = [{name: i for i, name in enumerate(of)} for of in (graph.entities, graph.relations)]
    parts = {
        "train": (graph.splits["train"], inverse),
        "valid": (graph.splits["valid"], False),
        "one": (graph.splits["train"][:1], False),
    }
    return {
        name: TriplesFactory(torch.from_numpy(triples), *names, create_inverse_triples=create)
        for name, (triples, create) in parts.items()
    }


class _Report(TrainingCallback):
    """Tells the progress after each epoch; ends what diverges or what the listener ends."""

    def __init__(self, progress: Progress, epochs: int, watch: Watch) -> None:
        super().__init__()
        self._progress, self._epochs, self._watch = progress, epochs, watch
        self.raised: BaseException | None = None

    def post_epoch(self, epoch: int, epoch_loss: float, **kwargs: Any) -> None:
        try:
            if not all(bool(p.isfinite().all()) for p in self.model.parameters()):
                raise KgdashError(
                    f"training diverged: weights are NaN or infinite after epoch {epoch}; "
                    "try a lower learning rate"
                )
            check_turning(self.model, "train")
            self._watch(epoch, epoch_loss, self.model, None)
            self._progress(epoch, self._epochs)
        except BaseException as error:
            self.raised = error
            raise


def _check_rebuilt(model: Any, run: Run) -> None:
    """Refuse to write a run whose rebuilt model does not score as the trained one does."""
    triples = torch.from_numpy(run.graph.splits["train"][:256])
    scorer: Any = run.scorer
    with torch.inference_mode():
        trained, rebuilt = (
            m.predict_hrt(triples.to(m.device)).squeeze(-1).cpu() for m in (model, scorer.model)
        )
    if not torch.equal(trained, rebuilt):
        raise KgdashError(
            f"{run.spec.name} rebuilt from its configuration does not score as the trained model; "
            "this model can not be stored in the safe form"
        )
