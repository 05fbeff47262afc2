"""All scores of some queries in one pass: each one's softmax, and those that reach a bound.

All functions release the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgdash.engine.comparing_microkernels import spread_of
from kgdash.engine.compiled import compiled
from kgdash.engine.kernels import Masks, mask_row
from kgdash.engine.microkernels import LANES
from kgdash.engine.row_kernels import filled_up
from kgdash.engine.scoring_kernels import COLUMNS, ROWS, fill
from kgdash.engine.softmax_kernels import exponentials, folded


class Scored(NamedTuple):
    """What is scored: all of some queries against all of some entities.

    ``kind``: DOT, L1, L2 or L2_SQUARED; ``queries``: float32, ``(rows padded to a multiple of 12,
    K)``, of which ``rows`` count; ``panels``: the entities' vectors, of which ``columns`` are real;
    ``masks``: those that each query leaves out.
    """

    kind: int
    queries: np.ndarray
    rows: int
    panels: np.ndarray
    columns: int
    masks: Masks


class Found(NamedTuple):
    """Scores that reach their query's bound, as many as ``place[2]`` says.

    ``row``, ``column``: int32, ``(n,)``; ``score``: float32. ``place``: int64, ``(3,)``: the row
    and the panel that are next, and how many were found.
    """

    row: np.ndarray
    column: np.ndarray
    score: np.ndarray
    place: np.ndarray

    @classmethod
    def of_nothing(cls, room: int) -> Found:
        """Return room for so many scores, and a tile more."""
        size = room + ROWS * COLUMNS
        row, column = (np.empty(size, dtype=np.int32) for _ in range(2))
        return cls(row, column, np.empty(size, dtype=np.float32), np.zeros(3, dtype=np.int64))


@compiled
def normalise_rows(scored, beta, high, total):
    """Sum up Σ exp(β (s − high)) over each query's candidates, where high is the greatest score.

    :param scored: `Scored`
    :param beta: inverse temperature > 0, float32
    :param high: filled; float32, ``(rows,)``; -inf where there is no candidate
    :param total: filled; float64, ``(rows,)``
    """
    form, queries, rows, panels, columns, masks = scored
    tile = np.empty((ROWS, COLUMNS), np.float32)
    x, e = np.empty(COLUMNS, np.float32), np.empty(COLUMNS, np.float32)
    per_tile = COLUMNS // LANES
    high[:rows] = -np.inf
    total[:rows] = 0.0
    for first_row in range(0, rows, ROWS):
        last_row = min(first_row + ROWS, rows)
        for first_panel in range(0, panels.shape[0], per_tile):
            last_panel = min(first_panel + per_tile, panels.shape[0])
            column = first_panel * LANES
            real = min(columns - column, COLUMNS)
            width = filled_up(real)
            fill(form, queries, first_row, last_row, panels, first_panel, last_panel, tile)
            for row in range(first_row, last_row):
                inside = row - first_row
                mask_row(tile, inside, row, column, real, width, masks)
                scores = np.uintp(tile.ctypes.data + inside * COLUMNS * 4)
                _, most = spread_of(scores, width)
                if most == -np.inf:
                    continue
                if most > high[row]:
                    total[row] *= np.exp(np.float64(beta) * (np.float64(high[row]) - most))
                    high[row] = most
                top = high[row]
                for j in range(width):
                    x[j] = beta * (tile[inside, j] - top)
                x[width:] = -np.inf
                exponentials(x, e)
                total[row] += folded(e)


@compiled
def collect_above(scored, bounds, found):
    """Gather the scores that are at least their query's bound, until there is no more room.

    :param scored: `Scored`
    :param bounds: float32, ``(rows,)``
    :param found: `Found`, of whose ``place`` this goes on
    :return: whether all rows are done
    """
    form, queries, rows, panels, columns, masks = scored
    tile = np.empty((ROWS, COLUMNS), np.float32)
    per_tile = COLUMNS // LANES
    count = found.place[2]
    while found.place[0] < rows:
        first_row, first_panel = found.place[0], found.place[1]
        if count + ROWS * COLUMNS > len(found.score):
            found.place[2] = count
            return False
        last_row = min(first_row + ROWS, rows)
        last_panel = min(first_panel + per_tile, panels.shape[0])
        column = first_panel * LANES
        real = min(columns - column, COLUMNS)
        width = filled_up(real)
        fill(form, queries, first_row, last_row, panels, first_panel, last_panel, tile)
        for row in range(first_row, last_row):
            inside, bound = row - first_row, bounds[row]
            mask_row(tile, inside, row, column, real, width, masks)
            scores = np.uintp(tile.ctypes.data + inside * COLUMNS * 4)
            _, most = spread_of(scores, width)
            if not most >= bound:
                continue
            for j in range(real):
                if tile[inside, j] >= bound:
                    found.row[count], found.column[count] = row, column + j
                    found.score[count] = tile[inside, j]
                    count += 1
        found.place[1] = last_panel
        if last_panel == panels.shape[0]:
            found.place[0], found.place[1] = last_row, 0
    found.place[2] = count
    return True
