"""Softmax and bounds over all scores of a relation's queries, against whole arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from kgdash.engine import discovery
from kgdash.engine.discovery import RelationRows
from kgdash.engine.form import candidate_panels, score_all
from kgdash.engine.tasks import sorted_masks

RUNS = ["umls-complex", "umls-transe", "umls-rotate", "umls-pairre"]


@pytest.fixture(params=RUNS)
def rows(request, bundled):
    form = bundled(request.param).scorer.form
    anchors = np.array([5, 0, 5, 77, 134, *range(100)])
    random = np.random.default_rng(0)
    owner, column = np.unique(random.integers(0, [len(anchors), 135], (900, 2)), axis=0).T
    first = owner != 2
    owner = np.concatenate([owner[first], np.full(135, 2)])  # row 2 has no candidate
    masks = sorted_masks(owner, np.concatenate([column[first], np.arange(135)]), len(anchors))
    found = RelationRows(form, "head", 3, anchors, masks, candidate_panels(form, "head", 3))
    scores = score_all(form, "head", anchors, np.full(len(anchors), 3)).astype(float)
    scores[np.repeat(np.arange(len(anchors)), np.diff(masks.starts)), masks.columns] = np.nan
    return found, scores


@pytest.mark.parametrize("beta", [0.3, 4.0])
def test_softmax(rows, beta):
    asked, scores = rows
    high, norm = asked.normalisers(beta)
    filled = np.where(np.isnan(scores), -np.inf, scores)
    np.testing.assert_array_equal(high, filled.max(axis=1))
    wanted = logsumexp(beta * filled, axis=1)
    some = np.isfinite(wanted)
    assert some.sum() == len(scores) - 1
    assert not np.isfinite(norm[2])
    np.testing.assert_allclose(norm[some], wanted[some], atol=2e-6)


def test_what_reaches_a_bound_even_where_little_fits(rows, monkeypatch):
    monkeypatch.setattr(discovery, "_ROOM", 0)
    asked, scores = rows
    least = np.nanquantile(scores, np.linspace(0.2, 0.99, len(scores))).astype(np.float32)
    parts = []
    asked.above(lambda a, b: least[a:b], lambda *found: parts.append(found))
    row, column, score = (np.concatenate(part) for part in zip(*parts, strict=True))
    wanted = np.argwhere(scores >= least[:, None])
    order = np.lexsort((column, row))
    np.testing.assert_array_equal(np.stack([row, column], axis=1)[order], wanted)
    np.testing.assert_array_equal(score, scores[row, column].astype(np.float32))


def test_no_bound_takes_all_candidates(rows):
    asked, scores = rows
    count = []
    asked.above(
        lambda a, b: np.full(b - a, -np.inf, np.float32), lambda r, c, s: count.append(len(s))
    )
    assert sum(count) == np.isfinite(scores).sum()
