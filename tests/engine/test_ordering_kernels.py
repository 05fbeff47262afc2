"""Sorting and numbering against NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgdash.engine.ordering_kernels import pair_slots, stable_order


@given(st.lists(st.integers(0, 6), max_size=30), st.integers(7, 9))
def test_stable_order(keys, size):
    keys = np.array(keys, dtype=np.int64)
    assert stable_order(keys, size).tolist() == np.argsort(keys, kind="stable").tolist()


PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=30)


@given(PAIRS, st.booleans())
def test_pair_slots(rows, alone):
    """Of members in one group alone, and of others."""
    rows = [(member % 4, member) for _, member in rows] if alone else rows
    groups, members = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    slots, sizes = pair_slots(groups, members, 5, 7)
    numbers, places = np.unique(groups * 7 + members, return_inverse=True)
    assert slots.tolist() == places.tolist()
    assert sizes.tolist() == np.bincount(numbers // 7, minlength=5).tolist()
