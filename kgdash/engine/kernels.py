"""Masks and counts, tile by tile: the compiled loops that turn scores into ranks.

Scores are those of `kgdash.engine.scoring_kernels`; a tile is counted while it is in the cache.
"""

from typing import NamedTuple

import numpy as np

from kgdash.engine.comparing_microkernels import STEP
from kgdash.engine.compiled import compiled
from kgdash.engine.microkernels import LANES, transpose_8
from kgdash.engine.row_kernels import count_scores, filled_up, lower, scratch
from kgdash.engine.scoring_kernels import COLUMNS, ROWS, fill

#: rows and columns of a tile that is counted both ways: so many floats, and their transpose, fit
#: into 600 KiB
BOTH_ROWS, BOTH_COLUMNS = 252, 256
#: with those that fill a tile up to what is counted at once
_PADDED_ROWS = (BOTH_ROWS + STEP - 1) // STEP * STEP


class Masks(NamedTuple):
    """Entities that each query leaves out: ``columns[starts[i]:starts[i + 1]]``, ascending."""

    starts: np.ndarray
    columns: np.ndarray


@compiled
def mask_row(tile, inside, row, column, real, width, masks):
    """Put NaN where a row's query leaves an entity out, and beyond the last one.

    :return: scores that are left, and the first and last index of what was left out
    """
    stop = masks.starts[row + 1]
    first = lower(masks.columns, masks.starts[row], stop, column)
    last = first
    while last < stop and masks.columns[last] < column + real:
        tile[inside, masks.columns[last] - column] = np.nan
        last += 1
    for i in range(real, width):
        tile[inside, i] = np.nan
    return real - (last - first), first, last


@compiled
def count_tile(tile, first_row, last_row, column, real, groups, masks, bounds, counts, paper):
    """Count rows of scores, of which ``real`` are candidates' from ``column`` on."""
    width = filled_up(real)
    for row in range(first_row, last_row):
        group = groups[row]
        if bounds.starts[group] < bounds.starts[group + 1]:
            inside = row - first_row
            kept, _, _ = mask_row(tile, inside, row, column, real, width, masks)
            count_scores(tile, inside, width, kept, group, bounds, counts, paper)


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
    tile, paper = np.empty((ROWS, COLUMNS), np.float32), scratch()
    per_tile = COLUMNS // LANES
    for first in range(0, panels.shape[0], per_tile):
        last = min(first + per_tile, panels.shape[0])
        column = first * LANES
        real, column = min(columns - column, COLUMNS), begin + column
        for row in range(0, rows, ROWS):
            stop = min(row + ROWS, rows)
            fill(form, queries, row, stop, panels, first, last, tile)
            count_tile(tile, row, stop, column, real, groups, masks, bounds, counts, paper)


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
    # Rows a power of two apart would share few lines of the nearest cache: some floats lie between.
    tile, paper = np.empty((_PADDED_ROWS, BOTH_COLUMNS + LANES), np.float32), scratch()
    turned = np.empty((BOTH_COLUMNS, _PADDED_ROWS + LANES), np.float32)
    kept_in_column = np.empty(BOTH_COLUMNS, np.int64)
    per_tile = BOTH_COLUMNS // LANES
    for first_panel in range(0, panels.shape[0], per_tile):
        last_panel = min(first_panel + per_tile, panels.shape[0])
        column = first_panel * LANES
        real = min(columns - column, BOTH_COLUMNS)
        width = filled_up(real)
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
                    count_scores(tile, inside, width, kept, group, row_bounds, row_counts, paper)
            padded = filled_up(height)
            for i in range(height, padded):
                tile[i, :width] = np.nan
            for i in range(0, padded, 8):
                for j in range(0, width, 8):
                    transpose_8(
                        np.uintp(tile.ctypes.data + (i * tile.shape[1] + j) * 4),
                        tile.shape[1],
                        np.uintp(turned.ctypes.data + (j * turned.shape[1] + i) * 4),
                        turned.shape[1],
                    )
            for j in range(real):
                group = column + j
                if column_bounds.starts[group] < column_bounds.starts[group + 1]:
                    kept = kept_in_column[j]
                    count_scores(
                        turned, j, padded, kept, group, column_bounds, column_counts, paper
                    )


@compiled
def count_given(scores, groups, bounds, counts):
    """As `count_rows`, for scores that are there already: float32, ``(rows, columns)``.

    NaN are left out.
    """
    columns = scores.shape[1]
    tile, paper = np.empty((1, COLUMNS), np.float32), scratch()
    for row in range(scores.shape[0]):
        group = groups[row]
        if bounds.starts[group] == bounds.starts[group + 1]:
            continue
        for column in range(0, columns, COLUMNS):
            real = min(columns - column, COLUMNS)
            width = filled_up(real)
            kept = 0
            for i in range(real):
                score = scores[row, column + i]
                tile[0, i] = score
                kept += score == score
            for i in range(real, width):
                tile[0, i] = np.nan
            count_scores(tile, 0, width, kept, group, bounds, counts, paper)
