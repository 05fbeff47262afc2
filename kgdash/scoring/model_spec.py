"""What a model's configuration is: a PyKEEN class name and scalar constructor arguments.

A configuration may come from a stranger, so the name must be that of a PyKEEN model, every argument
must stand on the list below, and sizes are bounded.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from pykeen.models import Model, model_resolver

from kgdash.errors import KgdashError, unknown_name
from kgdash.scoring.own_models import OWN_MODELS

Scalar = int | float | bool | str | None


class OwnWeights(dict[str, torch.Tensor]):
    """A model's tensors by name, which nobody else changes: a model may keep them as they are."""


MAX_SIZE = 65_536
MAX_COUNT = 64

#: kind -> the constructor arguments of that kind. Sizes are dimensions of weights, counts are
#: numbers of repeated modules, names are looked up by PyKEEN's resolvers.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "size": (
        "embedding_dim",
        "relation_dim",
        "hidden_dim",
        "rank",
        "num_slices",
        "num_filters",
        "input_channels",
        "output_channels",
        "embedding_height",
        "embedding_width",
        "kernel_height",
        "kernel_width",
    ),
    "count": ("num_components", "num_layers", "num_tokens"),
    "flag": (
        "power_norm",
        "tanh_map",
        "apply_batch_normalization",
        "use_bias",
        "predict_with_sigmoid",
    ),
    "number": (
        "p",
        "scoring_fct_norm",
        "max_projection_norm",
        "clamp_score",
        "c_min",
        "c_max",
        "input_dropout",
        "output_dropout",
        "feature_map_dropout",
        "hidden_dropout",
        "hidden_dropout_rate",
        "edge_dropout",
        "self_loop_dropout",
        "combination_dropout",
        "dropout_0",
        "dropout_1",
        "dropout_2",
    ),
    "name": (
        "activation",
        "non_linearity",
        "inner_non_linearity",
        "combination_activation",
        "dist_similarity",
        "interaction",
        "edge_weighting",
        "decomposition",
    ),
}
KINDS: dict[str, str] = {name: kind for kind, names in ARGUMENTS.items() for name in names}

_LITERALS = "it needs numeric attributes of the entities, which no graph has here"
_INDUCTIVE = "it is inductive and needs a second graph for inference"

#: models of PyKEEN's that are refused, and why
UNSUPPORTED = {
    "ComplExLiteral": _LITERALS,
    "DistMultLiteral": _LITERALS,
    "DistMultLiteralGated": _LITERALS,
    "CooccurrenceFilteredModel": "it wraps another model; use that model itself",
    "InductiveNodePiece": _INDUCTIVE,
    "InductiveNodePieceGNN": _INDUCTIVE,
}


@dataclass(frozen=True)
class ModelSpec:
    """The configuration of a model, all that is needed besides weights and graph to rebuild it.

    ``name`` is the name of the class, PyKEEN's or one of `own_models`, ``kwargs`` its constructor
    arguments (scalars only), ``create_inverse_triples`` whether it was trained with inverse
    relations.
    """

    name: str
    kwargs: Mapping[str, Scalar] = field(default_factory=dict)
    create_inverse_triples: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the specification as a JSON-ready dictionary."""
        return {
            "name": self.name,
            "kwargs": dict(self.kwargs),
            "create_inverse_triples": self.create_inverse_triples,
        }

    @classmethod
    def from_json(cls, data: object, where: str = "model configuration") -> ModelSpec:
        """Read what :meth:`to_json` wrote.

        :raises KgdashError: if a key is missing or unknown, or a value has another type
        """
        keys = set(cls.__dataclass_fields__)
        if not isinstance(data, Mapping) or set(data) != keys:
            found = ", ".join(map(str, data)) if isinstance(data, Mapping) else type(data).__name__
            raise KgdashError(f"{where}: expected keys {', '.join(sorted(keys))}; found {found}")
        name, kwargs, inverse = data["name"], data["kwargs"], data["create_inverse_triples"]
        _expect(name, str, "name", where)
        _expect(inverse, bool, "create_inverse_triples", where)
        _expect(kwargs, Mapping, "kwargs", where)
        for key, value in kwargs.items():
            _expect(key, str, "a key of kwargs", where)
            _expect(value, int | float | str | None, f"kwargs.{key}", where)
        return cls(name, dict(kwargs), inverse)


def _expect(value: object, kind: Any, key: str, where: str) -> None:
    """Refuse a value of another type."""
    if not isinstance(value, kind):
        name = getattr(kind, "__name__", str(kind))
        raise KgdashError(f"{where}: {key}: expected {name}, found {value!r:.80}")


def model_class(name: str, where: str) -> type[Model]:
    """Look a model class up by its name.

    :raises KgdashError: if there is no such model or it cannot be rebuilt from weights alone
    """
    classes = {cls.__name__: cls for cls in model_resolver.lookup_dict.values()} | OWN_MODELS
    if name not in classes:
        raise unknown_name("model", name, sorted(set(classes) - set(UNSUPPORTED)), where)
    if name in UNSUPPORTED:
        raise KgdashError(f"{where}: model {name} is not supported: {UNSUPPORTED[name]}")
    return classes[name]


def constructor_arguments(cls: type[Model]) -> frozenset[str]:
    """Return the allowed arguments of a model's constructor, ``predict_with_sigmoid`` included.

    That one is forwarded to the base class; what else is forwarded is set by the model itself.
    """
    parameters = inspect.signature(cls.__init__).parameters
    return frozenset({"predict_with_sigmoid", *parameters} & set(KINDS))


def check_arguments(spec: ModelSpec, where: str) -> type[Model]:
    """Refuse arguments that are not allowed, not the constructor's, of a wrong type or absurd.

    :return: the model class
    :raises KgdashError: naming the model or argument and what was expected
    """
    cls = model_class(spec.name, where)
    known = constructor_arguments(cls)
    for name, value in spec.kwargs.items():
        if name not in known:
            raise unknown_name("argument", name, sorted(known), f"{where}, model {spec.name}")
        expected = _unmet(KINDS[name], value)
        if expected:
            raise KgdashError(
                f"{where}: {name} of model {spec.name}: expected {expected}, found {value!r:.80}"
            )
    return cls


def _unmet(kind: str, value: Scalar) -> str:
    """Return what a value of this kind must be, or nothing if it is that."""
    flag = isinstance(value, bool)
    if kind == "flag":
        return "" if flag else "true or false"
    if value is None:
        return ""
    if kind == "name":
        named = isinstance(value, str) and re.fullmatch(r"\w{1,64}", value)
        return "" if named else "a name"
    if kind == "number":
        number = not flag and isinstance(value, int | float) and abs(value) <= MAX_SIZE
        return "" if number else f"a number from {-MAX_SIZE:,} to {MAX_SIZE:,}"
    limit = MAX_COUNT if kind == "count" else MAX_SIZE
    whole = not flag and isinstance(value, int) and 1 <= value <= limit
    return "" if whole else f"a whole number from 1 to {limit:,}"
