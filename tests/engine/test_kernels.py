"""Scores are pure functions of two vectors: the same number wherever they stand in a block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from kgdash.engine.form import Panels, padded
from kgdash.engine.microkernels import DOT, L1, L2, LANES, ROW_STEP, TILE_ROWS, transpose_8
from kgdash.engine.scoring_kernels import COLUMNS, ROWS, pack, points
from tests.support.plain_counts import KINDS, block, integers, reference

kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)

#: rows and columns around what a step, a panel and a tile take
SHAPES = [
    (1, 1),
    (1, LANES + 1),
    (5, LANES - 1),
    (ROW_STEP, LANES),
    (ROW_STEP + 1, 3 * LANES),
    (ROWS, COLUMNS),
    (ROWS + 1, COLUMNS + 1),
    (ROWS - 1, 2 * COLUMNS + LANES + 3),
]


def normal(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def each_pair(kind, queries, entities):
    """Score all pairs one by one."""
    rows, columns = len(queries), len(entities)
    out = np.full(rows * columns, np.nan, dtype=np.float32)
    points(kind, np.repeat(queries, columns, axis=0), np.tile(entities, (rows, 1)), out)
    return out.reshape(rows, columns)


def bits(scores):
    return scores.view(np.int32)


@kinds
@pytest.mark.parametrize(("rows", "columns"), SHAPES)
@pytest.mark.parametrize("dimension", [1, 7, 50, 129])
def test_a_score_is_the_same_number_in_a_block_and_alone(kind, dimension, rows, columns):
    # The largest blocks take few dimensions, for speed.
    dimension = min(dimension, 5_000_000 // (rows * columns))
    queries, entities = normal((rows, dimension), 1), normal((columns, dimension), 2)
    found = block(kind, queries, entities)
    np.testing.assert_array_equal(bits(found), bits(each_pair(kind, queries, entities)))


@kinds
@pytest.mark.parametrize("dimension", [1, 7, 50, 129])
def test_scores_are_right_within_rounding(kind, dimension):
    queries, entities = normal((14, dimension), 3), normal((37, dimension), 4)
    expected = reference(kind, queries, entities)
    # A sum of K terms errs by at most about K rounding errors of the sum of their sizes.
    size = np.abs(queries) @ np.abs(entities).T if kind == DOT else np.abs(expected)
    error = np.abs(block(kind, queries, entities) - expected)
    assert (error <= (dimension + 3) * np.finfo(np.float32).eps * size).all()


@kinds
def test_products_are_rounded_once(kind):
    """One chain of fused multiply-adds over k = 0, 1, …, as the module says."""
    queries, entities = normal((7, 9), 7), normal((18, 9), 8)
    # float64 holds the product of two float32, and adding a float32 to it rounds hardly ever.
    total = np.zeros((7, 18), dtype=np.float32)
    for k in range(9):
        a, b = queries[:, k, None], entities[None, :, k]
        if kind == L1:
            total = total + np.abs(a - b)
            continue
        a, b = (a, b) if kind == DOT else (a - b, a - b)
        total = (a.astype(np.float64) * b + total).astype(np.float32)
    expected = total if kind == DOT else -np.sqrt(total) if kind == L2 else -total
    np.testing.assert_array_equal(block(kind, queries, entities), expected)


@kinds
@pytest.mark.parametrize("dimension", [1, 50, 129])
def test_equal_vectors_tie_wherever_they_stand(kind, dimension):
    columns = np.array([0, 1, 7, 15, 16, 30, 511, 512, 527, 528, 529])
    rows = np.array([0, 1, 3, 4, 5, 6, 11, 12, 95, 96, 97])
    queries, entities = normal((98, dimension), 9), normal((530, dimension), 10)
    queries[rows], entities[columns] = queries[2], entities[2]
    found = block(kind, queries, entities)
    for column in columns:
        np.testing.assert_array_equal(bits(found[:, column]), bits(found[:, 2]))
    for row in rows:
        np.testing.assert_array_equal(bits(found[row]), bits(found[2]))


@kinds
def test_swapping_query_and_entity_changes_no_bit(kind):
    """What lets both sides of a model be counted from the same scores."""
    queries, entities = normal((23, 33), 11), normal((35, 33), 12)
    turned = np.ascontiguousarray(block(kind, entities, queries).T)
    np.testing.assert_array_equal(bits(block(kind, queries, entities)), bits(turned))


@kinds
def test_a_vector_is_at_no_distance_from_itself(kind):
    vectors = normal((20, 50), 13)
    if kind != DOT:
        assert (np.diag(block(kind, vectors, vectors)) == 0).all()


def test_one_number_vectors_are_multiplied():
    values = np.array([[0.0], [-0.0], [3e38], [-3e38], [1e-45], [2.0]], dtype=np.float32)
    found = block(DOT, np.ones((1, 1), dtype=np.float32), values)
    np.testing.assert_array_equal(found[0], values[:, 0])


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 60), st.integers(1, 20))
@settings(max_examples=20, derandomize=True)
def test_any_shape(seed, rows, columns, dimension):
    queries, entities = integers((rows, dimension), seed), integers((columns, dimension), seed + 1)
    for kind in KINDS.values():
        expected = reference(kind, queries, entities).astype(np.float32)
        np.testing.assert_array_equal(block(kind, queries, entities), expected)
        np.testing.assert_array_equal(each_pair(kind, queries, entities), expected)


@njit
def turn(source, source_stride, target, target_stride):
    transpose_8(np.uintp(source), source_stride, np.uintp(target), target_stride)


def test_a_square_is_turned_and_nothing_around_it():
    source, target = normal((8, 10), 17), np.zeros((9, 13), dtype=np.float32)
    turn(source.ctypes.data + 4, 10, target.ctypes.data + 8, 13)
    expected = np.zeros_like(target)
    expected[:8, 2:10] = source[:, 1:9].T
    np.testing.assert_array_equal(target, expected)


class TestLayout:
    @pytest.mark.parametrize("count", [1, 15, 16, 17, 33])
    @pytest.mark.parametrize("dimension", [1, 5])
    def test_panels_hold_the_vectors_and_zeros(self, count, dimension):
        vectors = normal((count, dimension), 14)
        panels = np.full((-(-count // LANES), dimension, LANES), np.nan, dtype=np.float32)
        pack(vectors, panels)
        flat = panels.transpose(0, 2, 1).reshape(-1, dimension)
        np.testing.assert_array_equal(flat[:count], vectors)
        assert (flat[count:] == 0).all()

    def test_panels_of_vectors_that_do_not_lie_together(self):
        vectors = normal((5, 40), 15).T
        panels = Panels.of(vectors)
        assert panels.count == 40
        np.testing.assert_array_equal(panels.blocks[1, :, 3], vectors[19])

    @pytest.mark.parametrize(("count", "expected"), [(0, 12), (1, 24), (12, 24), (13, 36)])
    def test_a_whole_step_may_begin_at_any_query(self, count, expected):
        queries = normal((count, 3), 16)
        found = padded(queries)
        assert found.shape == (expected, 3)
        assert count - 1 + ROW_STEP <= expected
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found[:count], queries)
        assert (found[count:] == 0).all()

    def test_every_form_can_take_the_steps(self):
        assert all(ROW_STEP % rows == 0 == ROWS % rows for rows in TILE_ROWS)
