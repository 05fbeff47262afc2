"""Both ways of counting lanes, by the bits of masks and apart, against NumPy."""

import importlib.util

import numpy as np
import pytest
from numba import njit

from kgdash.engine import compiled

NAME = "kgdash.engine.comparing_microkernels"


@pytest.fixture(params=[True, False], ids=["bits of masks", "lanes apart"], scope="module")
def kernels(request):
    spec = importlib.util.find_spec(NAME)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "has_wide_masks", lambda: request.param)
        spec.loader.exec_module(module)
    assert (request.param) == (module.PARTS == 1)
    return module


def rows():
    """Return rows of 256 and 128 scores: plain ones, ties, some or only NaN, infinite."""
    draw = np.random.default_rng(0)
    plain = draw.standard_normal(256)
    some = plain.copy()
    some[::7] = np.nan
    ends = np.where(plain > 1, np.inf, np.where(plain < -1, -np.inf, plain))
    found = plain, np.round(plain), some, ends, np.full(128, np.nan), np.ones(128)
    return [row.astype(np.float32) for row in found]


def test_scores_as_they_are(kernels):
    address, count_compared = kernels.address, kernels.count_compared

    @njit
    def count(scores, bounds, above, equal):
        at = address(bounds), len(bounds), address(above), address(equal)
        count_compared(address(scores), len(scores), *at)

    for scores in rows():
        bounds = np.unique(np.concatenate([scores[::9], np.float32([-1.5, 0, 0.25, 9])]))
        bounds = bounds[~np.isnan(bounds)]
        above, equal = np.full((2, len(bounds)), 3)
        count(scores, bounds, above, equal)
        assert (above - 3).tolist() == [(scores > bound).sum() for bound in bounds]
        assert (equal - 3).tolist() == [(scores == bound).sum() for bound in bounds]


def test_levels(kernels):
    address, count_levels, levels_of = kernels.address, kernels.count_levels, kernels.levels_of
    parts, sum_of_parts = kernels.PARTS, kernels.sum_of_parts

    @njit
    def count(scores, levels, bounds, above, hits):
        levels_of(address(scores), len(scores), np.float32(-4), np.float32(8000), address(levels))
        to = address(above), address(hits)
        count_levels(address(levels), len(levels), address(bounds), len(bounds), *to)
        return [sum_of_parts(address(above), i) for i in range(len(bounds))]

    for scores in rows():
        order = np.argsort(scores, kind="stable")
        levels = np.empty(len(scores), dtype=np.int16)
        for chosen in ([0], [-32_768, -1, 2, 32_233], list(range(-30_000, 30_000, 311))):
            bounds = np.array([(b & 0xFFFF) | (b << 16) for b in chosen], dtype=np.int32)
            above = np.zeros(len(chosen) * parts, dtype=np.int16)
            hits = np.zeros(len(scores) // 64, dtype=np.uint64)
            found = count(scores, levels, bounds, above, hits)
            assert found == [(levels > bound).sum() for bound in chosen]
            bits = np.unpackbits(hits.view(np.uint8), bitorder="little").astype(bool)
            assert bits.tolist() == np.isin(levels, chosen).tolist()
        assert (np.diff(levels[order][~np.isnan(scores[order])].astype(int)) >= 0).all()
        assert (levels[np.isnan(scores)] == levels.min()).all()
