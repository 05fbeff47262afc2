"""Holm's correction against its definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.statistics.multiple_testing import holm


def test_by_hand():
    # 0.01·4, 0.02·3 = 0.06, 0.03·2 = 0.06, 0.9: never below the one before.
    found = holm(np.array([0.03, 0.01, 0.9, 0.02]))
    np.testing.assert_allclose(found, [0.06, 0.04, 0.9, 0.06])
    np.testing.assert_allclose(holm(np.array([0.9, np.nan, 0.6])), [1.0, np.nan, 1.0])
    assert holm(np.array([])).tolist() == []
    assert np.isnan(holm(np.array([np.nan]))).all()


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_rejects_as_the_step_down_procedure(p_values):
    corrected, alpha = holm(np.array(p_values)), 0.05
    rejected = set()
    for done, i in enumerate(np.argsort(p_values, kind="stable").tolist()):
        if p_values[i] * (len(p_values) - done) > alpha:
            break
        rejected.add(i)
    assert {i for i, p in enumerate(corrected) if p <= alpha} == rejected
