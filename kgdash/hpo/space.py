"""What a search may choose from: PyKEEN's own ranges, narrowed by the user.

Parameters carry the names that PyKEEN's hyper-parameter optimisation gives them: the part of the
pipeline, a dot, the argument (``model.embedding_dim``, ``optimizer.lr``, ``training.num_epochs``).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pykeen.hpo.hpo import suggest_kwargs
from pykeen.losses import loss_resolver
from pykeen.optimizers import optimizer_resolver, optimizers_hpo_defaults
from pykeen.sampling import negative_sampler_resolver
from pykeen.training import SLCWATrainingLoop, training_loop_resolver

from kgdash.errors import KgdashError, check_name, unknown_name
from kgdash.hpo.study_file import MAX_CHOICES, MAX_TEXT
from kgdash.runs.softmax_training import ARGUMENTS, SOFTMAX
from kgdash.runs.training import TrainingConfig
from kgdash.scoring.model_spec import constructor_arguments, model_class

PARTS = ("model", "loss", "regularizer", "optimizer", "negative_sampler", "training", "loop")
_TRAINING = ("num_epochs", "batch_size")

#: where neither the user nor PyKEEN's ranges say another
DEFAULT_DIMENSION = 50


@dataclass(frozen=True)
class SearchSpace:
    """The configurations that a search may try.

    ``models`` and ``losses`` are PyKEEN's names; with several, each trial picks one. No losses:
    each model's default. ``values`` maps parameters to a fixed value, a list of choices, or a range
    ``{"low": …, "high": …}`` with ``"log": True`` or a ``"step"``; what is not in it has PyKEEN's
    range. All trials train with ``random_seed``.
    """

    models: tuple[str, ...]
    losses: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    optimizer: str = "Adam"
    training_loop: str = "sLCWA"
    negative_sampler: str = "basic"
    create_inverse_triples: bool | None = None
    random_seed: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the space as a JSON-ready dictionary."""
        plain = asdict(self)
        return plain | {"models": list(self.models), "losses": list(self.losses)}

    @classmethod
    def from_json(cls, data: Any, where: str) -> SearchSpace:
        """Read what :meth:`to_json` wrote, and check it.

        :raises KgdashError: if it is something else
        """
        try:
            space = cls(**data)
            lists = {"models": tuple(space.models), "losses": tuple(space.losses)}
            space = cls(**{**vars(space), **lists})
            check_space(space)
        except (TypeError, ValueError, AttributeError) as error:
            raise KgdashError(f"{where}: not a search space: {error}") from error
        return space


def check_space(space: SearchSpace) -> None:
    """Refuse what PyKEEN does not know, and ranges that hold nothing, before anything is trained.

    :raises KgdashError: naming the model, loss, parameter or range
    """
    if not space.models:
        raise KgdashError("expected at least one model to search; found none")
    classes = [model_class(name, "search") for name in space.models]
    losses = [_look_up(loss_resolver, "loss", name) for name in space.losses]
    optimizer = _look_up(optimizer_resolver, "optimizer", space.optimizer)
    sampler = _look_up(negative_sampler_resolver, "negative sampler", space.negative_sampler)
    own = space.training_loop == SOFTMAX
    loop = None if own else _look_up(training_loop_resolver, "training loop", space.training_loop)
    arguments: dict[str, set[str]] = {
        "model": set.union(*(set(constructor_arguments(cls)) for cls in classes)),
        "loss": _arguments(losses or [cls.loss_default for cls in classes]),
        "regularizer": _arguments(
            [r for cls in classes if (r := getattr(cls, "regularizer_default", None))]
        ),
        "optimizer": _arguments([optimizer]),
        "negative_sampler": _arguments([sampler, *sampler.__bases__]),
        "training": set(_TRAINING),
        "loop": set(ARGUMENTS),
    }
    known = [f"{part}.{name}" for part in PARTS for name in sorted(arguments[part])]
    for key, values in space.values.items():
        check_name("parameter", key, known, "the search")
        if key.startswith("negative_sampler.") and not (
            loop and issubclass(loop, SLCWATrainingLoop)
        ):
            raise KgdashError(f"{key}: only the training loop sLCWA samples negatives")
        _check_values(key, values)


def _look_up(resolver: Any, kind: str, name: str) -> Any:
    try:
        return resolver.lookup(name)
    except (KeyError, ValueError, TypeError) as error:
        names = sorted(cls.__name__ for cls in resolver)
        raise unknown_name(kind, str(name), names, "PyKEEN") from error


def _arguments(classes: list[Any]) -> set[str]:
    found = {name for cls in classes for name in inspect.signature(cls).parameters}
    return found - {"args", "kwargs", "params", "self", "mapped_triples"}


def _check_values(key: str, values: Any) -> None:
    if isinstance(values, Mapping):
        low: Any = values.get("low")
        high: Any = values.get("high")
        step: Any = values.get("step", 1)
        numbers = all(type(number) in (int, float) for number in (low, high, step))
        if set(values) - {"low", "high", "step", "log"} or not numbers:
            raise KgdashError(f"{key}: expected low, high, and step or log; found {dict(values)}")
        if not float(low) < float(high) < math.inf or step <= 0:
            raise KgdashError(f"{key}: expected a range from low to high; found {low}:{high}")
        if values.get("log") and float(low) <= 0:
            raise KgdashError(f"{key}: a log range starts above 0; found {low}:{high}")
    elif isinstance(values, list) and len({repr(value) for value in values}) < len(values):
        raise KgdashError(f"{key}: expected different choices; found {values}")
    elif isinstance(values, list) and (
        len(values) > MAX_CHOICES
        or max((len(str(value)) for value in values), default=0) > MAX_TEXT
    ):
        raise KgdashError(
            f"{key}: expected at most {MAX_CHOICES} choices of {MAX_TEXT} characters; found "
            f"{len(values)}"
        )
    if key.startswith("training."):
        given = values if isinstance(values, list) else [values]
        given = [values["low"], values["high"]] if isinstance(values, Mapping) else given
        wrong = [number for number in given if type(number) is not int or number < 1]
        if wrong:
            raise KgdashError(f"{key}: expected a whole number of at least 1; found {wrong[0]!r}")


def suggest(trial: Any, space: SearchSpace) -> TrainingConfig:
    """Let a trial choose a configuration, with PyKEEN's ``suggest_kwargs``.

    With several models, parameters of a model are named after it (``TransE.embedding_dim``), since
    their ranges differ; with several losses likewise.

    :param trial: an ``optuna.Trial``, or a ``FixedTrial`` of parameters that were chosen before
    :param space: checked
    """
    model = _pick(trial, "model", space.models)
    cls = model_class(model, "search")
    loss = loss_resolver.lookup(_pick(trial, "loss", space.losses) or cls.loss_default)
    regularizer = getattr(cls, "regularizer_default", None)
    loop = training_loop_resolver.lookup(space.training_loop)
    allowed = constructor_arguments(cls)
    defaults: dict[str, Mapping[str, Any]] = {
        "model": {name: r for name, r in cls.hpo_default.items() if name in allowed},
        "loss": getattr(loss, "hpo_default", {}),
        "regularizer": regularizer.hpo_default if regularizer else {},
        "optimizer": optimizers_hpo_defaults[optimizer_resolver.lookup(space.optimizer)],
        "training": loop.hpo_default,
    }
    if issubclass(loop, SLCWATrainingLoop):
        sampler = negative_sampler_resolver.lookup(space.negative_sampler)
        defaults["negative_sampler"] = sampler.hpo_default
    prefixes = {"model": model} if len(space.models) > 1 else {}
    prefixes |= {"loss": loss.__name__} if len(space.losses) > 1 else {}
    chosen = {
        part: _suggest_part(trial, part, prefixes.get(part, part), ranges, space)
        for part, ranges in defaults.items()
    }
    chosen["model"] = {name: value for name, value in chosen["model"].items() if name in allowed}
    if "embedding_dim" in allowed:
        chosen["model"].setdefault("embedding_dim", DEFAULT_DIMENSION)
    if not space.losses:
        chosen["loss"] = {**(cls.loss_default_kwargs or {}), **chosen["loss"]}
    return _configuration(space, model, loss.__name__, chosen)


def fixed_configuration(space: SearchSpace) -> TrainingConfig:
    """Return the configuration of a space that leaves nothing to choose; the rest is PyKEEN's.

    :param space: one model, at most one loss, and only fixed values
    :raises KgdashError: if it leaves something to choose, or PyKEEN does not know a name
    """
    several = [key for key, values in space.values.items() if isinstance(values, list | Mapping)]
    several += [f"{len(space.models)} models"] * (len(space.models) != 1)
    several += [f"{len(space.losses)} losses"] * (len(space.losses) > 1)
    if several:
        raise KgdashError(
            f"{', '.join(several)}: choices and ranges are for a search (--search); give one value"
        )
    check_space(space)
    chosen: dict[str, dict[str, Any]] = {}
    for key, value in space.values.items():
        part, _, name = key.partition(".")
        chosen.setdefault(part, {})[name] = value
    (model,) = space.models
    loss = space.losses[0] if space.losses else None
    if loss is None and "loss" in chosen:
        cls = model_class(model, "train")
        loss = cls.loss_default.__name__
        chosen["loss"] = {**(cls.loss_default_kwargs or {}), **chosen["loss"]}
    return _configuration(space, model, loss, chosen)


def _pick(trial: Any, name: str, names: tuple[str, ...]) -> Any:
    if len(names) > 1:
        return trial.suggest_categorical(name, list(names))
    return names[0] if names else None


def _suggest_part(
    trial: Any, part: str, prefix: str, defaults: Mapping[str, Any], space: SearchSpace
) -> dict[str, Any]:
    given = {
        key.partition(".")[2]: values
        for key, values in space.values.items()
        if key.partition(".")[0] == part
    }
    fixed = {n: v for n, v in given.items() if not isinstance(v, list | Mapping)}
    ranges = {name: _as_suggested(values) for name, values in defaults.items()}
    for name, values in given.items():
        if name not in fixed:
            ranges[name] = _narrowed(values, ranges.get(name, {}))
    return dict(suggest_kwargs(trial, prefix, ranges, fixed))


def _as_suggested(default: Mapping[str, Any]) -> dict[str, Any]:
    """Return a range of PyKEEN's as PyKEEN means it.

    Its ``suggest_kwargs`` does not read ``scale: log`` and would draw learning rates uniformly;
    choices given as a set come in another order in every process, which Optuna takes for others;
    classes, such as activations, are chosen by their names.
    """
    ranges = dict(default)
    if ranges.get("scale") == "log":
        ranges["log"] = True
    if isinstance(ranges.get("choices"), set | frozenset):
        ranges["choices"] = sorted(ranges["choices"])
    if "choices" in ranges:
        ranges["choices"] = [c.__name__ if isinstance(c, type) else c for c in ranges["choices"]]
    return ranges


def _narrowed(values: Any, default: Mapping[str, Any]) -> dict[str, Any]:
    """Return choices or a range of the user's in PyKEEN's words, with its scale if it fits."""
    if isinstance(values, list):
        return {"type": "categorical", "choices": values}
    whole = all(isinstance(values[end], int) for end in ("low", "high"))
    whole = whole and default.get("type", int) in (int, "int")
    narrowed = {"type": "int" if whole else "float", **values}
    if not {"log", "step"} & set(values) and values["low"] > 0:
        narrowed["log"] = bool(default.get("log")) or default.get("scale") == "power_two"
    return narrowed


def _configuration(
    space: SearchSpace, model: str, loss: str | None, chosen: Mapping[str, Mapping[str, Any]]
) -> TrainingConfig:
    training = chosen.get("training", {})
    regularizer = None
    cls: Any = model_class(model, "train")
    if chosen.get("regularizer") and getattr(cls, "regularizer_default", None):
        regularizer = cls.regularizer_default
    sampled = chosen.get("negative_sampler", {})
    return TrainingConfig(
        model=model,
        model_kwargs=chosen.get("model", {}),
        epochs=training.get("num_epochs", TrainingConfig.epochs),
        batch_size=training.get("batch_size"),
        random_seed=space.random_seed,
        training_loop=space.training_loop,
        create_inverse_triples=space.create_inverse_triples,
        regularizer=None if regularizer is None else regularizer.__name__,
        regularizer_kwargs={}
        if regularizer is None
        else {**(cls.regularizer_default_kwargs or {}), **chosen["regularizer"]},
        loss=loss,
        loss_kwargs=chosen.get("loss", {}),
        optimizer=space.optimizer,
        optimizer_kwargs=chosen.get("optimizer", {}),
        negative_sampler=space.negative_sampler if sampled else None,
        negative_sampler_kwargs=sampled,
        loop_kwargs=chosen.get("loop", {}),
    )
