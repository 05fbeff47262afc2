"""The best of a stream, against sorting all of it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kgdash.studies.discovery.best import Best

VALUES = st.sampled_from([-np.inf, -1.0, 0.0, 0.0, 2.0, np.inf])


@given(arrays(float, st.integers(0, 60), elements=VALUES), st.integers(1, 30), st.integers(1, 9))
def test_as_sorted(values, k, parts):
    keys = np.random.default_rng(len(values)).permutation(len(values))
    best = Best(k)
    for value, key in zip(np.array_split(values, parts), np.array_split(keys, parts), strict=True):
        before = best.least
        best.add(value, key, value * 2)
        assert best.least >= before
    value, key, score = best.result()
    wanted = sorted(zip(-values, keys, strict=True))[:k]
    assert list(zip(-value, key, strict=True)) == wanted
    np.testing.assert_array_equal(score, value * 2)
    if len(values) >= k:
        assert best.least == value[-1]


def test_only_from_a_value_on():
    best = Best(3, least=1.0)
    best.add(np.array([0.5, 1.0, 2.0]), np.arange(3), np.zeros(3))
    assert best.result()[0].tolist() == [2.0, 1.0]
