"""Softmax over the distances of one vector to many, and how its normaliser changes with it."""

from typing import NamedTuple

import numpy as np

from kgdash.engine.compiled import compiled
from kgdash.engine.microkernels import L1, L2
from kgdash.engine.softmax_kernels import exponentials

#: vectors that are compared at once
_BLOCK = 512

#: vectors of less probability do not count in slopes
_NOTHING = 1e-9


class Panel(NamedTuple):
    """The vectors of all candidates, float32, ``(n, K)``, and their transpose; both contiguous."""

    vectors: np.ndarray
    columns: np.ndarray


@compiled
def distance_softmax(kind, query, panel, left_out, p, slope):
    """Write the probability of each vector, and the mean slope of scores by the query.

    Scores are −‖query − vector‖ by ``kind``: `L1`, `L2`, else the square of the latter.

    :param query: float32, ``(K,)``
    :param panel: `Panel`
    :param left_out: position of a vector that has no probability
    :param p: float32, ``(n,)``; ``slope``: float64, ``(K,)``; both are written
    :return: log Σ exp(score), -inf if there is no other vector
    """
    vectors, columns = panel.vectors, panel.columns
    count, width = vectors.shape
    scores = np.empty(count, dtype=np.float32)
    for start in range(0, count, _BLOCK):
        part = scores[start : start + _BLOCK]
        part[:] = 0
        for k in range(width):
            own, row = query[k], columns[k, start : start + _BLOCK]
            if kind == L1:
                for j in range(len(part)):
                    part[j] += abs(own - row[j])
            else:
                for j in range(len(part)):
                    part[j] += (own - row[j]) * (own - row[j])
    if kind == L2:
        for j in range(count):
            scores[j] = np.sqrt(scores[j])
    least = np.float32(np.inf)
    for j in range(count):
        if j != left_out and scores[j] < least:
            least = scores[j]
    for j in range(count):
        p[j] = least - scores[j]
    p[left_out] = -np.inf
    exponentials(p, p)
    total = 0.0
    for j in range(count):
        total += p[j]
    slope[:] = 0
    if total == 0:
        return -np.inf
    for j in range(count):
        p[j] = p[j] / total
        if p[j] < _NOTHING:
            continue
        vector, weight = vectors[j], float(p[j])
        if kind == L1:
            for k in range(width):
                difference = vector[k] - query[k]
                slope[k] += weight * ((difference > 0) - np.float64(difference < 0))
        else:
            if kind == L2:
                weight *= 1.0 / scores[j] if scores[j] > 0 else 0.0
            else:
                weight *= 2.0
            for k in range(width):
                slope[k] += weight * (vector[k] - query[k])
    return np.log(total) - least
