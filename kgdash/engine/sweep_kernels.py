"""What is gathered of tiles of scores: extremes per row, bins of a histogram, single values.

Tiles are float32 or float64, ``(rows, columns)``; NaN are left out. All functions release the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgdash.engine.compiled import compiled
from kgdash.engine.kernels import mask_row
from kgdash.engine.microkernels import LANES
from kgdash.engine.scoring_kernels import COLUMNS, fill


class Extremes(NamedTuple):
    """What the scores of each row are like. float64 and int64, ``(rows,)``.

    Over the finite scores: the least, the greatest, how many equal each, how many there are, their
    sum; and how many scores are +inf and -inf.
    """

    low: np.ndarray
    high: np.ndarray
    at_low: np.ndarray
    at_high: np.ndarray
    finite: np.ndarray
    total: np.ndarray
    plus: np.ndarray
    minus: np.ndarray

    @classmethod
    def of_nothing(cls, rows: int) -> Extremes:
        """Return the extremes of no scores yet."""
        counts = (np.zeros(rows, dtype=np.int64) for _ in range(5))
        at_low, at_high, finite, plus, minus = counts
        low, high = np.full(rows, np.inf), np.full(rows, -np.inf)
        return cls(low, high, at_low, at_high, finite, np.zeros(rows), plus, minus)


class DigitTree(NamedTuple):
    """Which digits of scores' mixed bits are counted.

    A score's bits times an odd ``factor`` (uint64), modulo a power of two, are one to one with the
    bits. ``shifts``: of each digit, and ``masks``: its bits once it is shifted, uint64,
    ``(digits,)``; ``children``: the node that a digit leads to, -1 for none, int64,
    ``(nodes, 2048)``.
    """

    factor: np.uint64
    shifts: np.ndarray
    masks: np.ndarray
    children: np.ndarray


@compiled
def fill_masked(
    form,
    queries,
    rows,
    panels,
    first_panel,
    last_panel,
    columns,
    masks,
    tile,
):
    """Score the first queries against some panels, with NaN where a query leaves one out.

    :param rows: how many queries
    :param columns: entities in all panels
    """
    fill(form, queries, 0, rows, panels, first_panel, last_panel, tile)
    column = first_panel * LANES
    real = min(columns - column, COLUMNS)
    width = (last_panel - first_panel) * LANES
    for row in range(rows):
        mask_row(tile, row, row, column, real, width, masks)


@compiled
def gather_extremes(tile, first, extremes):
    """Add a tile's scores to the extremes of its rows; ``first`` is the first row's number."""
    for i in range(tile.shape[0]):
        row = first + i
        low, high = extremes.low[row], extremes.high[row]
        at_low, at_high = extremes.at_low[row], extremes.at_high[row]
        finite, total = extremes.finite[row], extremes.total[row]
        for j in range(tile.shape[1]):
            score = np.float64(tile[i, j])
            if not np.isfinite(score):
                extremes.plus[row] += score == np.inf
                extremes.minus[row] += score == -np.inf
                continue
            finite += 1
            total += score
            if score >= high:
                at_high = 1 if score > high else at_high + 1
                high = score
            if score <= low:
                at_low = 1 if score < low else at_low + 1
                low = score
        extremes.low[row], extremes.high[row] = low, high
        extremes.at_low[row], extremes.at_high[row] = at_low, at_high
        extremes.finite[row], extremes.total[row] = finite, total


class Placed(NamedTuple):
    """Triples that are held against rows: those of row i from ``starts[i]`` to ``starts[i + 1]``.

    ``starts``: int64, ``(rows + 1,)``. ``own``, ``least``: float64, ``(n,)``: the triple's score,
    and the least one that is inside. ``counts``: int64, ``(n, 4)``: how many scores there are, how
    many are above the own one, how many equal to it, and how many inside.
    """

    starts: np.ndarray
    own: np.ndarray
    least: np.ndarray
    counts: np.ndarray


@compiled
def gather_places(tile, first, placed):
    """Add a tile's scores to the counts of `Placed`; NaN, which are left out, count nowhere."""
    for i in range(tile.shape[0]):
        for k in range(placed.starts[first + i], placed.starts[first + i + 1]):
            own, least = placed.own[k], placed.least[k]
            some, above, equal, inside = 0, 0, 0, 0
            for j in range(tile.shape[1]):
                score = np.float64(tile[i, j])
                some += score == score
                above += score > own
                equal += score == own
                inside += score >= least
            placed.counts[k, 0] += some
            placed.counts[k, 1] += above
            placed.counts[k, 2] += equal
            placed.counts[k, 3] += inside


@compiled
def gather_bins(tile, first, weights, edges, counts):
    """Count a tile's finite scores into bins as `numpy.histogram` does: the last one is closed.

    :param weights: how often each row counts, int64, ``(rows,)``
    :param edges: ascending, float64, ``(bins + 1,)``; scores beyond them go to the outermost bins
    :param counts: added to, int64, ``(4, bins + 1)``: the sum of the four counts, the last column
        what is left out. A bin that is hit again and again would wait for itself
    """
    bins = counts.shape[1] - 1
    low, high = edges[0], edges[bins]
    scale = bins / (high - low)
    # The product, and the edges themselves, may be rounded across one another.
    near = 1e-12 + 1e-15 * max(abs(low), abs(high)) * scale
    place = np.empty(tile.shape[1], np.int32)
    for i in range(tile.shape[0]):
        doubtful = 0
        for j in range(tile.shape[1]):
            score = np.float64(tile[i, j])
            exact = min(max((score - low) * scale, 0.0), bins - 1.0)
            number = np.int32(exact)
            doubtful += (exact - number < near) | (exact - number > 1.0 - near)
            place[j] = number if abs(score) < np.inf else np.int32(bins)
        if doubtful:
            for j in range(tile.shape[1]):
                score, number = np.float64(tile[i, j]), place[j]
                if number == bins:
                    continue
                while number > 0 and score < edges[number]:
                    number -= 1
                while number < bins - 1 and score >= edges[number + 1]:
                    number += 1
                place[j] = number
        weight = weights[first + i]
        for j in range(tile.shape[1]):
            counts[j & 3, place[j]] += weight


@compiled
def gather_first_digits(tile, words, first, weights, factor, shift, counts):
    """Count a tile's finite scores by the first digit of their mixed bits, see `gather_digits`.

    :param shift: of the digit
    :param counts: added to, int64, ``(2049,)``; the last one is what is left out
    """
    place = np.empty(tile.shape[1], np.int32)
    rest = len(counts) - 1
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            # -0.0 equals 0.0, by other bits.
            word = words[i, j] if tile[i, j] != 0 else words.dtype.type(0)
            digit = np.int32(words.dtype.type(word * factor) >> shift)
            place[j] = digit if abs(tile[i, j]) < np.inf else np.int32(rest)
        weight = weights[first + i]
        for j in range(tile.shape[1]):
            counts[place[j]] += weight


@compiled
def gather_digits(tile, words, first, weights, tree, counts):
    """Count a tile's finite scores by the digits of their mixed bits, along a tree of digits.

    Their leading digits lead from node 0 as far as there are children; there the next digit is
    counted.

    :param words: the bits of the tile, uint32 or uint64
    :param tree: `DigitTree`
    :param counts: added to, int64, ``(nodes, 2048)``: only where there is no child
    """
    factor, shifts, masks, children = tree.factor, tree.shifts, tree.masks, tree.children
    for i in range(tile.shape[0]):
        weight = weights[first + i]
        for j in range(tile.shape[1]):
            if not np.isfinite(tile[i, j]):
                continue
            word = np.uint64(words[i, j]) if tile[i, j] != 0 else np.uint64(0)
            mixed = word * factor
            node = 0
            for level in range(len(shifts)):
                digit = np.int64((mixed >> shifts[level]) & masks[level])
                if children[node, digit] < 0:
                    counts[node, digit] += weight
                    break
                node = children[node, digit]
