"""Softmax over distances is that of its definition, in float64."""

import numpy as np
import pytest

from kgdash.engine.microkernels import L1, L2, L2_SQUARED
from kgdash.engine.refit_kernels import Panel, distance_softmax


def written_out(kind, query, vectors, left_out):
    difference = vectors.astype(np.float64) - query
    if kind == L1:
        scores, slopes = -np.abs(difference).sum(axis=1), np.sign(difference)
    else:
        squares = (difference**2).sum(axis=1)
        scores, slopes = -squares, 2 * difference
        if kind == L2:
            scores = -np.sqrt(squares)
            lengths = np.where(squares > 0, np.sqrt(squares), 1)[:, None]
            slopes = difference / lengths
    weights = np.exp(scores)
    weights[left_out] = 0
    p = weights / weights.sum()
    return np.log(weights.sum()), p, p @ slopes


@pytest.mark.parametrize("kind", [L1, L2, L2_SQUARED])
@pytest.mark.parametrize("count", [2, 700])
def test_against_the_definition(kind, count):
    rng = np.random.default_rng(count)
    vectors = rng.normal(size=(count, 5)).astype(np.float32)
    query = vectors[1].copy()  # a distance of 0
    p, slope = np.empty(count, np.float32), np.empty(5)
    columns = np.ascontiguousarray(vectors.T)
    total = distance_softmax(kind, query, Panel(vectors, columns), 0, p, slope)
    expected = written_out(kind, query, vectors, 0)
    assert total == pytest.approx(expected[0], rel=1e-5, abs=1e-6)
    np.testing.assert_allclose(p, expected[1], rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(slope, expected[2], atol=1e-5)


def test_nobody_but_the_one_left_out():
    vectors, p, slope = np.ones((1, 2), np.float32), np.empty(1, np.float32), np.empty(2)
    panel = Panel(vectors, vectors.T.copy())
    assert distance_softmax(L1, vectors[0], panel, 0, p, slope) == -np.inf
    assert p.tolist() == [0]
    assert slope.tolist() == [0, 0]
