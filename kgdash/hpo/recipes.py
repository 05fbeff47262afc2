"""Configurations that train well enough without a search, by model.

"good" is much as the bundled runs were trained (docs/demo-runs.md), "quick" the same with a smaller
dimension, a fifth of the epochs and at most 16 negatives. What they give on UMLS: docs/commands.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pykeen.models import model_resolver

from kgdash.hpo.space import DEFAULT_DIMENSION
from kgdash.runs.training import TrainingConfig
from kgdash.scoring.model_spec import UNSUPPORTED, constructor_arguments

#: name -> dimension and epochs; "PyKEEN's" is what `kgdash train` does without options
RECIPES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"quick": (32, 20), "good": (50, 100), "PyKEEN's": (DEFAULT_DIMENSION, TrainingConfig.epochs)}
)

#: the models with a recipe of their own
MODELS = ("TransE", "RotatE", "PairRE", "ComplEx", "DistMult", "ConvE")


@dataclass(frozen=True)
class Recipe:
    """What trains a model: a loss, "" for the model's own, and parameters as in `SearchSpace`."""

    loss: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


def recipe(name: str, model: str) -> Recipe:
    """Return how a recipe trains a model.

    :param name: of `RECIPES`
    :param model: PyKEEN's name
    """
    dimension, epochs = RECIPES[name]
    size = {"model.embedding_dim": dimension, "training.num_epochs": epochs}
    if name == "PyKEEN's":
        return Recipe("", size)
    loss, values = _TUNED.get(model, ("", {"optimizer.lr": 0.01, _NEGATIVES: 16}))
    negatives = min(values[_NEGATIVES], 16) if name == "quick" else values[_NEGATIVES]
    return Recipe(loss, size | {"training.batch_size": 256} | values | {_NEGATIVES: negatives})


def trainable_models() -> list[str]:
    """Return the models that a dimension is enough to configure: `MODELS`, then all others."""
    classes = {cls.__name__: cls for cls in model_resolver.lookup_dict.values()}
    names = [
        name
        for name, cls in classes.items()
        if name not in UNSUPPORTED and "embedding_dim" in constructor_arguments(cls)
    ]
    return [*MODELS, *sorted(set(names) - set(MODELS))]


_NEGATIVES = "negative_sampler.num_negs_per_pos"


def _self_adversarial(margin: float, lr: float = 0.01, negatives: int = 16) -> dict[str, Any]:
    return {
        "optimizer.lr": lr,
        _NEGATIVES: negatives,
        "negative_sampler.filtered": True,
        "loss.margin": margin,
        "loss.adversarial_temperature": 1.0,
    }


_TUNED: dict[str, tuple[str, dict[str, Any]]] = {
    "TransE": ("NSSALoss", _self_adversarial(3.0)),
    "RotatE": ("NSSALoss", _self_adversarial(6.0)),
    "PairRE": ("NSSALoss", _self_adversarial(6.0)),
    "ComplEx": ("CrossEntropyLoss", {"optimizer.lr": 0.02, _NEGATIVES: 64}),
    "DistMult": ("InfoNCELoss", {"optimizer.lr": 0.02, _NEGATIVES: 64}),
    "ConvE": (
        "NSSALoss",
        _self_adversarial(3.0, 0.003, 4)
        | {"model.output_channels": 8, "model.apply_batch_normalization": False},
    ),
}
