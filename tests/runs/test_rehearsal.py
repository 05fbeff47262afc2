"""A configuration is tried on next to nothing, whatever sizes it names."""

import pytest

from kgdash.errors import KgdashError
from kgdash.runs import rehearsal
from kgdash.runs.rehearsal import rehearse
from kgdash.runs.training import TrainingConfig


@pytest.fixture
def trained(monkeypatch) -> list[TrainingConfig]:
    """Return what is trained."""
    found: list[TrainingConfig] = []
    monkeypatch.setattr(rehearsal, "fit", lambda graph, config: found.append(config))
    return found


@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        ("RESCAL", {"embedding_dim": 2000}),
        ("TuckER", {"embedding_dim": 4096, "relation_dim": 65_536}),
        ("ERMLP", {"embedding_dim": 64, "hidden_dim": 65_536}),
        ("ConvKB", {"embedding_dim": 20, "num_filters": 65_536}),
        ("RGCN", {"embedding_dim": 8, "num_layers": 64}),
    ],
)
def test_large_models_are_left_to_the_training(trained, model, sizes):
    rehearse(TrainingConfig(model, sizes))
    assert not trained


def test_few_negatives_stand_for_many(trained):
    sampler = {"num_negs_per_pos": 10_000}
    config = TrainingConfig(
        "TransE", {"embedding_dim": 4096}, negative_sampler="basic", batch_size=10**6
    )
    rehearse(TrainingConfig(**vars(config) | {"negative_sampler_kwargs": sampler}))
    rehearse(config)
    assert [each.negative_sampler_kwargs for each in trained] == [{"num_negs_per_pos": 4}, {}]
    assert [(each.batch_size, each.epochs) for each in trained] == [(64, 1)] * 2
    assert sampler == {"num_negs_per_pos": 10_000}


def test_large_models_that_can_not_be_built_are_refused():
    with pytest.raises(KgdashError, match="embedding_height"):
        rehearse(TrainingConfig("ConvE", {"embedding_dim": 4093, "embedding_height": 2}))
