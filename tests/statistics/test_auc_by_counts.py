"""What numbers of values alone give, against all orders of few values and draws of many."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.statistics.auc_by_counts import auc_by_counts, is_told
from kgdash.studies.instances.separation import roc_auc

COUNTS = st.lists(st.integers(1, 12), min_size=1, max_size=20)


@settings(max_examples=20)
@given(st.lists(st.integers(1, 3), min_size=2, max_size=4).filter(lambda n: sum(n) <= 6), st.data())
def test_it_is_the_mean_over_all_orders_of_the_values(counts, data):
    cut = data.draw(st.integers(1, len(counts) - 1))
    ends = np.cumsum(counts)
    aucs = []
    for order in permutations(range(ends[-1])):
        parts = np.split(np.array(order), ends[:-1])
        greatest = np.array([part.max() for part in parts])
        aucs.append(roc_auc(greatest[:cut], greatest[cut:]))
    found = auc_by_counts(np.array(counts[:cut]), np.array(counts[cut:]))
    assert found == pytest.approx(np.mean(aucs))


@given(COUNTS, COUNTS)
def test_it_is_the_mean_over_pairs(true, false):
    pairs = [m / (m + n) for m in true for n in false]
    found = auc_by_counts(np.array(true), np.array(false))
    assert found == pytest.approx(np.mean(pairs))
    assert auc_by_counts(np.array(false), np.array(true)) == pytest.approx(1 - found)
    assert auc_by_counts(np.ones(len(true)), np.ones(len(false))) == 0.5


def test_by_hand_and_without_one_label():
    # 2 against 1: two of three; 2 against 2: a half.
    assert auc_by_counts(np.array([2]), np.array([1, 2])) == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert np.isnan(auc_by_counts(np.array([], dtype=int), np.array([1])))
    assert np.isnan(auc_by_counts(np.array([1]), np.array([], dtype=int)))


def test_a_million_instances_need_no_table_of_pairs():
    many = np.random.default_rng(0).integers(1, 11, 1_000_000)
    assert auc_by_counts(many, many) == pytest.approx(0.5)


def test_what_is_told():
    assert [is_told(auc) for auc in (0.5, 0.504, 0.506, 0.494, np.nan)] == [0, 0, 1, 1, 0]
