"""Masks and counts, tile by tile: the compiled loops that turn scores into ranks.

Scores are those of `kgdash.engine.scoring_kernels`; a tile is counted while it is in the cache.
"""

from typing import NamedTuple

import numpy as np

from kgdash.engine.compiled import compiled
from kgdash.engine.microkernels import (
    LANES,
    count_above_1,
    count_above_2,
    count_above_6,
    spread_of,
    transpose_8,
)
from kgdash.engine.scoring_kernels import COLUMNS, ROWS, fill

#: rows and columns of a tile that is counted both ways: so many floats, and their transpose, fit
#: into 512 KiB
BOTH_ROWS, BOTH_COLUMNS = 192, 256

#: from this many bounds within reach on, a score looks up its place among them instead of being
#: compared with each
_MANY_BOUNDS = 80


class Bounds(NamedTuple):
    """Groups of bounds that scores are compared with, see `kgdash.engine.bounds`.

    ``values``: float32, each group's in ascending order; ``starts``: where a group's begin, int64,
    ``(groups + 1,)``. Groups of many bounds have a table from a score's bin to its place among
    them: ``bins`` is its size (0: none), ``places`` where it begins in ``table`` (one entry more
    than bins: how many of the group's bounds lie in lower bins), ``scales`` the bins per unit of
    score, float32.
    """

    values: np.ndarray
    starts: np.ndarray
    bins: np.ndarray
    places: np.ndarray
    table: np.ndarray
    scales: np.ndarray


class Counts(NamedTuple):
    """How many scores exceed each bound, in two parts that `finish` adds up.

    ``above[j]`` scores exceed bound j, and those in ``tally``: of group g, whose entries begin at
    ``starts[g] + g``, entry i counts scores that exceed the group's first i bounds alone. Int64.
    """

    above: np.ndarray
    tally: np.ndarray


class Masks(NamedTuple):
    """Entities that each query leaves out: ``columns[starts[i]:starts[i + 1]]``, ascending."""

    starts: np.ndarray
    columns: np.ndarray


@compiled
def _lower(values, first, last, value):
    """Find the first index in [first, last) whose value is not below ``value`` (else last)."""
    while first < last:
        middle = (first + last) // 2
        if values[middle] < value:
            first = middle + 1
        else:
            last = middle
    return first


@compiled
def _bin(score, low, scale, bins):
    """Map a score to a bin, never against the order of scores."""
    if not scale > 0:
        return 0
    return int(min((score - low) * scale, np.float32(bins - 1)))


@compiled
def tabulate(bounds):
    """Fill the tables of the groups that have one."""
    for group in range(len(bounds.bins)):
        bins, place = bounds.bins[group], bounds.places[group]
        if bins == 0:
            continue
        first, last = bounds.starts[group], bounds.starts[group + 1]
        low = bounds.values[first]
        reach = bounds.values[last - 1] - low
        # A reach that is nothing or infinite leaves one bin.
        scale = np.float32(bins) / reach if reach > 0 else np.float32(0)
        if not np.isfinite(scale):
            scale = np.float32(0)
        bounds.scales[group] = scale
        index = first
        for number in range(bins):
            while index < last and _bin(bounds.values[index], low, scale, bins) < number:
                index += 1
            bounds.table[place + number] = index - first
        bounds.table[place + bins] = last - first


@compiled
def _count(tile, row, width, kept, group, bounds, counts):
    """Count a row's scores against the bounds of its group.

    :param width: scores in the row, a multiple of 8
    :param kept: those that are not NaN
    """
    values = bounds.values
    first, last = bounds.starts[group], bounds.starts[group + 1]
    scores = np.uintp(tile.ctypes.data + row * tile.shape[1] * 4)
    least, most = spread_of(scores, width)
    if not most > values[first]:
        return
    # Only the bounds that lie among the scores need looking at each of them.
    begin = _lower(values, first, last, least)
    end = _lower(values, begin, last, most)
    tally = counts.tally[first + group :]
    if end - begin <= _MANY_BOUNDS:
        tally[begin - first] += kept
        bound = np.uintp(values.ctypes.data + begin * 4)
        count = np.uintp(counts.above.ctypes.data + begin * 8)
        left = end - begin
        while left >= 6:
            count_above_6(scores, width, bound, count)
            bound, count, left = np.uintp(bound + 24), np.uintp(count + 48), left - 6
        while left >= 2:
            count_above_2(scores, width, bound, count)
            bound, count, left = np.uintp(bound + 8), np.uintp(count + 16), left - 2
        if left:
            count_above_1(scores, width, bound, count)
        return
    low, lowest, scale = values[first], values[begin], bounds.scales[group]
    bins, table = bounds.bins[group], bounds.table[bounds.places[group] :]
    for i in range(width):
        score = tile[row, i]
        if score > lowest:
            number = _bin(score, low, scale, bins)
            index, stop = first + table[number], first + table[number + 1]
            if stop - index > 8:
                index = _lower(values, index, stop, score)
            else:
                while index < stop and values[index] < score:
                    index += 1
            tally[index - first] += 1
        elif score == score:
            tally[begin - first] += 1


@compiled
def mask_row(tile, inside, row, column, real, width, masks):
    """Put NaN where a row's query leaves an entity out, and beyond the last one.

    :return: scores that are left, and the first and last index of what was left out
    """
    stop = masks.starts[row + 1]
    first = _lower(masks.columns, masks.starts[row], stop, column)
    last = first
    while last < stop and masks.columns[last] < column + real:
        tile[inside, masks.columns[last] - column] = np.nan
        last += 1
    for i in range(real, width):
        tile[inside, i] = np.nan
    return real - (last - first), first, last


@compiled
def count_tile(tile, first_row, last_row, column, real, width, groups, masks, bounds, counts):
    """Count rows of scores, of which ``real`` are candidates' from ``column`` on."""
    for row in range(first_row, last_row):
        group = groups[row]
        if bounds.starts[group] < bounds.starts[group + 1]:
            inside = row - first_row
            kept, _, _ = mask_row(tile, inside, row, column, real, width, masks)
            _count(tile, inside, width, kept, group, bounds, counts)


@compiled
def count_rows(form, queries, rows, panels, columns, groups, masks, bounds, counts, begin=0):
    """Score queries against all entities and count the scores above the bounds of their groups.

    :param form: DOT, L1, L2 or L2_SQUARED
    :param queries: float32, ``(rows padded to a multiple of 12, K)``
    :param panels: the entities' vectors, see `pack`; ``columns`` of them are real
    :param groups: the group of each query, int64, ``(rows,)``
    :param masks: the entities that each query leaves out; ``begin``: the first of all
    :param counts: added to
    """
    tile = np.empty((ROWS, COLUMNS), np.float32)
    per_tile = COLUMNS // LANES
    for first in range(0, panels.shape[0], per_tile):
        last = min(first + per_tile, panels.shape[0])
        column, width = first * LANES, (last - first) * LANES
        real, column = min(columns - column, COLUMNS), begin + column
        for row in range(0, rows, ROWS):
            stop = min(row + ROWS, rows)
            fill(form, queries, row, stop, panels, first, last, tile)
            count_tile(tile, row, stop, column, real, width, groups, masks, bounds, counts)


@compiled
def count_both(
    form,
    queries,
    rows,
    first_group,
    panels,
    columns,
    masks,
    row_bounds,
    row_counts,
    column_bounds,
    column_counts,
):
    """As `count_rows`, but each score is counted in its row's group and in its column's.

    The group of row i is ``first_group + i``, the group of column j is j, in two families of
    groups.
    """
    tile = np.empty((BOTH_ROWS, BOTH_COLUMNS), np.float32)
    turned = np.empty((BOTH_COLUMNS, BOTH_ROWS), np.float32)
    kept_in_column = np.empty(BOTH_COLUMNS, np.int64)
    per_tile = BOTH_COLUMNS // LANES
    for first_panel in range(0, panels.shape[0], per_tile):
        last_panel = min(first_panel + per_tile, panels.shape[0])
        column = first_panel * LANES
        real = min(columns - column, BOTH_COLUMNS)
        width = (last_panel - first_panel) * LANES
        for first_row in range(0, rows, BOTH_ROWS):
            last_row = min(first_row + BOTH_ROWS, rows)
            height = last_row - first_row
            fill(form, queries, first_row, last_row, panels, first_panel, last_panel, tile)
            kept_in_column[:] = height
            for inside in range(height):
                row, group = first_row + inside, first_group + first_row + inside
                kept, first, last = mask_row(tile, inside, row, column, real, width, masks)
                for index in range(first, last):
                    kept_in_column[masks.columns[index] - column] -= 1
                if row_bounds.starts[group] < row_bounds.starts[group + 1]:
                    _count(tile, inside, width, kept, group, row_bounds, row_counts)
            padded = (height + 7) // 8 * 8
            for i in range(height, padded):
                tile[i, :width] = np.nan
            for i in range(0, padded, 8):
                for j in range(0, width, 8):
                    transpose_8(
                        np.uintp(tile.ctypes.data + (i * BOTH_COLUMNS + j) * 4),
                        BOTH_COLUMNS,
                        np.uintp(turned.ctypes.data + (j * BOTH_ROWS + i) * 4),
                        BOTH_ROWS,
                    )
            for j in range(real):
                group = column + j
                if column_bounds.starts[group] < column_bounds.starts[group + 1]:
                    kept = kept_in_column[j]
                    _count(turned, j, padded, kept, group, column_bounds, column_counts)


@compiled
def count_given(scores, groups, bounds, counts):
    """As `count_rows`, for scores that are there already: float32, ``(rows, columns)``.

    NaN are left out.
    """
    columns = scores.shape[1]
    tile = np.empty((1, COLUMNS), np.float32)
    for row in range(scores.shape[0]):
        group = groups[row]
        if bounds.starts[group] == bounds.starts[group + 1]:
            continue
        for column in range(0, columns, COLUMNS):
            real = min(columns - column, COLUMNS)
            width = (real + 7) // 8 * 8
            kept = 0
            for i in range(real):
                score = scores[row, column + i]
                tile[0, i] = score
                kept += score == score
            for i in range(real, width):
                tile[0, i] = np.nan
            _count(tile, 0, width, kept, group, bounds, counts)


@compiled
def finish(bounds, counts):
    """Return how many scores exceed each bound, int64, like ``bounds.values``."""
    total = counts.above.copy()
    for group in range(len(bounds.starts) - 1):
        more = 0
        for index in range(bounds.starts[group + 1] - 1, bounds.starts[group] - 1, -1):
            more += counts.tally[index + group + 1]
            total[index] += more
    return total
