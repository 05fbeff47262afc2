"""The counting kernel against a loop, on each of its paths."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.engine import row_counting as counting
from kgdash.engine.row_counting import count_above_thresholds
from tests.support.fakes import TIED_SCORES

VALUE = st.sampled_from(TIED_SCORES)


def by_hand(scores, own, own_row):
    return [
        [sum(s > t for s in scores[row]), sum(s == t for s in scores[row])]
        for t, row in zip(own, own_row, strict=True)
    ]


@given(st.data())
@settings(max_examples=30)
def test_equals_a_loop(data):
    rows, width = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 6))
    scores = [data.draw(st.lists(VALUE, min_size=width, max_size=width)) for _ in range(rows)]
    own_row = sorted(data.draw(st.lists(st.integers(0, rows - 1), max_size=25)))
    own = data.draw(st.lists(VALUE, min_size=len(own_row), max_size=len(own_row)))
    expected = by_hand(scores, own, own_row)
    tensor, thresholds = torch.tensor(scores), torch.tensor(own, dtype=torch.float32)
    assert (
        count_above_thresholds(tensor, thresholds, np.array(own_row, dtype=np.int64)).tolist()
        == expected
    )
    for many in (1, 3, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counting, "_MANY_THRESHOLDS", many)
            found = counting._count_on_device(tensor, thresholds, np.array(own_row, dtype=np.int64))
        assert found.tolist() == expected


@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_parts_change_nothing(monkeypatch, at_once):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(0, 50, (9, 700), generator=generator).float()
    own_row = np.sort(np.random.default_rng(0).integers(0, 9, 300))
    own = scores[torch.from_numpy(own_row), torch.arange(300)]
    expected = [
        [int((scores[row] > t).sum()), int((scores[row] == t).sum())]
        for t, row in zip(own, own_row, strict=True)
    ]
    monkeypatch.setattr(counting, "_AT_ONCE", at_once)
    assert count_above_thresholds(scores, own, own_row).tolist() == expected
    assert counting._count_on_device(scores, own, own_row).tolist() == expected
    assert count_above_thresholds(scores.double(), own.double(), own_row).tolist() == expected
