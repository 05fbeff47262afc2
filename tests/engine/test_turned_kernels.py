"""Panels that a relation turns hold the bits of PyTorch's own vectors."""

import numpy as np
import pytest
import torch

from kgdash.engine.form import Panels
from kgdash.engine.turned_kernels import COMPLEX, PRODUCT, SUM, turn_panel


@pytest.mark.parametrize("turn", [PRODUCT, SUM, COMPLEX])
@pytest.mark.parametrize("dimension", [2, 64, 130])
def test_bit_for_bit(turn, dimension):
    """Complex products are formed in float64, exactly, and rounded as float32 would be, by step."""
    draw = np.random.default_rng(dimension)
    own = (draw.standard_normal((16, dimension)) * 10.0 ** draw.integers(-9, 9)).astype(np.float32)
    by = draw.standard_normal(dimension).astype(np.float32)
    out = np.empty((dimension, 16), dtype=np.float32)
    panel = Panels.of(own).blocks[0]
    turn_panel(turn, *(np.uintp(part.ctypes.data) for part in (panel, by, out)), dimension)
    if turn == COMPLEX:
        pairs = (
            [own.astype(float)[:, i::2] for i in (0, 1)],
            [by.astype(float)[i::2] for i in (0, 1)],
        )
        (a, b), (real, imaginary) = pairs
        steps = [(x * y).astype(np.float32) for x in (a, b) for y in (real, imaginary)]
        expected = np.empty_like(own)
        expected[:, 0::2], expected[:, 1::2] = steps[0] - steps[3], steps[1] + steps[2]
    else:
        expected = (torch.multiply if turn == PRODUCT else torch.add)(
            *map(torch.from_numpy, (own, by))
        )
        expected = expected.numpy()
    assert np.array_equal(out.T.view(np.int32), expected.view(np.int32))
