"""Scores of tiles, and of single pairs: the compiled loops around the microkernels.

A tile is a block of scores, queries × entities, that stays in a core's cache from the moment it is
computed until it is counted; no score goes to main memory. All functions release the GIL, so that
threads share the work; they are compiled at first use (some seconds) and kept on disk by Numba.
"""

import numpy as np

from kgdash.engine.compiled import compiled
from kgdash.engine.microkernels import (
    DOT,
    L1,
    L2,
    LANES,
    TILE_ROWS,
    point_dot,
    point_l1,
    point_l2,
    point_l2_squared,
    tile_dot,
    tile_l1,
    tile_l2,
    tile_l2_squared,
)

#: rows and columns of a tile that is counted by rows
ROWS, COLUMNS = 96, 512

_TILE_ROWS = np.array(TILE_ROWS)


@compiled
def pack(vectors: np.ndarray, panels: np.ndarray) -> None:
    """Lay vectors ``(n, K)`` out as panels ``(ceil(n / 16), K, 16)``; the last is filled with 0."""
    count, dimension = vectors.shape
    for panel in range(panels.shape[0]):
        first = panel * LANES
        for lane in range(LANES):
            if first + lane < count:
                for k in range(dimension):
                    panels[panel, k, lane] = vectors[first + lane, k]
            else:
                for k in range(dimension):
                    panels[panel, k, lane] = 0.0


@compiled
def fill_panel(form, queries, first_row, last_row, entity, out, stride):
    """Score a block of queries (padded to whole steps) against one panel.

    :param entity: the panel's address, ``out``: that of its first score; ``stride``: floats from a
        row of scores to the next
    """
    dimension, step = queries.shape[1], _TILE_ROWS[form]
    for row in range(first_row, last_row, step):
        query = np.uintp(queries.ctypes.data + row * dimension * 4)
        scores = np.uintp(out + (row - first_row) * stride * 4)
        if form == DOT:
            tile_dot(query, entity, scores, stride, dimension)
        elif form == L1:
            tile_l1(query, entity, scores, stride, dimension)
        elif form == L2:
            tile_l2(query, entity, scores, stride, dimension)
        else:
            tile_l2_squared(query, entity, scores, stride, dimension)


@compiled
def fill(form, queries, first_row, last_row, panels, first_panel, last_panel, tile):
    """Score a block of queries (padded to whole steps) against some panels."""
    size, stride = queries.shape[1] * LANES * 4, tile.shape[1]
    for panel in range(first_panel, last_panel):
        entity = np.uintp(panels.ctypes.data + panel * size)
        out = np.uintp(tile.ctypes.data + (panel - first_panel) * LANES * 4)
        fill_panel(form, queries, first_row, last_row, entity, out, stride)


@compiled
def points(form, queries, entities, out):
    """Score ``queries[i]`` against ``entities[i]``, each ``(n, K)``, into ``out[i]``."""
    count, dimension = queries.shape
    for i in range(count):
        query = np.uintp(queries.ctypes.data + i * dimension * 4)
        entity = np.uintp(entities.ctypes.data + i * dimension * 4)
        if form == DOT:
            out[i] = point_dot(query, entity, dimension)
        elif form == L1:
            out[i] = point_l1(query, entity, dimension)
        elif form == L2:
            out[i] = point_l2(query, entity, dimension)
        else:
            out[i] = point_l2_squared(query, entity, dimension)


@compiled
def score_block(form, queries, rows, panels, columns, out):
    """Score padded queries against all panels into ``out``, ``(rows, columns)``."""
    tile = np.empty((ROWS, COLUMNS), np.float32)
    per_tile = COLUMNS // LANES
    for first_panel in range(0, panels.shape[0], per_tile):
        last_panel = min(first_panel + per_tile, panels.shape[0])
        column = first_panel * LANES
        width = min(columns - column, COLUMNS)
        for first_row in range(0, rows, ROWS):
            last_row = min(first_row + ROWS, rows)
            fill(form, queries, first_row, last_row, panels, first_panel, last_panel, tile)
            for row in range(first_row, last_row):
                for i in range(width):
                    out[row, column + i] = tile[row - first_row, i]
