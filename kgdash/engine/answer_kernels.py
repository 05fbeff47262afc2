"""How strange answers are among the candidates of their queries, and how many are no stranger.

Nonconformities by numbers.md#24-answer-sets, lower for higher scores: realistic rank, −log p, and
the probability of all that score at least as much. All functions release the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgdash.engine.compiled import compiled
from kgdash.engine.softmax_kernels import exponentials

#: numbers of the nonconformities
RANK, SOFTMAX, ADAPTIVE = range(3)


class Asking(NamedTuple):
    """The triples that ask rows: those of row i are ``triples[starts[i]:starts[i + 1]]``.

    int64, ``(rows + 1,)`` and ``(n,)``; ``own``: each triple's own score, float64, ``(n,)``;
    ``betas``: each row's inverse temperature β > 0, float64, ``(rows,)``.
    """

    starts: np.ndarray
    triples: np.ndarray
    own: np.ndarray
    betas: np.ndarray


class Limits(NamedTuple):
    """The greatest nonconformity that sets allow.

    ``kinds``: int64, ``(k,)``; ``most``: of each triple, float64, ``(n, k)``; +inf lets all in.
    """

    kinds: np.ndarray
    most: np.ndarray


@compiled
def place_answers(rows, first, asking, limits, strange, sizes):
    """Say how strange the triples' answers are, and how large sets of their queries are.

    :param rows: scores of the rivals, each row ascending, NaN last: float, ``(rows, columns)``
    :param first: the first row's number
    :param asking: `Asking` of all rows
    :param limits: `Limits`
    :param strange: filled in, float64, ``(n, 3)``: realistic rank, −log p, and the probability of
        all that score as much; not finite where the row or the answer has an infinite score
    :param sizes: filled in, int32, ``(n, k)``
    """
    columns = rows.shape[1]
    x, mass = np.empty(columns, np.float32), np.empty(columns + 1)
    weights = np.empty(columns, np.float32)
    for i in range(rows.shape[0]):
        row = rows[i]
        count = columns
        while count and row[count - 1] != row[count - 1]:
            count -= 1
        beta = asking.betas[first + i]
        high = np.float64(row[count - 1]) if count else -np.inf
        for j in range(count):
            x[j] = np.float32(beta * (np.float64(row[count - 1 - j]) - high))
        exponentials(x[:count], weights[:count])
        mass[0] = 0.0
        for j in range(count):
            mass[j + 1] = mass[j] + np.float64(weights[j])
        for k in range(asking.starts[first + i], asking.starts[first + i + 1]):
            triple = asking.triples[k]
            _place(row[:count], mass, beta, asking.own[triple], strange[triple])
            for at in range(len(limits.kinds)):
                kind, most = limits.kinds[at], limits.most[triple, at]
                inside = _rivals(row[:count], mass, beta, asking.own[triple], kind, most)
                inside += strange[triple, kind] <= most
                sizes[triple, at] = inside


@compiled
def _weights(row, mass, beta, own):
    """Return the greatest score, what the rivals' masses are multiplied by, and own one's mass."""
    high = np.float64(row[-1]) if len(row) else -np.inf
    top = max(high, own)
    scale = np.exp(beta * (high - top)) if len(row) else 0.0
    return top, scale, np.exp(beta * (own - top))


@compiled
def _place(row, mass, beta, own, strange):
    """Fill in the three nonconformities of a triple's own answer."""
    count = len(row)
    above = count - _first_from(row, own, True)
    equal = count - _first_from(row, own, False) - above
    strange[0] = above + equal / 2 + 1
    top, scale, weight = _weights(row, mass, beta, own)
    whole = scale * mass[count] + weight
    strange[1] = max(beta * (top - own) + np.log(whole), 0.0)
    strange[2] = min((scale * mass[above + equal] + weight) / whole, 1.0)


@compiled
def _first_from(row, score, beyond):
    """Return how many of ascending scores are below a score, or ``beyond``: not above it."""
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) // 2
        if row[middle] < score or (beyond and row[middle] == score):
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _rivals(row, mass, beta, own, kind, most):
    """Count the rivals of a triple that are no stranger than ``most``: strangeness falls with j."""
    count = len(row)
    if most == np.inf or not count:
        return count
    top, scale, weight = _weights(row, mass, beta, own)
    whole = scale * mass[count] + weight
    normaliser = beta * top + np.log(whole)
    low, high = 0, count
    while low < high:
        j = (low + high) // 2
        score = np.float64(row[j])
        if kind == SOFTMAX:
            value = normaliser - beta * score
        else:
            first, last = _tied(row, j)
            if kind == RANK:
                tied = last - first + (own == score)
                value = count - last + (own > score) + (tied + 1) / 2
            else:
                value = (scale * mass[count - first] + (weight if own >= score else 0.0)) / whole
        if value <= most:
            high = j
        else:
            low = j + 1
    return count - low


@compiled
def _tied(row, j):
    """Return where scores that equal the one at j begin, and where they have ended."""
    first, last = j, j + 1
    if j > 0 and row[j - 1] == row[j]:
        first = _first_from(row, row[j], False)
    if last < len(row) and row[last] == row[j]:
        last = _first_from(row, row[j], True)
    return first, last
