"""A search's space means what PyKEEN's ranges mean, or is refused."""

import json

import numpy as np
import optuna
import pytest

from kgdash.errors import KgdashError
from kgdash.hpo.recipes import trainable_models
from kgdash.hpo.space import SearchSpace, check_space, fixed_configuration, suggest
from kgdash.runs.training import TrainingConfig
from kgdash.scoring.model_spec import check_arguments
from tests.support.small_search import space


class TestSpace:
    def drawn(self, chosen, seed):
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
        return suggest(study.ask(), chosen)

    def test_pykeens_ranges_as_pykeen_means_them(self):
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        configs = [self.drawn(SearchSpace(("TransE",)), seed) for seed in range(200)]
        rates = np.array([config.optimizer_kwargs["lr"] for config in configs])
        # Uniform in the logarithm, so that half of them lie below the geometric mean of the ends.
        assert 80 < (rates < 0.01).sum() < 120
        assert {config.model_kwargs["embedding_dim"] % 16 for config in configs} == {0}
        assert {config.model_kwargs["scoring_fct_norm"] for config in configs} == {1, 2}
        assert {config.batch_size for config in configs} <= {2**i for i in range(4, 13)}
        assert {config.epochs % 100 for config in configs} == {0}
        assert {config.loss for config in configs} == {"MarginRankingLoss"}
        assert {config.loss_kwargs["reduction"] for config in configs} == {"mean"}

    def test_choices_do_not_depend_on_the_process(self):
        study = optuna.create_study()
        trial = study.ask()
        suggest(trial, SearchSpace(("TransE",), ("DoubleMarginLoss",)))
        choices = trial.distributions["loss.margin_activation"].choices
        assert list(choices) == sorted(choices)

    @pytest.mark.parametrize("model", trainable_models())
    def test_what_is_chosen_can_be_written(self, model):
        """RGCN's activations are classes: no search of it ended a trial."""
        for seed in range(5):
            config = self.drawn(SearchSpace((model,)), seed)
            check_arguments(config.spec(), "search")
            assert json.loads(json.dumps(config.model_kwargs)) == config.model_kwargs

    def test_narrowed(self):
        narrowed = SearchSpace(
            ("DistMult",),
            values={
                "model.embedding_dim": {"low": 8, "high": 24, "step": 8},
                "optimizer.lr": {"low": 0.01, "high": 0.02},
                "training.batch_size": {"low": 50, "high": 60},
                "training.num_epochs": 7,
                "regularizer.weight": 0.5,
                "negative_sampler.num_negs_per_pos": [3, 5],
            },
        )
        configs = [self.drawn(narrowed, seed) for seed in range(60)]
        assert {config.model_kwargs["embedding_dim"] for config in configs} == {8, 16, 24}
        assert all(0.01 <= config.optimizer_kwargs["lr"] <= 0.02 for config in configs)
        assert {config.batch_size for config in configs} <= set(range(50, 61))
        assert {config.epochs for config in configs} == {7}
        assert configs[0].regularizer_kwargs == {"weight": 0.5, "p": 2.0, "normalize": True}
        assert {c.negative_sampler_kwargs["num_negs_per_pos"] for c in configs} == {3, 5}

    def test_json(self):
        for some in (space(), space("TransE", "ConvE", losses=("NSSALoss",), random_seed=3)):
            assert SearchSpace.from_json(json.loads(json.dumps(some.to_json())), "x") == some
        for wrong in (None, [], {"models": 3}, {"models": ["TransE"], "more": 1}, {"models": []}):
            with pytest.raises(KgdashError):
                SearchSpace.from_json(wrong, "x")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"models": ()}, "at least one model"),
            ({"models": ("TransX",)}, "unknown model 'TransX'"),
            ({"losses": ("MarginLoss",)}, "unknown loss 'MarginLoss'"),
            ({"optimizer": "Adan"}, "unknown optimizer 'Adan'"),
            ({"training_loop": "LCW"}, "unknown training loop 'LCW'"),
            ({"values": {"model.dim": 3}}, "unknown parameter 'model.dim'"),
            ({"values": {"training.num_epochs": 0}}, "whole number of at least 1; found 0"),
            ({"values": {"training.batch_size": [8, 0.5]}}, "at least 1; found 0.5"),
            ({"values": {"optimizer.lr": {"low": 2, "high": 1}}}, "from low to high; found 2:1"),
            ({"values": {"optimizer.lr": {"low": 0, "high": 1, "log": True}}}, "above 0"),
            ({"values": {"optimizer.lr": {"low": 0, "high": float("inf")}}}, "found 0:inf"),
            ({"values": {"optimizer.lr": {"low": 0}}}, "expected low, high"),
            ({"values": {"optimizer.lr": [1, 1]}}, "different choices"),
            (
                {"training_loop": "LCWA", "values": {"negative_sampler.num_negs_per_pos": 2}},
                "only the training loop sLCWA",
            ),
        ],
    )
    def test_refused(self, options, message):
        with pytest.raises(KgdashError, match=message):
            check_space(SearchSpace(**{"models": ("TransE",), **options}))


def test_something_left_open_is_for_a_search():
    for options in (
        {"models": ("TransE", "ConvE")},
        {"losses": ("NSSALoss", "MSELoss")},
        {"values": {"optimizer.lr": [0.1, 0.2]}},
    ):
        with pytest.raises(KgdashError, match="for a search"):
            fixed_configuration(SearchSpace(**{"models": ("TransE",), **options}))


def test_what_is_not_given_is_pykeens():
    config = fixed_configuration(SearchSpace(("DistMult",)))
    assert config == TrainingConfig("DistMult")
    config = fixed_configuration(
        SearchSpace(("DistMult",), values={"loss.margin": 3, "regularizer.weight": 1})
    )
    assert config.loss == "MarginRankingLoss"
    assert config.loss_kwargs == {"margin": 3, "reduction": "mean"}
    assert config.regularizer_kwargs == {"weight": 1, "p": 2.0, "normalize": True}
