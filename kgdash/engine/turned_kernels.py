"""Counting among candidates whose vectors a relation makes of one vector per entity.

Laying out all entities anew for every relation costs more than scoring the few queries that a
relation has. Here the entities' own vectors are laid out once, and a panel is turned into its
vectors under a relation while it is in the core's nearest cache: the same float32 operations, in
the same order, as `kgdash.scoring.pykeen_forms` does them, so that scores are the same bit for bit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kgdash.engine.compiled import compiled
from kgdash.engine.kernels import count_tile
from kgdash.engine.microkernels import LANES, _int, _spread
from kgdash.engine.row_kernels import scratch
from kgdash.engine.scoring_kernels import COLUMNS, ROWS, fill_panel

#: how a relation's vector r makes a candidate's of an entity's e: e · r, e + r, or the product of
#: both as complex numbers, real and imaginary parts side by side
PRODUCT, SUM, COMPLEX = range(3)


class Turned(NamedTuple):
    """Candidates from ``begin`` on: their panels, how many are ``real``, and what turns them.

    ``relations``: float32, ``(|R|, K)``.
    """

    turn: int
    panels: np.ndarray
    real: int
    begin: int
    relations: np.ndarray


def _turn(turn: int) -> Callable[..., None]:
    vector = ir.VectorType(ir.FloatType(), LANES)

    @intrinsic
    def turned(_context, panel, relation, out, dimension):
        signature = types.void(*[types.uintp] * 3, types.intp)

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            pointer = ir.FloatType().as_pointer()
            panel, relation, out = (builder.inttoptr(a, pointer) for a in arguments[:3])
            step = 2 if turn == COMPLEX else 1
            with cgutils.for_range(builder, builder.udiv(arguments[3], _int(step))) as loop:
                first = builder.mul(loop.index, _int(step))
                places = [builder.add(first, _int(i)) for i in range(step)]
                rows = [builder.mul(place, _int(LANES)) for place in places]
                own = [
                    builder.load(
                        builder.bitcast(builder.gep(panel, [row]), vector.as_pointer()), align=4
                    )
                    for row in rows
                ]
                by = [
                    _spread(builder, builder.load(builder.gep(relation, [place])), vector)
                    for place in places
                ]
                for row, value in zip(rows, _turned(builder, turn, own, by), strict=True):
                    place = builder.bitcast(builder.gep(out, [row]), vector.as_pointer())
                    builder.store(value, place, align=4)
            return context.get_dummy_value()

        return signature, generate

    return turned


def _turned(builder: Any, turn: int, own: list, by: list) -> list:
    """Turn one number of 16 entities, or real and imaginary part of one."""
    if turn == PRODUCT:
        return [builder.fmul(own[0], by[0])]
    if turn == SUM:
        return [builder.fadd(own[0], by[0])]
    (a, b), (real, imaginary) = own, by
    return [
        builder.fsub(builder.fmul(a, real), builder.fmul(b, imaginary)),
        builder.fadd(builder.fmul(a, imaginary), builder.fmul(b, real)),
    ]


_by_product, _by_sum, _by_complex = (_turn(turn) for turn in (PRODUCT, SUM, COMPLEX))


@compiled
def turn_panel(turn, panel, relation, out, dimension):
    """Turn a panel, float32 ``(K, 16)``, by a relation's vector, ``(K,)``, into ``out``.

    All three are addresses.
    """
    if turn == PRODUCT:
        _by_product(panel, relation, out, dimension)
    elif turn == SUM:
        _by_sum(panel, relation, out, dimension)
    else:
        _by_complex(panel, relation, out, dimension)


@compiled
def count_turned(form, queries, relations, candidates, groups, masks, bounds, counts):
    """As `kgdash.engine.kernels.count_rows`, each query among candidates under its relation.

    :param relations: of each query, in ascending order: int64, ``(rows,)``
    :param candidates: `Turned`
    """
    rows, panels, dimension = len(relations), candidates.panels, queries.shape[1]
    tile, paper = np.empty((ROWS, COLUMNS), np.float32), scratch()
    turned, per_tile = np.empty((dimension, LANES), np.float32), COLUMNS // LANES
    for first in range(0, panels.shape[0], per_tile):
        last = min(first + per_tile, panels.shape[0])
        column = first * LANES
        real, column = min(candidates.real - column, COLUMNS), candidates.begin + column
        row = 0
        while row < rows:
            stop = row + 1
            while stop < min(row + ROWS, rows) and relations[stop] == relations[row]:
                stop += 1
            relation = np.uintp(candidates.relations.ctypes.data + relations[row] * dimension * 4)
            for panel in range(first, last):
                own = np.uintp(panels.ctypes.data + panel * dimension * LANES * 4)
                turn_panel(candidates.turn, own, relation, np.uintp(turned.ctypes.data), dimension)
                out = np.uintp(tile.ctypes.data + (panel - first) * LANES * 4)
                fill_panel(form, queries, row, stop, np.uintp(turned.ctypes.data), out, COLUMNS)
            count_tile(tile, row, stop, column, real, groups, masks, bounds, counts, paper)
            row = stop
