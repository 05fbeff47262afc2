"""A step of the loop against torch's own derivatives; what is learned, kept and gone on with."""

import numpy as np
import pytest
import torch
from pykeen.models import model_resolver
from pykeen.triples import CoreTriplesFactory

from kgdash.errors import KgdashError
from kgdash.learning import trainer as module
from kgdash.learning.queries import Batch, Queries
from kgdash.learning.trainer import Settings, Trainer
from kgdash.learning.weights import MODELS

ENTITIES, RELATIONS = 12, 2
TRIPLES = np.unique(np.random.default_rng(1).integers(0, [12, 2, 12], (60, 3)), axis=0)
EUCLIDEAN = {"TransE": {"scoring_fct_norm": 2}, "PairRE": {"p": 2}}
PLAIN = {"output_channels": 2, "input_dropout": 0.0, "output_dropout": 0.0}
PLAIN |= {"feature_map_dropout": 0.0, "apply_batch_normalization": False}


def trainer_of(name: str, settings: Settings | None = None, seed: int = 0, **kwargs) -> Trainer:
    factory = CoreTriplesFactory(
        torch.from_numpy(TRIPLES), ENTITIES, RELATIONS, create_inverse_triples=True
    )
    kwargs = {"embedding_dim": 12, **EUCLIDEAN.get(name, {}), **kwargs}
    model = model_resolver.lookup(name)(triples_factory=factory, random_seed=0, **kwargs)
    settings = settings or Settings(8, 3)
    queries = Queries(TRIPLES, RELATIONS, settings.answers)
    return Trainer(model, queries, settings, lambda t: torch.optim.Adagrad(t, lr=0.1), seed)


def skip(share: float) -> None:
    """Report to nobody."""


@pytest.mark.parametrize("most", [2**25, 3 * ENTITIES])
@pytest.mark.parametrize("name", MODELS)
def test_a_step_follows_the_gradient_of_the_models_own_scores(name, most, monkeypatch):
    """Plain gradient descent at rate 1 takes exactly the gradient off the model's parameters."""
    monkeypatch.setattr(module, "_MOST_SCORES", most)
    given = PLAIN if name == "ConvE" else {}
    trainer = trainer_of(name, Settings(50, 3, 0.0, 0.0 if name == "ConvE" else 0.5), **given)
    trainer._optimizer = torch.optim.SGD(trainer.weights.trained(), lr=1.0)
    model, weights = trainer._model, trainer.weights
    weights.fill()
    (batch,) = trainer._queries.batches(50, trainer.random)
    scores = model.score_t(batch.queries)
    loss = torch.nn.functional.cross_entropy(scores[batch.row], batch.answers)
    loss.backward()
    named = dict(model.named_parameters())
    wanted = {key: (each.detach().clone(), each.grad) for key, each in named.items()}
    assert trainer._step(batch) == pytest.approx(loss.item(), abs=1e-5)
    weights.fill()
    for key, (before, gradient) in wanted.items():
        if key.startswith("relation") and weights.has_phases:
            # A phase moves by the gradient along the circle, which is a turn of that angle.
            pair, slope = (x.reshape(-1, 2) for x in (before, gradient))
            turn = pair[:, 0] * slope[:, 1] - pair[:, 1] * slope[:, 0]
            angle = torch.atan2(pair[:, 1], pair[:, 0]) - turn
            moved = torch.stack([angle.cos(), angle.sin()], 1).reshape(before.shape)
        else:
            moved = before - gradient
        if key.startswith("entity") and name == "PairRE":
            moved = torch.nn.functional.normalize(moved)
        torch.testing.assert_close(named[key].detach(), moved, rtol=1e-3, atol=2e-5)


def test_the_norm_is_that_of_the_batchs_triples():
    trainer = trainer_of("ComplEx", Settings(50, 3, 0.5, 0.5))
    weights = trainer.weights
    batch = Batch(torch.tensor([[0, 1], [2, 0]]), torch.tensor([2, 1]), torch.tensor([1, 3, 0]))
    entities, relations = (
        x.detach().clone().requires_grad_() for x in (weights.entities, *weights.relations)
    )

    def cubes(x):
        return torch.view_as_complex(x.unflatten(-1, (-1, 2))).abs().pow(3).sum()

    triples = [(0, 1, 1), (0, 1, 3), (2, 0, 0)]
    norm = sum(cubes(entities[h]) + cubes(relations[r]) + cubes(entities[t]) for h, r, t in triples)
    (0.5 * norm / 3).backward()
    trainer._add_norm(batch)
    torch.testing.assert_close(weights.entities.grad, entities.grad)
    torch.testing.assert_close(weights.relations[0].grad, relations.grad)


@pytest.mark.parametrize("name", MODELS)
def test_it_learns_and_goes_on_as_if_nothing_had_been(name):
    """A trainer that goes on from another's place does, bit for bit, what that one does."""
    spread = 0.0 if name == "ConvE" else 0.1
    first, second = (trainer_of(name, Settings(8, 3, 0.0, spread), seed) for seed in (0, 1))
    start = first.epoch(skip)
    kept = {key: each.clone() for key, each in first.state().items()}
    losses = [first.epoch(skip) for _ in range(4)]
    assert losses[-1] < start
    second.go_on(kept)
    assert [second.epoch(skip) for _ in range(4)] == losses
    ours, theirs = first._model.state_dict(), second._model.state_dict()
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)


@pytest.mark.parametrize("name", ["TransE", "PairRE"])
def test_other_norms_are_refused(name):
    with pytest.raises(KgdashError, match="Euclidean distances"):
        trainer_of(name, **dict.fromkeys(EUCLIDEAN[name], 1))
