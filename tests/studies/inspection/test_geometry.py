"""Neighbours and the plane are those of plain NumPy."""

import numpy as np
import pandas as pd
import pytest

from kgdash.scoring.entity_vectors import EntityVectors
from kgdash.studies.inspection import geometry
from kgdash.studies.inspection.geometry import marked_points, nearest_entities, project


def vectors(count=40, width=6, distance="L2", seed=0):
    values = np.random.default_rng(seed).normal(size=(count, width)) * np.arange(1, width + 1)
    return EntityVectors(values.astype(np.float32), distance)


@pytest.mark.parametrize("distance", ["L1", "L2", "cosine"])
def test_nearest(distance):
    found = nearest_entities(vectors(distance=distance), 7, 5)
    values = vectors(distance=distance).values.astype(np.float64)
    own = values[7]
    expected = {
        "L1": lambda v: np.abs(v - own).sum(),
        "L2": lambda v: np.sqrt(((v - own) ** 2).sum()),
        "cosine": lambda v: 1 - v @ own / np.sqrt((v @ v) * (own @ own)),
    }[distance]
    order = sorted((i for i in range(40) if i != 7), key=lambda i: expected(values[i]))[:5]
    assert found["id"].tolist() == order
    np.testing.assert_allclose(found["distance"], [expected(values[i]) for i in order], rtol=1e-4)


def test_an_entity_is_not_its_own_neighbour():
    same = EntityVectors(np.ones((3, 2), dtype=np.float32), "cosine")
    assert nearest_entities(same, 1)["id"].tolist() == [0, 2]


@pytest.mark.parametrize("width", [6, 90])
def test_the_plane_shows_the_most_variance(width):
    found = project(vectors(width=width))
    values = vectors(width=width).values.astype(np.float64)
    centred = values - values.mean(axis=0)
    _, singular, axes = np.linalg.svd(centred, full_matrices=False)
    expected = centred @ axes[:2].T
    np.testing.assert_allclose(np.abs(found.points), np.abs(expected), atol=1e-9)
    share = singular**2 / (singular**2).sum()
    np.testing.assert_allclose(found.explained, share[:2])
    assert np.array_equal(found.points, project(vectors(width=width)).points)
    assert found.background.tolist() == list(range(40))


def test_directions_are_compared_at_one_length():
    one = vectors(distance="cosine")
    longer = EntityVectors(one.values * np.arange(1, 41, dtype=np.float32)[:, None], "cosine")
    np.testing.assert_allclose(project(one).points, project(longer).points, atol=1e-6)


def test_a_large_graph_is_fitted_by_an_even_choice(monkeypatch):
    monkeypatch.setattr(geometry, "_FITTED", 400)
    monkeypatch.setattr(geometry, "_DRAWN", 50)
    every = vectors(2000)
    found = project(every)
    assert found.points.shape == (2000, 2)
    assert len(found.background) == 50
    chosen = np.unique(np.linspace(0, 1999, 400).round().astype(int))
    part = project(EntityVectors(every.values[chosen], "L2"))
    np.testing.assert_allclose(found.points[chosen], part.points, atol=1e-9)
    assert found.explained == part.explained


def test_each_entity_is_marked_once():
    plane = project(vectors())
    found = marked_points(plane, [("head", [3]), ("tail", [5]), ("candidate", [5, 3, 8])])
    expected = pd.DataFrame({"id": [3, 5, 8], "group": ["head", "tail", "candidate"]})
    pd.testing.assert_frame_equal(found[["id", "group"]], expected)
    assert found[["x", "y"]].to_numpy().tolist() == plane.points[[3, 5, 8]].tolist()


@pytest.mark.parametrize(("count", "width"), [(1, 1), (1, 5), (2, 5), (5, 1), (9, 40)])
def test_few_directions(count, width):
    line = np.outer(np.arange(count), np.ones(width)).astype(np.float32)
    found = project(EntityVectors(line, "L2"))
    spread = (np.arange(count) - (count - 1) / 2) * np.sqrt(width)
    np.testing.assert_allclose(np.abs(found.points[:, 0]), np.abs(spread), atol=1e-9)
    np.testing.assert_allclose(found.points[:, 1], 0, atol=1e-9)
    np.testing.assert_allclose(found.explained, (float(count > 1), 0), atol=1e-12)


def test_nothing_varies():
    found = project(EntityVectors(np.ones((4, 3), dtype=np.float32), "L2"))
    assert found.explained == (0.0, 0.0)
    assert not found.points.any()


def test_vectors_longer_than_there_are_entities(monkeypatch):
    """A few entities of 65,536 numbers ask for no matrix of 65,536²."""
    values = np.random.default_rng(1).normal(size=(6, 9)).astype(np.float32)
    made = []
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: made.append(matrix))
    found = project(EntityVectors(values, "L2"))
    assert not made
    centred = values.astype(np.float64) - values.mean(axis=0, dtype=np.float64)
    _, lengths, axes = np.linalg.svd(centred)
    assert found.explained == pytest.approx(tuple(lengths[:2] ** 2 / (lengths**2).sum()))
    np.testing.assert_allclose(np.abs(found.points), np.abs(centred @ axes[:2].T), atol=1e-6)


@pytest.mark.parametrize("shape", [(5, 1), (1, 1), (1, 3), (2, 1)])
def test_fewer_directions_than_two(shape):
    values = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    found = project(EntityVectors(values, "L2"))
    assert found.points.shape == (shape[0], 2)
    assert not found.points[:, 1].any()
    assert found.explained == pytest.approx((float(shape[0] > 1), 0.0))
