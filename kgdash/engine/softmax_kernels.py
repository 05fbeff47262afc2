"""Softmax over tiles of scores: its sums, what a temperature is fitted with, and log p.

Tiles are float32 or float64, ``(rows, columns)``; NaN are left out. All functions release the GIL.
Sums are added in a fixed order, so that they are the same on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgdash.engine.compiled import compiled

#: values that are summed at once, a power of two
_BLOCK = 512

#: e to the power of less than this is 0 in float32
_LEAST = np.float32(-87.0)

_LOG2E = np.float32(1.4426950408889634)
#: ln 2 in two parts: the first has so few digits that its multiples are exact (Cody, Waite 1980)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)


class SoftmaxSums(NamedTuple):
    """What is known of each row's softmax. float64, ``(rows,)``.

    With x = β (s − high) over the row's scores s: ``low`` and ``high``, the least and the greatest
    of them (inf and -inf: none); ``total`` = Σ eˣ; ``first`` = Σ x eˣ; ``second`` = Σ x² eˣ;
    ``squares`` = Σ e²ˣ.
    """

    low: np.ndarray
    high: np.ndarray
    total: np.ndarray
    first: np.ndarray
    second: np.ndarray
    squares: np.ndarray

    @classmethod
    def of_nothing(cls, rows: int) -> SoftmaxSums:
        """Return the sums of no scores yet."""
        ends = (np.full(rows, np.inf), np.full(rows, -np.inf))
        return cls(*ends, *(np.zeros(rows) for _ in range(4)))


@compiled
def exponentials(x, out):
    """Write eˣ for x ≤ 0, float32; 0 for NaN and below -87. At most 2 units in the last place off.

    eˣ = 2ⁿ eʳ with |r| ≤ ln 2 / 2, and eʳ by a polynomial (coefficients: Cephes, expf).
    """
    for j in range(len(x)):
        known = x[j] >= _LEAST
        value = x[j] if known else np.float32(0.0)
        n = np.floor(value * _LOG2E + np.float32(0.5))
        r = value - n * _LN2_HIGH
        r = r - n * _LN2_LOW
        p = np.float32(1.9875691500e-4)
        p = p * r + np.float32(1.3981999507e-3)
        p = p * r + np.float32(8.3334519073e-3)
        p = p * r + np.float32(4.1665795894e-2)
        p = p * r + np.float32(1.6666665459e-1)
        p = p * r + np.float32(5.0000001201e-1)
        p = p * r * r + r + np.float32(1.0)
        power = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
        out[j] = p * power if known else np.float32(0.0)


@compiled
def least_and_greatest(block, low, high):
    """Return the extremes of some scores, inf and -inf if there is none.

    :param low: room for as many values as a power of two, at least the scores'; ``high`` likewise
    """
    for j in range(len(block)):
        known = block[j] == block[j]
        low[j] = block[j] if known else np.inf
        high[j] = block[j] if known else -np.inf
    low[len(block) :] = np.inf
    high[len(block) :] = -np.inf
    half = len(low) // 2
    while half:
        # As arrays that do not overlap they are compared side by side.
        first, second = low[:half], low[half : 2 * half]
        for j in range(half):
            first[j] = second[j] if second[j] < first[j] else first[j]
        first, second = high[:half], high[half : 2 * half]
        for j in range(half):
            first[j] = second[j] if second[j] > first[j] else first[j]
        half //= 2
    return low[0], high[0]


@compiled
def folded(values):
    """Return the sum of float32 values, as many as a power of two, halves added to halves."""
    half = len(values) // 2
    while half:
        # As two arrays that do not overlap they are added side by side.
        low, high = values[:half], values[half : 2 * half]
        for j in range(half):
            low[j] += high[j]
        half //= 2
    return np.float64(values[0])


@compiled
def gather_softmax(tile, first, betas, sums):
    """Add a tile's scores to the sums of its rows.

    :param first: the first row's number
    :param betas: each row's inverse temperature β > 0, float64, ``(rows,)``
    :param sums: `SoftmaxSums`
    """
    lows, tops = np.empty(_BLOCK, tile.dtype), np.empty(_BLOCK, tile.dtype)
    x, e = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32)
    product = np.empty(_BLOCK, np.float32)
    for i in range(tile.shape[0]):
        row = first + i
        beta = betas[row]
        for start in range(0, tile.shape[1], _BLOCK):
            block = tile[i, start : start + _BLOCK]
            low, top = least_and_greatest(block, lows, tops)
            if top == -np.inf:
                continue
            sums.low[row] = min(sums.low[row], low)
            _raise_to(row, max(sums.high[row], np.float64(top)), beta, sums)
            high = sums.high[row]
            for j in range(len(block)):
                x[j] = np.float32(beta * (np.float64(block[j]) - high))
            x[len(block) :] = -np.inf
            exponentials(x, e)
            for j in range(_BLOCK):
                x[j] = x[j] if e[j] > 0 else np.float32(0.0)
                product[j] = e[j] * e[j]
            sums.squares[row] += folded(product)
            for j in range(_BLOCK):
                product[j] = x[j] * e[j]
                x[j] = product[j] * x[j]
            sums.total[row] += folded(e)
            sums.first[row] += folded(product)
            sums.second[row] += folded(x)


@compiled
def _raise_to(row, high, beta, sums):
    """Have a row's sums relate to a greater score."""
    before = sums.high[row]
    sums.high[row] = high
    if before == -np.inf or before == high:
        return
    shift = beta * (before - high)
    scale, total, once = np.exp(shift), sums.total[row], sums.first[row]
    sums.second[row] = scale * (sums.second[row] + 2 * shift * once + shift**2 * total)
    sums.first[row] = scale * (once + shift * total)
    sums.total[row] = scale * total
    sums.squares[row] *= scale**2


@compiled
def gather_logistic(tile, first, slope, intercept, sums):
    """Add up σ(slope s + intercept) over each row's scores s, and its squares.

    :param sums: added to, float64, ``(rows, 2)``
    """
    x, e = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32)
    value = np.empty(_BLOCK, np.float32)
    for i in range(tile.shape[0]):
        for start in range(0, tile.shape[1], _BLOCK):
            block = tile[i, start : start + _BLOCK]
            for j in range(len(block)):
                value[j] = np.float32(slope * np.float64(block[j]) + intercept)
                x[j] = -abs(value[j])
            x[len(block) :] = -np.inf
            value[len(block) :] = np.nan
            exponentials(x, e)
            for j in range(_BLOCK):
                above = e[j] if value[j] < 0 else np.float32(1.0)
                e[j] = above / (np.float32(1.0) + e[j]) if value[j] == value[j] else np.float32(0.0)
                x[j] = e[j] * e[j]
            sums[first + i, 0] += folded(e)
            sums[first + i, 1] += folded(x)


@compiled
def gather_log_probabilities(tile, first, betas, normalisers, scale, counts):
    """Count -log p = normaliser - β s of each score, for each normaliser of its row.

    :param betas: float64, ``(rows,)``
    :param normalisers: where each row's begin, int64, ``(rows + 1,)``, and log Σ exp(β s) of the
        triples that ask a row, float64
    :param scale: bins to a unit of -log p
    :param counts: added to, int64, ``(4, bins)``: the sum of the four; the last bin is open
    """
    last = counts.shape[1] - 1
    starts, values = normalisers
    place = np.empty(tile.shape[1], np.int32)
    for i in range(tile.shape[0]):
        row = first + i
        for k in range(starts[row], starts[row + 1]):
            for j in range(tile.shape[1]):
                value = (values[k] - betas[row] * np.float64(tile[i, j])) * scale
                place[j] = np.int32(min(max(value, 0.0), last)) if value == value else np.int32(-1)
            for j in range(tile.shape[1]):
                if place[j] >= 0:
                    counts[j & 3, place[j]] += 1
