"""The best of each row against sorting."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgdash.engine.kernels import Masks
from kgdash.engine.top_kernels import best_of_rows, scrambled

_SCORES = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf])


@given(
    st.lists(st.tuples(_SCORES, st.booleans()), min_size=1, max_size=12),
    st.integers(1, 5),
    st.integers(0, 2**64 - 1),
    st.booleans(),
)
def test_as_sorted(row, places, seed, is_random):
    columns = np.flatnonzero([left_out for _, left_out in row])
    masks = Masks(np.array([0, 0, len(columns)]), columns)
    seeds = np.full(2, seed, dtype=np.uint64)
    keys = np.arange(len(row), dtype=np.uint64)
    if is_random:
        keys = scrambled(np.full(len(row), seed, dtype=np.uint64), keys)
    for dtype in (np.float32, np.float64):
        scores = np.array([[score for score, _ in row]] * 2, dtype=dtype)
        entity = np.full((2, places), -1)
        score, key = np.zeros((2, places), dtype), np.zeros((2, places), np.uint64)
        best_of_rows(scores, masks, seeds if is_random else seeds[:0], entity, score, key)
        for number, left_out in enumerate((set(), set(columns.tolist()))):
            rest = [i for i in range(len(row)) if i not in left_out]
            best = sorted(rest, key=lambda i: (-scores[0, i], keys[i]))[:places]
            assert entity[number].tolist() == best + [-1] * (places - len(best))
            assert score[number, : len(best)].tolist() == scores[0, best].tolist()
            assert key[number, : len(best)].tolist() == keys[best].tolist()


def test_scrambled_is_splitmix():
    """The first numbers of SplitMix64 with seed 0, from its reference implementation."""
    states = np.array([0, 0x9E3779B97F4A7C15], dtype=np.uint64)
    found = scrambled(states, np.zeros(2, dtype=np.uint64))
    assert [hex(n) for n in found] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4"]
