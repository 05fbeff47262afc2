"""A refit is the optimum of its definition, with and without some facts."""

import numpy as np
import pytest
import torch
from scipy import optimize

from kgdash.studies.explanations.carrying_facts import affine_form
from kgdash.studies.explanations.entity_loss import EntityLoss, facts_around
from kgdash.studies.explanations.refit import EntityRefit
from tests.studies.explanations.conftest import Written

ENTITY = 4


def refit_of(made):
    facts = facts_around(made.graph, ENTITY)
    return EntityRefit(EntityLoss(affine_form(made.run), ENTITY, facts))


def distmult_optimum(made, facts, ridge):
    """Minimise the definition with PyTorch's derivatives, in double precision."""
    entities = made.model.entity_representations[0](None).detach().double()
    relations = made.model.relation_representations[0](None).detach().double()
    x = entities[ENTITY].clone().requires_grad_()
    optimizer = torch.optim.LBFGS(
        [x], max_iter=400, tolerance_grad=1e-10, line_search_fn="strong_wolfe"
    )
    others = [i for i in range(len(entities)) if i != ENTITY]

    def closure():
        optimizer.zero_grad()
        total = ridge / 2 * (x @ x)
        for h, r, t in facts.tolist():
            other = t if h == ENTITY else h
            scores = entities @ (x * relations[r])
            total = total + torch.logsumexp(scores[others], 0) - scores[other]
            back = entities @ (entities[other] * relations[r])
            own = x @ (entities[other] * relations[r])
            every = torch.cat([back[others], own[None]])
            total = total + torch.logsumexp(every, 0) - own
        total.backward()
        return total

    optimizer.step(closure)
    return x.detach().numpy()


def test_the_optimum_of_all_facts_and_of_some(written):
    made = written("DistMult")
    refit = refit_of(made)
    facts = refit.loss.facts
    expected = distmult_optimum(made, facts, refit.ridge)
    assert np.allclose(refit.whole, expected, atol=0.02 * np.abs(expected).max())
    for left_out in ([0], [1, 3, 5]):
        kept = np.delete(facts, left_out, axis=0)
        expected = distmult_optimum(made, kept, refit.ridge)
        assert np.allclose(refit.without(left_out), expected, atol=0.02 * np.abs(expected).max())


def test_the_ridge_keeps_the_trained_length(written):
    made = written("ComplEx")
    refit = refit_of(made)
    x, step = refit.loss.trained, 1e-2

    def loss(scale):
        value = made.losses(ENTITY, refit.loss.facts, x * scale).sum()
        return value + refit.ridge / 2 * scale**2 * (x @ x)

    slope = (loss(1 + step) - loss(1 - step)) / (2 * step)
    every = np.ones(len(refit.loss.facts))
    curved = refit.loss.linearise(x, every).curvature(every)
    least = 1e-3 * np.trace(curved) / len(x)
    assert refit.ridge >= least
    assert abs(slope) < 1e-2 or refit.ridge == pytest.approx(least)


@pytest.mark.parametrize("name", ["TransE", "RotatE"])
def test_distances_reach_a_lower_loss(written, name):
    made = written(name)
    refit = refit_of(made)

    def value(x, facts):
        return made.losses(ENTITY, facts, x).sum() + refit.ridge / 2 * (x @ x)

    facts = refit.loss.facts
    assert value(refit.whole, facts) < value(refit.loss.trained, facts)
    kept = np.delete(facts, [0, 2], axis=0)
    assert value(refit.without([0, 2]), kept) <= value(refit.whole, kept)


@pytest.mark.parametrize("kind", ["L1", "L2", "rotation"])
def test_distances_end_where_another_method_ends(written, kind):
    made = written("RotatE")
    if kind != "rotation":
        made = Written("TransE", {"embedding_dim": 6, "scoring_fct_norm": int(kind[1])}, False)
    refit = refit_of(made)

    def value(x):
        at = refit.loss.linearise(x)
        gradient = at.gradients.sum(axis=0) + refit.ridge * x
        return at.losses.sum() + refit.ridge / 2 * (x @ x), gradient

    # L-BFGS takes kinks as they come; of many starts near by, the best end.
    rng = np.random.default_rng(0)
    starts = refit.loss.trained + 0.1 * rng.normal(size=(12, len(refit.loss.trained)))
    ends = [optimize.minimize(value, x, jac=True, method="L-BFGS-B").fun for x in starts]
    start = value(refit.loss.trained)[0]
    assert value(refit.whole)[0] <= min(ends) + 0.02 * (start - min(ends)) + 1e-3


def test_nothing_left_out_changes_nothing(written):
    refit = refit_of(written("DistMult"))
    assert np.allclose(refit.without([]), refit.whole, atol=1e-2)


def test_influence_is_the_derivative_of_a_score_by_a_facts_weight(written):
    made = written("DistMult")
    refit = refit_of(made)
    slope = refit.loss.slope("tail", 1, 3, refit.whole)
    found = refit.influences(slope, refit.whole)
    for fact in (0, 4):
        weights = np.ones(len(found))
        weights[fact] = 0.9
        x = refit._minimum(weights, refit.whole, refit._at_whole)
        change = refit.loss.scores("tail", 1, refit.whole)[3] - refit.loss.scores("tail", 1, x)[3]
        assert found[fact] == pytest.approx(change / 0.1, rel=0.25, abs=0.02)


def test_the_matrix_at_the_start_goes_once_it_was_used(written):
    refit = refit_of(written("DistMult"))
    ridge = refit.ridge
    refit.without([0])
    assert "_start" not in vars(refit)
    assert refit.ridge == ridge
