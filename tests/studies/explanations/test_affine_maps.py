"""A diagonal map is one vector, and gives the bits of its matrix."""

import numpy as np
import pytest

from kgdash.studies.explanations.affine_maps import AffineMap, maps_kept
from kgdash.studies.explanations.carrying_facts import affine_form
from tests.studies.explanations.conftest import KINDS, Written


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    diagonal, offset = (rng.normal(size=7).astype(np.float32) for _ in range(2))
    return AffineMap(diagonal, offset), AffineMap(np.diag(diagonal), offset)


def rows(count=5):
    return np.random.default_rng(1).normal(size=(count, 7)).astype(np.float32)


@pytest.mark.parametrize(
    "use",
    [
        lambda made: made(rows()[0]),
        lambda made: made.back(rows()),
        lambda made: made.back(rows().astype(np.float64)),
        lambda made: made.diagonals_back(np.abs(rows())),
        lambda made: made.outer_back(rows(), few=False),
        lambda made: made.outer_back(rows(), few=True),
    ],
)
def test_the_same_bits(pair, use):
    thin, full = (use(made) for made in pair)
    assert thin.dtype == full.dtype
    np.testing.assert_array_equal(thin, full)


def test_after_one_another(pair):
    thin, full = pair
    other = AffineMap(rows(7), np.zeros(7, np.float32))
    for first in pair:
        for second in pair:
            found = first.before(second)
            assert found.is_diagonal or first is full
            np.testing.assert_array_equal(found(rows()[0]), full.before(full)(rows()[0]))
    np.testing.assert_array_equal(thin.before(other).matrix, full.before(other).matrix)


def test_few_rows_and_many_are_the_same_matrix(pair):
    dense = AffineMap(rows(7), np.zeros(7, np.float32))
    for made in (*pair, dense):
        both = [made.outer_back(rows(), few) for few in (False, True)]
        np.testing.assert_allclose(*both, atol=1e-4)


@pytest.mark.parametrize("name", list(KINDS))
def test_no_square_where_numbers_make_one_number_each(written, name):
    form = affine_form(written(name).run)
    thin = [AffineMap.of(form, side, True, 1).is_diagonal for side in ("tail", "head")]
    expected = name in ("DistMult", "TransE")
    assert all(thin) == expected
    assert maps_kept(form) == (0 if expected else 1)


def test_maps_of_both_ends_are_counted():
    made = Written("TransH", {"embedding_dim": 6, "scoring_fct_norm": 2}, False)
    assert maps_kept(affine_form(made.run)) == 2
