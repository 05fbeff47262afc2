"""The threshold of classification: against every threshold there is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.studies.classification.thresholds import Thresholds, best_threshold, fit_thresholds
from tests.support.fakes import INF

scored = st.lists(
    st.tuples(st.sampled_from([-INF, -2.0, 0.0, 0.5, 0.5, 1.0, 3.0, INF]), st.booleans()),
    min_size=1,
    max_size=12,
)


def accuracy(scores, labels, threshold):
    return np.mean((scores >= threshold) == labels)


@given(scored)
def test_no_threshold_is_better(pairs):
    scores, labels = (np.array(column) for column in zip(*pairs, strict=True))
    found = best_threshold(scores, labels)
    each = [-INF, INF, *scores, *(scores + 0.1), *(scores - 0.1)]
    assert accuracy(scores, labels, found) == max(accuracy(scores, labels, t) for t in each)


@given(st.lists(st.tuples(st.floats(allow_nan=False), st.booleans()), min_size=1, max_size=8))
def test_neighbouring_floats_are_told_apart(pairs):
    scores, labels = (np.array(column) for column in zip(*pairs, strict=True))
    found = best_threshold(scores, labels)
    each = [-INF, *scores, *np.nextafter(scores, INF)]
    assert accuracy(scores, labels, found) == max(accuracy(scores, labels, t) for t in each)


def test_the_cut_is_in_the_middle_of_the_widest_gap():
    labels = np.array([False, False, True, True])
    assert best_threshold(np.array([0.0, 1.0, 3.0, 4.0]), labels) == 2.0
    # Between 0 and 1, and between 2 and 7, three of four are right.
    assert best_threshold(np.array([0, 2, 1, 7]), labels) == 4.5
    assert best_threshold(np.array([1.0, 2.0]), np.array([True, True])) == -INF
    assert best_threshold(np.array([1.0, 2.0]), np.array([False, False])) == INF


@pytest.mark.parametrize("kind", ["global", "relation"])
def test_thresholds_per_relation(kind):
    rng = np.random.default_rng(0)
    relations, labels = rng.integers(0, 3, 60), rng.random(60) < 0.5
    scores = rng.random(60) + labels * 0.3 + relations
    found = fit_thresholds(scores, labels, relations, 5, kind)
    overall = best_threshold(scores, labels)
    assert found.overall == overall
    for relation in range(5):
        rows, own = relations == relation, kind == "relation" and relation < 3
        expected = best_threshold(scores[rows], labels[rows]) if own else overall
        assert found.per_relation[relation] == expected
        assert found.own[relation] == own
    predicted = found.predict(scores, relations)
    assert predicted.tolist() == [
        s >= found.per_relation[r] for s, r in zip(scores, relations, strict=True)
    ]


def test_the_threshold_itself_is_called_true():
    thresholds = Thresholds(0.5, np.array([0.5, -INF]), np.array([False, True]))
    predicted = thresholds.predict(np.array([0.5, 0.4, -INF, -INF]), np.array([0, 0, 0, 1]))
    assert predicted.tolist() == [True, False, False, True]
