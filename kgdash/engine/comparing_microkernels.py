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

from kgdash.engine.compiled import has_wide_masks
from kgdash.engine.microkernels import _FLOAT, _INT, _INT32, _int, _spread

#: scores that are counted at once: what rows of scores are filled up to with NaN
STEP = 128

#: levels that are compared with a bound at once, and in how many parts those that exceed it are
#: counted: with masks of 64 lanes (AVX-512) their bits, else the lanes apart, as no register has
#: room for more
CHUNK, PARTS = (STEP, 1) if has_wide_masks() else (64, 16)

#: scores that are brought to levels, or compared as they are, at once
_FEW = 32

_INT16 = ir.IntType(16)
#: what it makes is called with less than is written
_intrinsic: Any = intrinsic
#: what NaN become when scores are brought to whole numbers
_LEAST_LEVEL = -(2**15)


def _address(builder: Any, base: Any, kind: Any, index: Any) -> Any:
    """Point to vector ``index`` of those that lie at an address one after another."""
    return builder.gep(builder.inttoptr(base, kind.as_pointer()), [index])


def _folded(builder: Any, vector: Any, lanes: int) -> Any:
    """Add the upper half of a vector to the lower one until so many lanes are left."""
    while (half := vector.type.count // 2) >= lanes:
        low, high = _halves(builder, vector, half)
        vector = builder.add(low, high)
    return vector


def _halves(builder: Any, vector: Any, half: int) -> list[Any]:
    places = (list(range(first, first + half)) for first in (0, half))
    return [
        builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(_INT32, half), at))
        for at in places
    ]


def _first(builder: Any, vector: Any) -> Any:
    return builder.extract_element(vector, ir.Constant(_INT32, 0))


def _tally(builder: Any, mask: Any, parts: Any) -> Any:
    """Count the lanes of a mask that are set: a vector of as many parts, whose sum it is."""
    if parts.count > 1:
        whole = ir.VectorType(parts.element, mask.type.count)
        # A lane that is set is −1.
        return builder.neg(_folded(builder, builder.sext(mask, whole), parts.count))
    bits = builder.ctpop(builder.bitcast(mask, ir.IntType(mask.type.count)))
    nothing = ir.Constant(parts, ir.Undefined)
    one = bits if bits.type == parts.element else builder.trunc(bits, parts.element)
    return builder.insert_element(nothing, one, ir.Constant(_INT32, 0))


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
    vector = ir.VectorType(_FLOAT, _FEW)
    parts = ir.VectorType(_INT32, min(PARTS, _FEW // 4))
    signature = types.void(*[types.uintp, types.intp] * 2, *[types.uintp] * 2)

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        scores, width, bounds, number, *counts = arguments
        found = [cgutils.alloca_once(builder, parts) for _ in counts]
        with cgutils.for_range(builder, number) as each:
            bound = builder.load(_address(builder, bounds, _FLOAT, each.index))
            spread = _spread(builder, bound, vector)
            for count in found:
                builder.store(ir.Constant(parts, [0] * parts.count), count)
            with cgutils.for_range(builder, builder.udiv(width, _int(_FEW))) as loop:
                score = builder.load(_address(builder, scores, vector, loop.index), align=4)
                for count, order in zip(found, (">", "=="), strict=True):
                    hits = _tally(builder, builder.fcmp_ordered(order, score, spread), parts)
                    builder.store(builder.add(builder.load(count), hits), count)
            for count, out in zip(found, counts, strict=True):
                place = _address(builder, out, _INT, each.index)
                more = _first(builder, _folded(builder, builder.load(count), 1))
                more = builder.zext(more, _INT)
                builder.store(builder.add(builder.load(place), more), place)
        return context.get_dummy_value()

    return signature, generate


@_intrinsic
def levels_of(_context, scores, width, low, scale, levels):
    """Map scores to int16, never against their order; NaN and -inf become the least.

    (scores, width, low, scale, levels): (score - low) · scale is brought to [0, 64000] for the
    scores that matter; ``width`` is a multiple of 128.
    """
    vector, whole = ir.VectorType(_FLOAT, _FEW), ir.VectorType(_INT32, _FEW)
    level = ir.VectorType(_INT16, _FEW)
    signature = types.void(types.uintp, types.intp, types.float32, types.float32, types.uintp)

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        scores, width, low, scale, levels = arguments
        low, scale = (_spread(builder, value, vector) for value in (low, scale))
        with cgutils.for_range(builder, builder.udiv(width, _int(_FEW))) as loop:
            score = builder.load(_address(builder, scores, vector, loop.index), align=4)
            value = builder.fmul(builder.fsub(score, low), scale)
            for order, end in ((">", -1.0), ("<", 65_000.0)):
                limit = ir.Constant(vector, [end] * _FEW)
                inside = builder.fcmp_ordered(order, value, limit)
                value = builder.select(inside, value, limit)
            shift = ir.Constant(whole, [_LEAST_LEVEL + 1] * _FEW)
            place = _address(builder, levels, level, loop.index)
            found = builder.add(builder.fptosi(value, whole), shift)
            builder.store(builder.trunc(found, level), place, align=2)
        return context.get_dummy_value()

    return signature, generate


@_intrinsic
def count_levels(_context, levels, width, bounds, number, above, hits):
    """Count how many of the first ``width`` levels exceed each of ``number`` bounds' levels.

    (levels, width, bounds, number, above, hits): bounds are int32, each a level twice, ascending;
    ``above``, int16, has `PARTS` numbers for each bound, which are added to, see `sum_of_parts`;
    ``hits``, uint64, are masks of the levels that a bound has, too; ``width`` is a multiple of 128.
    """
    vector, pairs = ir.VectorType(_INT16, CHUNK), ir.VectorType(_INT32, CHUNK // 2)
    parts = ir.VectorType(_INT16, PARTS)
    signature = types.void(*[types.uintp, types.intp] * 2, *[types.uintp] * 2)

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        levels, width, bounds, number, above, hits = arguments
        nearest = cgutils.alloca_once(builder, vector)
        with cgutils.for_range(builder, builder.udiv(width, _int(CHUNK))) as loop:
            level = builder.load(_address(builder, levels, vector, loop.index), align=2)
            builder.store(ir.Constant(vector, [_LEAST_LEVEL] * CHUNK), nearest)
            # From the greatest bound to the least: what is kept is the least that is not exceeded.
            with cgutils.for_range(builder, number) as each:
                index = builder.sub(builder.sub(number, _int(1)), each.index)
                both = builder.load(_address(builder, bounds, _INT32, index))
                bound = builder.bitcast(_spread(builder, both, pairs), vector)
                exceeds = builder.icmp_signed(">", level, bound)
                place = _address(builder, above, parts, index)
                count = builder.add(builder.load(place, align=2), _tally(builder, exceeds, parts))
                builder.store(count, place, align=2)
                builder.store(builder.select(exceeds, builder.load(nearest), bound), nearest)
            same = builder.icmp_signed("==", level, builder.load(nearest))
            place = _address(builder, hits, ir.IntType(CHUNK), loop.index)
            builder.store(builder.bitcast(same, ir.IntType(CHUNK)), place, align=8)
        return context.get_dummy_value()

    return signature, generate


@_intrinsic
def sum_of_parts(_context, above, index):
    """Return the sum of the `PARTS` numbers that `count_levels` has for a bound: int64."""
    parts = ir.VectorType(_INT16, PARTS)
    signature = types.intp(types.uintp, types.intp)

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        found = builder.load(_address(builder, arguments[0], parts, arguments[1]), align=2)
        return builder.zext(_first(builder, _folded(builder, found, 1)), _INT)

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
                best, half = _closer(builder, order, *_halves(builder, best, half)), half // 2
            results.append(_first(builder, best))
        return context.make_tuple(builder, signature.return_type, results)

    return signature, generate


def _closer(builder: Any, order: str, a: Any, b: Any) -> Any:
    """Return the lesser (greater) of a and b, and b where a is NaN."""
    return builder.select(builder.fcmp_ordered(order, a, b), a, b)
