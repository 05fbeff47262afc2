"""Where a triple's entities lie in the model's own geometry: neighbours, and a plane to draw."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.scoring.entity_vectors import EntityVectors

#: entities that the plane is laid through at most, and that are drawn as background
_FITTED, _DRAWN = 20_000, 2_000


@dataclass(frozen=True)
class Projection:
    """Entities in the plane of their two first principal components.

    ``points``: float64, ``(|E|, 2)``. ``explained``: the share of the variance that each axis
    shows, two of [0, 1]. ``background``: ids of an even choice of entities to draw.
    """

    points: np.ndarray
    explained: tuple[float, float]
    background: np.ndarray


def nearest_entities(vectors: EntityVectors, entity: int, k: int = 10) -> pd.DataFrame:
    """Return the entities nearest to one, the nearest first, equally near ones by id.

    :return: ``id`` (int64), ``distance`` (float64)
    """
    distances = vectors.distances_from(entity)
    distances[entity] = np.inf
    found = np.argsort(distances, kind="stable")[: min(k, len(distances) - 1)]
    return pd.DataFrame({"id": found, "distance": distances[found]})


def project(vectors: EntityVectors) -> Projection:
    """Project all entities on the plane that shows most of their variance (PCA).

    Directions compared by cosine are first brought to length one. On more than 20,000 entities the
    plane is that of an even choice of as many. The sign of an axis is such that its greatest
    loading is positive, so that the drawing is the same every time.
    """
    values = vectors.values.astype(np.float64)
    if vectors.distance == "cosine":
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        values = np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0)
    fitted = values[_even_choice(len(values), _FITTED)]
    mean = fitted.mean(axis=0)
    variances, axes = _components(fitted - mean)
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)
    total = max(float(variances.sum()), 1e-300)
    first, second = (float(v) / total for v in variances[:2])
    points = (values - mean) @ axes
    return Projection(points, (first, second), _even_choice(len(values), _DRAWN))


def _components(centred: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the variances, falling, two or more, and the directions of the first two.

    :param centred: float64, ``(n, k)``; the matrix that is made has the smaller side squared
    :return: float64, ``(≥ 2,)`` and ``(k, 2)``; zeros where there are fewer directions
    """
    if centred.shape[1] > len(centred):
        _, lengths, rows = np.linalg.svd(centred, full_matrices=False)
        variances, axes = lengths**2 / len(centred), rows.T
    else:
        variances, axes = np.linalg.eigh(centred.T @ centred / len(centred))
        variances, axes = np.clip(variances[::-1], 0, None), axes[:, ::-1]
    more = max(0, 2 - len(variances))
    return np.pad(variances, (0, more)), np.pad(axes, ((0, 0), (0, more)))[:, :2]


def marked_points(
    projection: Projection, groups: Sequence[tuple[str, Sequence[int]]]
) -> pd.DataFrame:
    """List points to mark, each entity once, in the first group that has it.

    :param groups: name of a group, and ids
    :return: ``id`` (int64), ``group`` (str), ``x``, ``y`` (float64)
    """
    group_of: dict[int, str] = {}
    for name, ids in groups:
        for entity in ids:
            group_of.setdefault(int(entity), name)
    marked = np.array(list(group_of), dtype=np.int64)
    x, y = projection.points[marked].T
    return pd.DataFrame({"id": marked, "group": list(group_of.values()), "x": x, "y": y})


def _even_choice(count: int, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))
