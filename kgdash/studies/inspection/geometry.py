"""Where a triple's entities lie in the model's own geometry: neighbours, and a plane to draw."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.linalg import eigh

from kgdash.errors import KgdashError
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.scoring.entity_vectors import EntityVectors, entity_vectors

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
    shares, axes = _components(fitted - mean)
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)
    first, second = shares.tolist()
    points = (values - mean) @ axes
    return Projection(points, (first, second), _even_choice(len(values), _DRAWN))


def lay_plane(run: Run, progress: Progress = silent) -> Projection:
    """Project a run's entities.

    :param progress: called with (0, 1) before; what follows is one call of LAPACK's
    :raises KgdashError: if they have no vectors that could be compared
    """
    progress(0.0, 1.0)
    vectors = entity_vectors(run.scorer)
    if vectors is None:
        raise KgdashError(f"{run.spec.name} has no entity vectors that could be compared")
    return project(vectors)


def _components(centred: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of the variance of the first two directions, and these.

    :param centred: float64, ``(n, k)``; the matrix that is made has the smaller side squared
    :return: float64, ``(2,)`` and ``(k, 2)``; zeros where there are fewer directions
    """
    is_wide = centred.shape[1] > len(centred)
    squares = centred @ centred.T if is_wide else centred.T @ centred
    total, size = float(np.trace(squares)), len(squares)
    lengths, axes = eigh(squares, subset_by_index=[max(0, size - 2), size - 1])
    lengths, axes = lengths[::-1], axes[:, ::-1]
    # Below, a direction is one of rounding.
    lengths = np.where(lengths > size * np.finfo(float).eps * total, lengths, 0.0)
    if is_wide:
        axes, scale = centred.T @ axes, np.sqrt(lengths)
        axes = np.divide(axes, scale, out=np.zeros_like(axes), where=scale > 0)
    more = max(0, 2 - len(lengths))
    shares = np.pad(lengths / max(total, 1e-300), (0, more))
    return shares, np.pad(axes, ((0, 0), (0, more)))


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
