"""Holm's correction against its definition, and what is told by it and by an interval."""

import gc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.statistics.multiple_testing import holm, told_apart


def test_by_hand():
    # 0.01·4, 0.02·3 = 0.06, 0.03·2 = 0.06, 0.9: never below the one before.
    found = holm(np.array([0.03, 0.01, 0.9, 0.02]))
    np.testing.assert_allclose(found, [0.06, 0.04, 0.9, 0.06])
    np.testing.assert_allclose(holm(np.array([0.9, np.nan, 0.6])), [1.0, np.nan, 1.0])
    assert holm(np.array([])).tolist() == []
    assert np.isnan(holm(np.array([np.nan]))).all()


@pytest.mark.parametrize("is_server", [True, False])
def test_what_a_server_passes_over_it_does_on(is_server):
    """Each full collection took longer from the first test in a server's process on."""
    if is_server:
        gc.freeze()
    try:
        before = gc.get_freeze_count() > 0
        holm(np.array([0.03, 0.01]))
        assert (gc.get_freeze_count() > 0) is before is is_server
    finally:
        gc.unfreeze()


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


def test_a_run_is_told_better_by_both_tests_and_the_interval():
    both = {"p_holm": 0.01, "p_shared": 0.01}
    rows = [
        both | {"low": 0.1, "high": 0.2},
        both | {"low": -0.2, "high": -0.1},
        both | {"low": -0.1, "high": 0.2},
        both | {"low": 0.0, "high": 0.2},
        both | {"low": np.nan, "high": np.nan},
        {"p_holm": 0.05, "p_shared": 0.01, "low": 0.1, "high": 0.2},
        {"p_holm": 0.01, "p_shared": 0.05, "low": 0.1, "high": 0.2},
        {"p_holm": 0.01, "p_shared": np.nan, "low": 0.1, "high": 0.2},
    ]
    assert told_apart(pd.DataFrame(rows)).tolist() == [True, True] + [False] * 6
