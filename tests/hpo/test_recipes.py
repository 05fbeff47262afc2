"""Recipes: configurations that PyKEEN trains, the good ones those of the bundled runs."""

import json

import pytest
from pykeen.losses import loss_resolver

from kgdash.errors import KgdashError
from kgdash.hpo.recipes import MODELS, RECIPES, recipe, trainable_models
from kgdash.hpo.space import fixed_configuration
from kgdash.runs.rehearsal import rehearse
from kgdash.runs.training import TrainingConfig
from tests.support.paths import ROOT

DEMO = json.loads((ROOT / "scripts" / "demo_configs.json").read_text(encoding="utf-8"))


def configuration(name: str, model: str) -> TrainingConfig:
    return fixed_configuration(recipe(name, model).space(model))


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


@pytest.mark.parametrize("model", MODELS)
def test_the_strong_ones_can_be_trained(model):
    config = configuration("strong", model)
    assert config.training_loop == "softmax"
    assert config.model_kwargs["embedding_dim"] <= 100
    rehearse(config)


def test_what_has_no_strong_recipe_is_told_the_others():
    with pytest.raises(KgdashError, match=r"MuRE has no strong recipe.* recipes are good, quick"):
        recipe("strong", "MuRE")
    with pytest.raises(KgdashError, match="unknown recipe 'best'"):
        recipe("best", "TransE")


def test_pykeens_is_what_the_command_trains_without_options():
    assert configuration("PyKEEN's", "TransE") == TrainingConfig("TransE", {"embedding_dim": 50})
    assert list(RECIPES) == ["strong", "good", "quick", "PyKEEN's"]


def test_models_with_recipes_stand_first():
    models = trainable_models()
    assert tuple(models[: len(MODELS)]) == MODELS
    assert len(set(models)) == len(models) > 25
    assert not {"FixedModel", "ComplExLiteral", "InductiveNodePiece"} & set(models)


@pytest.mark.parametrize("model", MODELS)
def test_the_docs_have_the_strong_settings(model):
    config = configuration("strong", model)
    rate = f"{config.optimizer}, {config.optimizer_kwargs['lr']}"
    loop = ", ".join(f"{name} {value:g}" for name, value in config.loop_kwargs.items())
    cells = (model, config.model_kwargs["embedding_dim"], rate, config.batch_size, loop)
    row = f"| {' | '.join(map(str, cells))} |"
    assert row in (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
