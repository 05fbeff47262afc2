"""Counts of candidates, and what is fitted on them, against all candidates one by one."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from kgdash.studies.probability.answer_queries import answer_queries, softmax
from kgdash.studies.probability.candidate_probability import (
    CandidateCounts,
    count_candidates,
    fit_isotonic,
    fit_platt,
)
from tests.support import brute_force
from tests.support.fakes import fake_run, make_graph, random_scorer


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(8)
    rows = np.stack([rng.integers(0, n, 200) for n in (20, 2, 20)], axis=1)
    scorer = random_scorer(20, 2, seed=9)
    for head, relation, tail in rows:
        scorer.tails[head, relation, tail] += 1.0
    graph = make_graph(rows[:120], rows[120:], entities=20, relations=2)
    valid = graph.split("valid")
    sides = answer_queries(fake_run(graph, scorer), valid, "train+valid")
    found = [softmax(side, [np.full(len(valid), 0.8)])[0] for side in sides]
    known = {tuple(t) for split in ("train", "valid") for t in graph.split(split).tolist()}
    pairs = []  # score, log p, true
    for side, soft in zip(sides, found, strict=True):
        for i, triple in enumerate(map(tuple, valid.tolist())):
            for c in brute_force.candidates(triple, side.side, 20, 2):
                if c == triple or c not in known:
                    score = scorer(*c, side.side)
                    pairs.append((score, 0.8 * score - soft.normaliser[i], c == triple))
    betas = [soft.beta for soft in found]
    # Sums at another temperature serve as well.
    near = [softmax(side, [beta * 1.001])[0] for side, beta in zip(sides, betas, strict=True)]
    return count_candidates(sides, betas, near), np.array(pairs, dtype=float)


def test_every_candidate_is_counted(world):
    counts, pairs = world
    score, log_p, true = pairs.T
    assert counts.true.tolist() == pytest.approx(score[true == 1].tolist())
    for row, which in ((0, 0), (1, 1)):
        exact = -log_p[true == which] * 32
        theirs = np.bincount(exact.astype(int), minlength=2048)
        # float32 may put a candidate that lies on an edge into the next bin
        assert np.abs(counts.log_p[row] - theirs).sum() <= 2
    assert counts.scores.sum() == (true == 0).sum()
    edges = counts.edges
    np.testing.assert_array_equal(counts.scores, np.histogram(score[true == 0], edges)[0])


def test_isotonic_map(world):
    counts, pairs = world
    _, log_p, true = pairs.T
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(log_p, true)
    at = np.linspace(-4, -0.5, 40)
    found, expected = fit_isotonic(counts)(at), theirs.predict(at)
    assert (np.diff(found) >= 0).all()
    inside = (expected > 0) & (expected < 1)
    assert np.abs(found - expected)[inside].mean() < 0.01
    assert 0 < found[0] < 0.01
    assert found[-1] == 0.9


@pytest.mark.parametrize(
    ("others", "true", "expected"),
    [
        (
            [9, 0, 0],
            [0, 1, 2],
            [1 / 11, 4 / 5, 4 / 5],
        ),  # 3 of 3 at the one end, 0 of 9 at the other
        ([1, 1, 0], [0, 19, 1], [1 / 3, 0.95, 0.95]),  # 1 of 1 is not less than 19 of 20
        ([0, 0, 0], [1, 1, 1], [4 / 5, 4 / 5, 4 / 5]),
    ],
)
def test_nothing_beyond_a_few_answers_is_certain(others, true, expected):
    """Of what had a probability of 1 by 30 to 200 validation triples, three quarters were right."""
    log_p = np.zeros((2, 2048), dtype=np.int64)
    log_p[:, [64, 32, 0]] = others, true
    counts = CandidateCounts(log_p, np.zeros(0), np.zeros(0), np.zeros(0))
    assert fit_isotonic(counts)(np.array([-64.5, -32.5, -0.5]) / 32).tolist() == expected


def test_platt(world):
    counts, pairs = world
    score, _, true = pairs.T
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=2000).fit(score[:, None], true)
    found = fit_platt(counts)
    # Platt's targets are not quite 0 and 1
    assert found.slope == pytest.approx(theirs.coef_[0, 0], rel=0.05)
    assert found.intercept == pytest.approx(theirs.intercept_[0], rel=0.05)


def test_platt_where_all_scores_tie():
    scores = np.zeros(4096, dtype=np.int64)
    scores[0] = 98
    edges = np.linspace(0.0, 1.0, 4097)
    found = fit_platt(CandidateCounts(np.zeros((2, 2048)), scores, edges, np.full(2, edges[0])))
    assert np.isfinite([found.slope, found.intercept]).all()
