"""Recipes: configurations that PyKEEN trains, the good ones those of the bundled runs."""

import json

import pytest
from pykeen.losses import loss_resolver

from kgdash.hpo.recipes import MODELS, RECIPES, recipe, trainable_models
from kgdash.hpo.space import SearchSpace, fixed_configuration
from kgdash.runs.training import TrainingConfig, rehearse
from tests.support.paths import ROOT

DEMO = json.loads((ROOT / "scripts" / "demo_configs.json").read_text(encoding="utf-8"))


def configuration(name: str, model: str) -> TrainingConfig:
    found = recipe(name, model)
    return fixed_configuration(
        SearchSpace((model,), (found.loss,) if found.loss else (), found.values)
    )


@pytest.mark.parametrize("model", MODELS)
def test_the_good_ones_are_those_of_the_bundled_runs(model):
    ours, theirs = configuration("good", model), DEMO[f"umls-{model.lower()}"]
    assert loss_resolver.lookup(theirs["loss"]).__name__ == ours.loss
    assert ours.loss_kwargs == theirs.get("loss_kwargs", {})
    assert ours.batch_size == theirs["batch_size"]
    assert ours.optimizer_kwargs["lr"] == theirs["optimizer_kwargs"]["lr"]
    for key, value in ours.negative_sampler_kwargs.items():
        assert theirs["negative_sampler_kwargs"][key] == value
    for key, value in ours.model_kwargs.items():
        assert theirs["model_kwargs"][key] == value


@pytest.mark.parametrize("model", [*MODELS, "MuRE", "NodePiece", "TuckER"])
def test_the_quick_ones_can_be_trained(model):
    config = configuration("quick", model)
    rehearse(config)
    good = configuration("good", model)
    assert config.epochs * 5 == good.epochs
    assert config.negative_sampler_kwargs["num_negs_per_pos"] <= 16
    assert config.model_kwargs["embedding_dim"] < good.model_kwargs["embedding_dim"]


def test_pykeens_is_what_the_command_trains_without_options():
    assert configuration("PyKEEN's", "TransE") == TrainingConfig("TransE", {"embedding_dim": 50})
    assert list(RECIPES) == ["quick", "good", "PyKEEN's"]


def test_models_with_recipes_stand_first():
    models = trainable_models()
    assert tuple(models[: len(MODELS)]) == MODELS
    assert len(set(models)) == len(models) > 25
    assert not {"FixedModel", "ComplExLiteral", "InductiveNodePiece"} & set(models)
