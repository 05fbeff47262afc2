"""The innermost loops of counting, written as LLVM vector instructions for Numba to inline.

A score is compared with bounds as a whole number of 16 bits, of which a register holds twice as
many, and where two such numbers are the same it is compared as it is.

All functions take addresses (``uintp``); nothing is bounds-checked.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kgdash.engine.microkernels import _FLOAT, _INT, _INT32, _int, _spread

#: scores that are counted at once: what rows of scores are filled up to with NaN
STEP = 128

_INT16 = ir.IntType(16)
#: what it makes is called with less than is written
_intrinsic: Any = intrinsic
#: what NaN become when scores are brought to whole numbers
_LEAST_LEVEL = -(2**15)


def _address(builder: Any, base: Any, kind: Any, index: Any) -> Any:
    """Point to vector ``index`` of those that lie at an address one after another."""
    return builder.gep(builder.inttoptr(base, kind.as_pointer()), [index])


def _ones(builder: Any, mask: Any) -> Any:
    """Count the lanes of a mask that are set: int64."""
    return builder.trunc(builder.ctpop(builder.bitcast(mask, ir.IntType(STEP))), _INT)


@_intrinsic
def address(_context, array):
    """Return where an array's data are, as a uintp; ``ctypes.data`` would count references."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(data, _INT)

    return types.uintp(array), generate


@_intrinsic
def count_compared(_context, scores, width, bounds, number, above, equal):
    """Add how many of the first ``width`` scores exceed and equal each of ``number`` bounds.

    (scores, width, bounds, number, above, equal); ``width`` is a multiple of 128, NaN exceed and
    equal nothing.
    """
    vector = ir.VectorType(_FLOAT, STEP)
    signature = types.void(*[types.uintp, types.intp] * 2, *[types.uintp] * 2)

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        scores, width, bounds, number, *counts = arguments
        with cgutils.for_range(builder, number) as each:
            bound = builder.load(_address(builder, bounds, _FLOAT, each.index))
            spread = _spread(builder, bound, vector)
            found = [cgutils.alloca_once(builder, _INT) for _ in counts]
            for count in found:
                builder.store(_int(0), count)
            with cgutils.for_range(builder, builder.udiv(width, _int(STEP))) as loop:
                score = builder.load(_address(builder, scores, vector, loop.index), align=4)
                for count, order in zip(found, (">", "=="), strict=True):
                    hit = _ones(builder, builder.fcmp_ordered(order, score, spread))
                    builder.store(builder.add(builder.load(count), hit), count)
            for count, out in zip(found, counts, strict=True):
                place = _address(builder, out, _INT, each.index)
                builder.store(builder.add(builder.load(place), builder.load(count)), place)
        return context.get_dummy_value()

    return signature, generate


@_intrinsic
def levels_of(_context, scores, width, low, scale, levels):
    """Map scores to int16, never against their order; NaN and -inf become the least.

    (scores, width, low, scale, levels): (score - low) · scale is brought to [0, 64000] for the
    scores that matter; ``width`` is a multiple of 128.
    """
    vector, whole = ir.VectorType(_FLOAT, STEP), ir.VectorType(_INT32, STEP)
    level = ir.VectorType(_INT16, STEP)
    signature = types.void(types.uintp, types.intp, types.float32, types.float32, types.uintp)

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        scores, width, low, scale, levels = arguments
        low, scale = (_spread(builder, value, vector) for value in (low, scale))
        with cgutils.for_range(builder, builder.udiv(width, _int(STEP))) as loop:
            score = builder.load(_address(builder, scores, vector, loop.index), align=4)
            value = builder.fmul(builder.fsub(score, low), scale)
            for order, end in ((">", -1.0), ("<", 65_000.0)):
                limit = ir.Constant(vector, [end] * STEP)
                inside = builder.fcmp_ordered(order, value, limit)
                value = builder.select(inside, value, limit)
            shift = ir.Constant(whole, [_LEAST_LEVEL + 1] * STEP)
            place = _address(builder, levels, level, loop.index)
            found = builder.add(builder.fptosi(value, whole), shift)
            builder.store(builder.trunc(found, level), place, align=2)
        return context.get_dummy_value()

    return signature, generate


@_intrinsic
def count_levels(_context, levels, width, bounds, number, above, hits):
    """Count how many of the first ``width`` levels exceed each of ``number`` bounds' levels.

    (levels, width, bounds, number, above, hits): bounds are int32, each a level twice, ascending;
    ``above``, int64, is added to; ``hits``, uint64, are masks of the levels that a bound has, too;
    ``width`` is a multiple of 128.
    """
    vector, pairs = ir.VectorType(_INT16, STEP), ir.VectorType(_INT32, STEP // 2)
    signature = types.void(*[types.uintp, types.intp] * 2, *[types.uintp] * 2)

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        levels, width, bounds, number, above, hits = arguments
        nearest = cgutils.alloca_once(builder, vector)
        with cgutils.for_range(builder, builder.udiv(width, _int(STEP))) as loop:
            level = builder.load(_address(builder, levels, vector, loop.index), align=2)
            builder.store(ir.Constant(vector, [_LEAST_LEVEL] * STEP), nearest)
            # From the greatest bound to the least: what is kept is the least that is not exceeded.
            with cgutils.for_range(builder, number) as each:
                index = builder.sub(builder.sub(number, _int(1)), each.index)
                both = builder.load(_address(builder, bounds, _INT32, index))
                bound = builder.bitcast(_spread(builder, both, pairs), vector)
                exceeds = builder.icmp_signed(">", level, bound)
                place = _address(builder, above, _INT, index)
                count = builder.add(builder.load(place), _ones(builder, exceeds))
                builder.store(count, place)
                builder.store(builder.select(exceeds, builder.load(nearest), bound), nearest)
            same = builder.icmp_signed("==", level, builder.load(nearest))
            place = _address(builder, hits, ir.IntType(STEP), loop.index)
            builder.store(builder.bitcast(same, ir.IntType(STEP)), place, align=8)
        return context.get_dummy_value()

    return signature, generate


@_intrinsic
def spread_of(_context, scores, width):
    """Return the least and greatest of ``width`` scores (a multiple of 128), NaN left out.

    Without any they are +inf and -inf.
    """
    vector = ir.VectorType(_FLOAT, STEP // 4)
    signature = types.UniTuple(types.float32, 2)(types.uintp, types.intp)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ends = []
        for value in ("inf", "-inf"):
            end = cgutils.alloca_once(builder, vector)
            builder.store(ir.Constant(vector, [float(value)] * vector.count), end)
            ends.append(end)
        with cgutils.for_range(builder, builder.udiv(arguments[1], _int(vector.count))) as loop:
            place = _address(builder, arguments[0], vector, loop.index)
            score = builder.load(place, align=4)
            for end, order in zip(ends, "<>", strict=True):
                builder.store(_closer(builder, order, score, builder.load(end)), end)
        results = []
        for end, order in zip(ends, "<>", strict=True):
            best, half = builder.load(end), vector.count // 2
            while half:
                parts = (
                    builder.shuffle_vector(
                        best,
                        best,
                        ir.Constant(ir.VectorType(_INT32, half), list(range(first, first + half))),
                    )
                    for first in (0, half)
                )
                best, half = _closer(builder, order, *parts), half // 2
            results.append(builder.extract_element(best, ir.Constant(_INT32, 0)))
        return context.make_tuple(builder, signature.return_type, results)

    return signature, generate


def _closer(builder: Any, order: str, a: Any, b: Any) -> Any:
    """Return the lesser (greater) of a and b, and b where a is NaN."""
    return builder.select(builder.fcmp_ordered(order, a, b), a, b)
