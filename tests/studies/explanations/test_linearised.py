"""Curvatures of some facts are those of all without the others', and few numbers are held."""

import numpy as np
import pytest

from kgdash.studies.explanations.carrying_facts import affine_form
from kgdash.studies.explanations.entity_loss import EntityLoss, facts_around
from tests.studies.explanations.conftest import KINDS

ENTITY = 4


@pytest.fixture(params=list(KINDS))
def loss(request, written):
    made = written(request.param)
    return EntityLoss(affine_form(made.run), ENTITY, facts_around(made.graph, ENTITY))


def test_curvatures_of_some_facts(loss):
    count = len(loss.facts)
    every, rng = loss.linearise(loss.trained, np.ones(count)), np.random.default_rng(0)
    for left_out in range(count + 1):
        weights = np.ones(count)
        weights[rng.permutation(count)[:left_out]] = 0
        expected = loss.linearise(loss.trained, weights).curvature(weights)
        np.testing.assert_allclose(every.curvature(weights), expected, rtol=1e-9, atol=1e-12)


def test_nothing_is_left_of_no_facts(loss):
    """What rounding leaves would rank candidates that are all tied."""
    none = np.zeros(len(loss.facts))
    every = loss.linearise(loss.trained, np.ones(len(loss.facts)))
    assert not every.curvature(none).any()


def test_one_matrix_for_all_queries(loss):
    width, count = len(loss.trained), len(loss.facts)
    found = loss.linearise(loss.trained, np.ones(count))
    held = [v.size for v in vars(found).values() if isinstance(v, np.ndarray)]
    assert sum(held) <= width**2 + count * (3 * width + 3)
