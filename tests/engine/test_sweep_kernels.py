"""What sweeps count, against NumPy."""

import numpy as np

from kgdash.engine.sweep_kernels import Placed, gather_places


def test_places_of_triples_over_two_tiles():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 6, size=(3, 40)).astype(np.float32)
    scores[:, ::7] = np.nan
    scores[1, 1:3] = [np.inf, -np.inf]
    starts = np.array([0, 2, 2, 5])
    own, least = rng.integers(0, 6, size=(2, 5)).astype(np.float64)
    own[3], least[0], least[4] = np.inf, -np.inf, np.inf
    placed = Placed(starts, own, least, np.zeros((5, 4), dtype=np.int64))
    for tile in (scores[:, :25], scores[:, 25:]):
        gather_places(np.ascontiguousarray(tile), 0, placed)
    for row in range(3):
        left = scores[row][~np.isnan(scores[row])]
        for k in range(starts[row], starts[row + 1]):
            expected = [len(left), (left > own[k]).sum(), (left == own[k]).sum()]
            assert placed.counts[k].tolist() == [*expected, (left >= least[k]).sum()]
