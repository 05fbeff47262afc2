"""Slices of sorted arrays against loops."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgdash.graph.sorted_slices import (
    SortedSlices,
    distinct,
    distinct_rows,
    expand_slices,
    run_lengths,
)
from tests.support.turns import longest_hold


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=12))
def test_slices_written_out(slices):
    starts, counts = np.array(slices, dtype=np.int64).reshape(-1, 2).T
    owner, position = expand_slices(starts, counts)
    expected = [(i, start + k) for i, (start, count) in enumerate(slices) for k in range(count)]
    assert list(zip(owner.tolist(), position.tolist(), strict=True)) == expected
    assert owner.dtype == position.dtype == np.int64


@given(st.lists(st.integers(-5, 5), max_size=12))
def test_distinct_numbers(numbers):
    found = distinct(np.array(numbers, dtype=np.int64))
    assert found.tolist() == sorted(set(numbers))
    assert found.dtype == np.int64


@given(st.lists(st.integers(-5, 5), max_size=12))
def test_runs_of_equal_numbers(numbers):
    found, times = run_lengths(np.array(sorted(numbers), dtype=np.int64))
    assert dict(zip(found.tolist(), times.tolist(), strict=True)) == Counter(numbers)
    assert found.tolist() == sorted(set(numbers))


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), max_size=12))
def test_distinct_rows_are_numpys(pairs):
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    everything = dict.fromkeys(("return_index", "return_inverse", "return_counts"), True)
    for found, expected in zip(
        distinct_rows(table), np.unique(table, axis=0, **everything), strict=True
    ):
        assert np.array_equal(found, expected.reshape(found.shape))
        assert found.dtype == np.int64


def test_others_come_to_a_turn_while_rows_are_sorted():
    table = np.random.default_rng(0).integers(0, 200, (400_000, 3))
    longest, _ = longest_hold(lambda: distinct_rows(table))
    assert longest < 0.3  # 0.7 s by NumPy's own


def test_lookup_finds_slices():
    slices = SortedSlices(np.array([3, 4, 12, 29]))  # width 10: 0 → 3, 4; 1 → 2; 2 → 9
    owner, value = slices.lookup(np.array([2, 0, 5, 0]), width=10)
    assert owner.tolist() == [0, 1, 1, 3, 3]
    assert value.tolist() == [9, 3, 4, 3, 4]
