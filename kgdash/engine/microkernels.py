"""The innermost loops, written as LLVM vector instructions for Numba to inline.

Numba's own vectoriser neither keeps a block of accumulators in registers nor says in which order it
adds. Here each score is one chain of operations over the dimensions k = 0, 1, …, with fused
multiply-add where a product is added: the same chain for every entity, block and thread, so that a
score is a pure function of its two vectors, bit for bit. Equal vectors tie, and a triple's own
score equals the number found in its row (numbers.md#1-ranks).

All functions take addresses (``uintp``) of float32 or int64 data; nothing is bounds-checked.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

#: entities that lie side by side in a panel, and are scored at once
LANES = 16

DOT, L1, L2, L2_SQUARED = range(4)

_FLOAT, _INT, _INT32 = ir.FloatType(), ir.IntType(64), ir.IntType(32)


def _int(value: int) -> ir.Constant:
    return ir.Constant(_INT, value)


def _spread(builder: Any, value: Any, vector: ir.VectorType) -> Any:
    """Fill a vector with one value."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(_INT32, 0))
    zeros = ir.Constant(ir.VectorType(_INT32, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, nothing, zeros)


def _call(builder: Any, name: str, kind: Any, *values: Any) -> Any:
    suffix = f"v{kind.count}f32" if isinstance(kind, ir.VectorType) else "f32"
    signature = ir.FunctionType(kind, [kind] * len(values))
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}.{suffix}")
    return builder.call(function, values)


def _step(builder: Any, form: int, kind: Any, total: Any, query: Any, entity: Any) -> Any:
    """Add one dimension's part to a total."""
    if form == DOT:
        return _call(builder, "fma", kind, query, entity, total)
    difference = builder.fsub(query, entity)
    if form == L1:
        return builder.fadd(total, _call(builder, "fabs", kind, difference))
    return _call(builder, "fma", kind, difference, difference, total)


def _finish(builder: Any, form: int, kind: Any, total: Any) -> Any:
    """Turn a total into a score: distances count negatively."""
    if form == DOT:
        return total
    return builder.fneg(_call(builder, "sqrt", kind, total) if form == L2 else total)


def _tile(form: int, rows: int) -> Callable[..., None]:
    vector = ir.VectorType(_FLOAT, LANES)

    @intrinsic
    def tile(_context, queries, panel, out, stride, dimension):
        signature = types.void(*[types.uintp] * 3, *[types.intp] * 2)

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            queries, panel, out, stride, dimension = arguments
            query, panel, out = (
                builder.inttoptr(a, _FLOAT.as_pointer()) for a in (queries, panel, out)
            )
            starts = [builder.gep(query, [builder.mul(dimension, _int(i))]) for i in range(rows)]
            totals = [cgutils.alloca_once(builder, vector) for _ in range(rows)]
            for total in totals:
                builder.store(ir.Constant(vector, [0.0] * LANES), total)
            with cgutils.for_range(builder, dimension) as loop:
                place = builder.gep(panel, [builder.mul(loop.index, _int(LANES))])
                entity = builder.load(builder.bitcast(place, vector.as_pointer()), align=4)
                for start, total in zip(starts, totals, strict=True):
                    value = builder.load(builder.gep(start, [loop.index]))
                    spread = _spread(builder, value, vector)
                    added = _step(builder, form, vector, builder.load(total), spread, entity)
                    builder.store(added, total)
            for i, total in enumerate(totals):
                place = builder.gep(out, [builder.mul(stride, _int(i))])
                score = _finish(builder, form, vector, builder.load(total))
                builder.store(score, builder.bitcast(place, vector.as_pointer()), align=4)
            return context.get_dummy_value()

        return signature, generate

    return tile


#: Score a few queries against one panel: (queries, panel, out, floats from row to row of out,
#: dimension). The number of rows is what the registers hold.
tile_dot, tile_l1, tile_l2, tile_l2_squared = (
    _tile(DOT, 6),
    _tile(L1, 4),
    _tile(L2, 6),
    _tile(L2_SQUARED, 6),
)
#: rows of each tile function, by form
TILE_ROWS = (6, 4, 6, 6)
#: what a number of rows is padded to, so that every form can take it
ROW_STEP = 12


def _point(form: int) -> Callable[..., float]:
    @intrinsic
    def point(_context, query, entity, dimension):
        signature = types.float32(types.uintp, types.uintp, types.intp)

        def generate(_: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            query, entity = (
                builder.inttoptr(a, _FLOAT.as_pointer()) for a in (arguments[0], arguments[1])
            )
            total = cgutils.alloca_once_value(builder, ir.Constant(_FLOAT, 0.0))
            builder.store(ir.Constant(_FLOAT, 0.0), total)
            with cgutils.for_range(builder, arguments[2]) as loop:
                values = (builder.load(builder.gep(p, [loop.index])) for p in (query, entity))
                builder.store(_step(builder, form, _FLOAT, builder.load(total), *values), total)
            return _finish(builder, form, _FLOAT, builder.load(total))

        return signature, generate

    return point


#: Score one query against one entity, by the chain of the tiles: (query, entity, dimension).
point_dot, point_l1, point_l2, point_l2_squared = (
    _point(form) for form in (DOT, L1, L2, L2_SQUARED)
)


def _transpose_8(_context, source, source_stride, target, target_stride):
    """Transpose 8 × 8 floats: (source, floats from row to row, target, floats from row to row)."""
    vector = ir.VectorType(_FLOAT, 8)
    signature = types.void(types.uintp, types.intp, types.uintp, types.intp)

    def shuffle(builder: Any, a: Any, b: Any, lanes: list[int]) -> Any:
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INT32, 8), lanes))

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        source, target = (builder.inttoptr(arguments[i], _FLOAT.as_pointer()) for i in (0, 2))

        def row(base: Any, stride: Any, i: int) -> Any:
            place = builder.gep(base, [builder.mul(stride, _int(i))])
            return builder.bitcast(place, vector.as_pointer())

        a = [builder.load(row(source, arguments[1], i), align=4) for i in range(8)]
        # Pairs of rows are interleaved within 128-bit halves, then pairs of pairs, then the halves
        # are exchanged: the three steps that a 256-bit machine does without crossing halves.
        low, high = [0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15]
        b = [shuffle(builder, a[i], a[i + 1], m) for i in (0, 2, 4, 6) for m in (low, high)]
        left, right = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]
        c = [shuffle(builder, b[i], b[i + 2], m) for i in (0, 1, 4, 5) for m in (left, right)]
        first, second = [0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]
        out = [shuffle(builder, c[i], c[i + 4], m) for m in (first, second) for i in range(4)]
        for i, value in enumerate(out):
            builder.store(value, row(target, arguments[3], i), align=4)
        return context.get_dummy_value()

    return signature, generate


#: see `_transpose_8`
transpose_8: Any = intrinsic(_transpose_8)
