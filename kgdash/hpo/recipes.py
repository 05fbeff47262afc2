"""Configurations that train well without a search, by model.

"strong" trains by softmax over all entities: docs/training.md says where its settings come from.
"good" is much as the bundled runs of UMLS were trained (docs/demo-runs.md), "quick" the same with a
smaller dimension, a fifth of the epochs and at most 16 negatives.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pykeen.models import model_resolver

from kgdash.errors import KgdashError, check_name
from kgdash.hpo.space import DEFAULT_DIMENSION, SearchSpace
from kgdash.learning.weights import MODELS as STRONG
from kgdash.runs.softmax_training import SOFTMAX
from kgdash.runs.training import TrainingConfig
from kgdash.scoring.model_spec import UNSUPPORTED, constructor_arguments

#: name -> dimension and epochs; "strong" ends earlier where validation no longer rises
RECIPES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "strong": (100, 100),
        "good": (50, 100),
        "quick": (32, 20),
        "PyKEEN's": (DEFAULT_DIMENSION, TrainingConfig.epochs),
    }
)

#: the models with a recipe of their own
MODELS = ("TransE", "RotatE", "PairRE", "ComplEx", "DistMult", "ConvE")


@dataclass(frozen=True)
class Recipe:
    """What trains a model: a loss, "" for the model's own, and parameters as in `SearchSpace`."""

    loss: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    optimizer: str = "Adam"
    training_loop: str = "sLCWA"

    def space(self, model: str, random_seed: int = 0, **values: Any) -> SearchSpace:
        """Return the space of nothing but this.

        :param values: other parameters than the recipe's
        """
        return SearchSpace(
            (model,),
            (self.loss,) if self.loss else (),
            {**self.values, **values},
            self.optimizer,
            self.training_loop,
            random_seed=random_seed,
        )


def recipe_name(typed: str) -> str:
    """Return the name of a recipe as it is typed: pykeen is PyKEEN's."""
    return "PyKEEN's" if typed.lower() == "pykeen" else typed


def recipe(name: str, model: str) -> Recipe:
    """Return how a recipe trains a model.

    :param name: of `RECIPES`
    :param model: PyKEEN's name
    :raises KgdashError: if there is no such recipe, or "strong" does not know the model
    """
    check_name("recipe", name, list(RECIPES), "kgdash train")
    dimension, epochs = RECIPES[name]
    size = {"model.embedding_dim": dimension, "training.num_epochs": epochs}
    if name == "PyKEEN's":
        return Recipe("", size)
    if name == "strong":
        if model not in STRONG:
            others = ", ".join(other for other in RECIPES if other != name)
            raise KgdashError(
                f"{model} has no strong recipe, only {', '.join(STRONG)} have; its recipes are "
                f"{others}"
            )
        optimizer, values = _STRONG[model]
        return Recipe("", size | values, optimizer, SOFTMAX)
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


def _softmax(lr: float, rows: int = 256, **loop: Any) -> dict[str, Any]:
    named = {f"loop.{name}": value for name, value in loop.items()}
    return {"optimizer.lr": lr, "training.batch_size": rows} | named


#: model -> optimizer and parameters
_STRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "ComplEx": ("Adagrad", _softmax(0.1, n3=0.01) | {"model.embedding_dim": 64}),
    "DistMult": ("Adagrad", _softmax(0.1, n3=0.01)),
    "ConvE": ("Adam", _softmax(0.003, spread=0.0, answers=64)),
    "TransE": ("Adagrad", _softmax(0.1, spread=0.1) | {"model.scoring_fct_norm": 2}),
    "RotatE": ("Adagrad", _softmax(0.3, spread=0.1) | {"model.embedding_dim": 64}),
    "PairRE": ("Adagrad", _softmax(0.3, spread=0.5) | {"model.p": 2}),
}


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
