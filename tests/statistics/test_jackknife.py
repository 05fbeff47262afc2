"""Errors of means over triples, against leaving out each entity by hand."""

import numpy as np
import pytest

from kgdash.statistics.jackknife import means_within


def test_by_leaving_out_each_entity():
    rng = np.random.default_rng(4)
    groups = np.arange(15) % 3
    ends, values = rng.integers(0, 15, (200, 2)), rng.random(200)
    means, errors = means_within(groups, ends, values)
    for group in range(3):
        own = (groups[ends] == group).all(axis=1)
        assert means[group] == pytest.approx(values[own].mean())
        left = [
            values[own & (ends != entity).all(axis=1)].mean() for entity in np.unique(ends[own])
        ]
        expected = np.sqrt((len(left) - 1) * np.var(left))
        assert errors[group] == pytest.approx(expected)


def test_of_a_hub_that_is_in_every_triple_there_is_no_error():
    ends = np.array([[0, 1], [0, 2], [3, 4], [4, 5], [5, 3]])
    means, errors = means_within(np.array([0, 0, 0, 1, 1, 1]), ends, np.array([0.1, 0.3, 1, 2, 3]))
    np.testing.assert_allclose(means, [0.2, 2])
    assert np.isnan(errors[0])
    assert errors[1] == pytest.approx(np.sqrt(4 / 3))


def test_without_triples_there_is_no_mean():
    means, errors = means_within(np.array([0, 0]), np.empty((0, 2), dtype=int), np.zeros(0))
    assert np.isnan([*means, *errors]).all()
