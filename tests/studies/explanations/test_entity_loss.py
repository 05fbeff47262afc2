"""The loss of an entity's facts is what its definition says, and so are its derivatives."""

import numpy as np
import pytest

from kgdash.studies.explanations import entity_loss
from kgdash.studies.explanations.affine_maps import maps_kept
from kgdash.studies.explanations.carrying_facts import affine_form
from kgdash.studies.explanations.entity_loss import EntityLoss, facts_around
from tests.studies.explanations.conftest import KINDS, Written
from tests.support.fakes import make_graph

ENTITY = 4


@pytest.fixture(params=list(KINDS))
def pair(request, written):
    made = written(request.param)
    facts = facts_around(made.graph, ENTITY)
    return made, EntityLoss(affine_form(made.run), ENTITY, facts)


def near(loss, seed=0):
    x = loss.trained
    return x + 0.3 * np.abs(x).mean() * np.random.default_rng(seed).normal(size=len(x))


def test_losses(pair):
    made, loss = pair
    for x in (loss.trained, near(loss)):
        expected = made.losses(ENTITY, loss.facts, x)
        assert np.allclose(loss.linearise(x).losses, expected, atol=2e-5)


def test_gradients(pair):
    made, loss = pair
    x, step = near(loss), 1e-2
    found = loss.linearise(x).gradients
    for axis in range(len(x)):
        moved = np.eye(len(x))[axis] * step
        there, back = (made.losses(ENTITY, loss.facts, x + way * moved) for way in (1, -1))
        assert np.allclose(found[:, axis], (there - back) / (2 * step), atol=5e-3)


@pytest.mark.parametrize("name", ["DistMult", "ComplEx"])
def test_curvature_of_inner_products_is_the_second_derivative(written, name, monkeypatch):
    monkeypatch.setattr(entity_loss, "_NEGLIGIBLE", 0)
    made = written(name)
    loss = EntityLoss(affine_form(made.run), ENTITY, facts_around(made.graph, ENTITY))
    x, step = near(loss), 1e-2
    weights = np.arange(len(loss.facts)) % 2.0
    found = loss.linearise(x, weights).curvature(weights)
    for axis in range(len(x)):
        moved = np.eye(len(x))[axis] * step
        there, back = (weights @ loss.linearise(x + way * moved).gradients for way in (1, -1))
        assert np.allclose(found[axis], (there - back) / (2 * step), atol=5e-3)


def test_scores_are_the_models_up_to_a_constant(pair):
    made, loss = pair
    x = near(loss)
    for side, query in (("tail", (ENTITY, 2)), ("head", (2, ENTITY))):
        expected = made.rows(ENTITY, x, side, np.array([query]))[0].numpy()
        found = loss.scores(side, 2, x)
        assert np.allclose(found - found[0], expected - expected[0], atol=1e-5)


def test_slope(pair):
    _, loss = pair
    x, step = near(loss), 1e-2
    for side in ("tail", "head"):
        found = loss.slope(side, 2, 7, x)
        for axis in range(len(x)):
            moved = np.eye(len(x))[axis] * step
            # Constants of inner products' scores do not depend on x here.
            there, back = (loss.scores(side, 2, x + way * moved)[7] for way in (1, -1))
            assert found[axis] == pytest.approx((there - back) / (2 * step), abs=5e-3)


def test_facts_around():
    graph = make_graph([(0, 0, 1), (1, 1, 0), (0, 0, 0), (1, 0, 2)], test=[(0, 1, 2)])
    assert facts_around(graph, 0).tolist() == [[0, 0, 1], [1, 1, 0]]
    assert facts_around(graph, 0, loops=True).tolist() == [[0, 0, 0], [0, 0, 1], [1, 1, 0]]


def test_others_hear_of_each_part_and_may_end_it(written, monkeypatch):
    monkeypatch.setattr(entity_loss, "_SCORES", 1)
    made, calls = written("DistMult"), []
    facts = facts_around(made.graph, ENTITY)
    loss = EntityLoss(affine_form(made.run), ENTITY, facts, lambda: calls.append(0))
    loss.linearise(loss.trained)
    assert len(calls) >= 2 * len(np.unique(facts[:, 1]))

    def end():
        raise TimeoutError

    loss = EntityLoss(affine_form(made.run), ENTITY, facts, end)
    with pytest.raises(TimeoutError):
        loss.linearise(loss.trained)


@pytest.mark.parametrize("name", ["ComplEx", "QuatE", "RotatE", "TransE"])
def test_maps_that_are_held_are_as_many_as_are_counted(name):
    """Four thousand numbers make a matrix of 64 MiB: refits are bounded by how many there are."""
    kwargs = {"embedding_dim": 2 if name == "QuatE" else 6}
    made = Written(name, kwargs, False)
    form, facts = affine_form(made.run), facts_around(made.graph, ENTITY)
    loss = EntityLoss(form, ENTITY, facts)
    found = loss.linearise(loss.trained, np.ones(len(facts)))
    width, kinds = len(loss.trained), len(np.unique(found.query))
    answered = [each.map for each in loss._answered if each.map is not None]
    maps = {id(m.matrix): m.matrix for m in (*loss._maps.values(), *loss._own.values(), *answered)}
    squares = sum(matrix.ndim == 2 for matrix in maps.values())
    assert squares <= kinds * maps_kept(form) + 1
    assert all(matrix.size <= width**2 for matrix in maps.values())
