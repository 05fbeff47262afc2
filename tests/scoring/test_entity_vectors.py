"""A model's geometry is that of its score: its own vectors, compared as it compares them."""

import numpy as np
import pytest
import torch
from pykeen.datasets import Nations
from pykeen.models import model_resolver

from kgdash.scoring.entity_vectors import entity_vectors, own_columns
from kgdash.scoring.pykeen_scorer import PyKEENScorer
from tests.support.fakes import random_scorer

TRAINING = Nations().training


def of_model(name, **kwargs):
    model = model_resolver.make(name, kwargs, triples_factory=TRAINING, random_seed=0)
    return model, entity_vectors(PyKEENScorer(model))


@pytest.mark.parametrize(
    ("name", "kwargs", "distance"),
    [
        ("TransE", {"embedding_dim": 4, "scoring_fct_norm": 1}, "L1"),
        ("TransE", {"embedding_dim": 4, "scoring_fct_norm": 2}, "L2"),
        ("DistMult", {"embedding_dim": 4}, "cosine"),
        ("PairRE", {"embedding_dim": 4}, "L1"),
        ("TorusE", {"embedding_dim": 4}, "cosine"),
    ],
)
def test_real_vectors(name, kwargs, distance):
    model, found = of_model(name, **kwargs)
    assert found.distance == distance
    expected = model.entity_representations[0](None).detach().numpy()
    assert np.array_equal(found.values, expected)


@pytest.mark.parametrize(("name", "distance"), [("ComplEx", "cosine"), ("RotatE", "L2")])
def test_complex_numbers_are_two_reals(name, distance):
    model, found = of_model(name, embedding_dim=4)
    assert found.distance == distance
    z = model.entity_representations[0](None).detach()
    assert found.values.shape == (14, 8)
    expected = (z[2] * torch.conj(z[5])).sum().real.item()
    assert found.values[2] @ found.values[5] == pytest.approx(expected, rel=1e-5)
    away = (z[2] - z[5]).abs().square().sum().sqrt().item()
    assert np.linalg.norm(found.values[2] - found.values[5]) == pytest.approx(away, rel=1e-5)


def test_several_vectors_stand_side_by_side_and_biases_are_left_out():
    model, found = of_model("SimplE", embedding_dim=4)
    parts = [r(None).detach().numpy() for r in model.entity_representations]
    assert np.array_equal(found.values, np.concatenate(parts, axis=1))
    model, found = of_model("ConvE", embedding_dim=8)
    assert found.values.shape == (14, 8)
    assert found.distance == "cosine"


def test_what_a_form_adds_is_no_part_of_an_entity():
    """PyTorch-BigGraph's translations, read as CP of [e, 1] and [e, e], were all near."""
    e = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    together = np.concatenate([e, np.ones((100, 1), np.float32), e], axis=1)
    assert own_columns(together) == [0, 1, 2]
    together[99, 4] = 9.0  # one more number of one entity is its own
    assert own_columns(together) == [0, 1, 2, 4]
    assert own_columns(together[:1]) == list(range(7))


def test_no_vectors():
    assert entity_vectors(random_scorer(3, 1)) is None
    assert entity_vectors(PyKEENScorer(of_model("DistMult", embedding_dim=1)[0])) is None


def test_a_zero_vector_has_no_direction():
    _, found = of_model("DistMult", embedding_dim=4)
    found.values[3] = 0
    assert found.distances_from(3).tolist() == [1.0] * 14
    assert found.distances_from(0)[3] == 1.0
    assert found.distances_from(0)[0] == pytest.approx(0, abs=1e-6)
