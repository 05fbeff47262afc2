"""The counting kernel against a loop, on each of its paths."""

import numpy as np
import pytest
import torch
from fakes import TIED_SCORES
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash import counting
from kgdash.counting import count_against

VALUE = st.sampled_from(TIED_SCORES)


def by_hand(scores, own, own_row):
    return [
        [sum(s > t for s in scores[row]), sum(s == t for s in scores[row])]
        for t, row in zip(own, own_row, strict=True)
    ]


def test_counts_greater_and_equal():
    scores = torch.tensor([[1.0, 2.0, 2.0, 3.0], [5.0, 5.0, 5.0, 5.0]])
    found = count_against(scores, torch.tensor([2.0, 9.0, 5.0]), np.array([0, 0, 1]))
    assert found.tolist() == [[1, 2], [0, 0], [0, 4]]
    assert found.dtype == np.int64


@given(st.data())
@settings(max_examples=60)
def test_equals_a_loop(data):
    rows, width = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 6))
    scores = [data.draw(st.lists(VALUE, min_size=width, max_size=width)) for _ in range(rows)]
    own_row = sorted(data.draw(st.lists(st.integers(0, rows - 1), max_size=25)))
    own = data.draw(st.lists(VALUE, min_size=len(own_row), max_size=len(own_row)))
    expected = by_hand(scores, own, own_row)
    tensor, thresholds = torch.tensor(scores), torch.tensor(own, dtype=torch.float32)
    usual = counting._MANY_THRESHOLDS
    try:
        for many in (1, usual, 1000):
            counting._MANY_THRESHOLDS = many
            assert count_against(tensor, thresholds, np.array(own_row)).tolist() == expected
    finally:
        counting._MANY_THRESHOLDS = usual


@pytest.mark.parametrize("thresholds", [[0.5], [-np.inf, 0.0, 0.5, np.inf, 7.0]])
def test_the_kernel_for_accelerators_counts_alike(thresholds):
    row = torch.tensor([0.5, -np.inf, 0.5, np.inf, 0.0, -0.0, 1.0])
    own = torch.tensor(thresholds)
    expected = by_hand([row.tolist()], thresholds, [0] * len(thresholds))
    assert counting._count_sorted_torch(row, own).tolist() == expected
    assert counting._count_sorted(row.numpy(), own.numpy()).tolist() == expected
