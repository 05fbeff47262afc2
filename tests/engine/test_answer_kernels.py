"""Nonconformities and sizes of sets, by their definitions on every candidate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.engine.answer_kernels import ADAPTIVE, RANK, SOFTMAX, Asking, Limits, place_answers

KINDS = (RANK, SOFTMAX, ADAPTIVE)
SCORES = st.sampled_from([-np.inf, -80.0, 0.0, 1.0, 1.5, 2.0, 4.0, 300.0])


def by_definition(scores: list[float], beta: float) -> np.ndarray:
    """Return the nonconformities of each candidate, in the order of ``scores``: ``(n, 3)``."""
    s = np.array(scores)
    log_p = beta * (s - s.max())
    log_p -= np.log(np.exp(log_p).sum())
    greater = (s > s[:, None]).sum(axis=1)
    equal = (s == s[:, None]).sum(axis=1) - 1
    mass = (np.exp(log_p) * (s >= s[:, None])).sum(axis=1)
    return np.stack([greater + equal / 2 + 1, -log_p, mass], axis=1)


def placed(rivals, owns, beta, most):
    """Ask one row for some triples: nonconformities ``(n, 3)``, sizes by kind ``(n, 3)``."""
    rows = np.sort(np.array([[*rivals, np.nan, np.nan]], dtype=np.float32), axis=1)
    count = len(owns)
    starts, own = np.array([0, 0, count]), np.array(owns, dtype=np.float64)
    betas = np.array([np.nan, beta])
    asking = Asking(starts, np.arange(count)[::-1].copy(), own, betas)
    limits = Limits(np.array(KINDS), np.tile(most, (count, 1)))
    strange, sizes = np.full((count, 3), np.nan), np.full((count, 3), -1, dtype=np.int32)
    place_answers(rows, 1, asking, limits, strange, sizes)
    return strange, sizes


@given(
    st.lists(SCORES, max_size=9),
    st.lists(st.sampled_from([0.0, 1.5, 3.0]), min_size=1, max_size=3),
    st.floats(0.05, 2.0),
    st.floats(0.05, 9.5),
)
def test_by_definition(rivals, owns, beta, most):
    limits = np.array([most, most, min(most / 9, 0.9999)])
    strange, sizes = placed(rivals, owns, beta, limits)
    for own, found, held in zip(owns, strange, sizes, strict=True):
        theirs = by_definition([*rivals, own], beta)
        np.testing.assert_allclose(found, theirs[-1], rtol=1e-6, atol=1e-6)
        near = (np.abs(theirs - limits) < 1e-5).any(axis=0)  # there rounding decides
        expected = (theirs <= limits).sum(axis=0)
        assert (held == expected)[~near].all()


def test_an_infinite_limit_lets_all_in():
    _, sizes = placed([1.0, -np.inf, 2.0], [0.0], 1.0, np.full(3, np.inf))
    assert sizes.tolist() == [[4, 4, 4]]


def test_no_rivals():
    strange, sizes = placed([], [7.0], 1.0, np.array([1.0, 0.0, 1.0]))
    assert strange.tolist() == [[1.0, 0.0, 1.0]]
    assert sizes.tolist() == [[1, 1, 1]]


def test_all_tied():
    strange, sizes = placed([2.0] * 4, [2.0], 1.0, np.array([2.9, np.log(5) - 0.01, 0.99]))
    np.testing.assert_allclose(strange, [[3.0, np.log(5), 1.0]], rtol=1e-6)
    assert sizes.tolist() == [[0, 0, 0]]
    assert placed([2.0] * 4, [2.0], 1.0, np.array([3.0, 1.7, 1.0]))[1].tolist() == [[5, 5, 5]]


@pytest.mark.parametrize(("rivals", "own"), [([np.inf], 0.0), ([0.0], np.inf), ([0.0], -np.inf)])
def test_infinite_scores_show(rivals, own):
    strange, _ = placed(rivals, [own], 1.0, np.ones(3))
    assert not np.isfinite(strange).all()
