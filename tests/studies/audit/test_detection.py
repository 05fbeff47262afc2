"""Precision and recall of lists, against all ways to break ties."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from kgdash.errors import KgdashError
from kgdash.studies.audit.detection import TOPS, detection

NAN = float("nan")


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, 2.0, -np.inf, NAN]), st.booleans()),
        min_size=2,
        max_size=6,
    ),
    st.sampled_from([0.1, 0.5, 0.7, 1.0]),
)
def test_the_mean_over_all_orders(triples, top):
    values, planted = (np.array(column) for column in zip(*triples, strict=True))
    if not planted.any():
        with pytest.raises(KgdashError, match="no triple is a planted error"):
            detection({"m": values}, planted)
        return
    row = detection({"m": values}, planted, [top]).iloc[0]
    listed = -int(-top * len(planted) // 1)
    counts = []
    for order in permutations(range(len(planted))):
        # NaN as −∞: nothing is said for it.
        keys = [np.nan_to_num(-values[i], nan=np.inf, posinf=9e9, neginf=-9e9) for i in order]
        first = [order[i] for i in sorted(range(len(order)), key=lambda i: min(keys[i], 9e9))]
        counts.append(planted[first[:listed]].sum())
    assert row["listed"] == listed
    assert row["found"] == pytest.approx(np.mean(counts))
    assert row["precision"] == pytest.approx(np.mean(counts) / listed)
    assert row["recall"] == pytest.approx(np.mean(counts) / planted.sum())


def test_intervals_are_clopper_and_pearson_s():
    rng = np.random.default_rng(0)
    values, planted = rng.random(1000), rng.random(1000) < 0.1
    for row in detection({"a": values, "b": values + planted}, planted, level=0.9).itertuples():
        exact = binomtest(int(row.found), row.listed).proportion_ci(0.9, "exact")
        assert (row.low, row.high) == pytest.approx(tuple(exact))
        exact = binomtest(int(row.found), int(planted.sum())).proportion_ci(0.9, "exact")
        assert (row.recall_low, row.recall_high) == pytest.approx(tuple(exact))
    found = detection({"b": values + planted}, planted)
    assert found["top"].tolist() == list(TOPS)
    assert found["listed"].tolist() == [10, 20, 30, 40, 50]
    assert found["precision"].tolist() == [1.0] * 5


@pytest.mark.parametrize(("tops", "level"), [([0], 0.95), ([1.1], 0.95), ([0.5], 1.0)])
def test_numbers_out_of_range(tops, level):
    with pytest.raises(KgdashError, match="expected shares in"):
        detection({"a": np.zeros(2)}, np.array([True, False]), tops, level)
