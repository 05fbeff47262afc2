"""Fitted temperatures are where SciPy finds the least loss."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from kgdash.studies.probability import temperatures
from kgdash.studies.probability.answer_queries import answer_queries, softmax
from kgdash.studies.probability.temperatures import _Search, fit_betas
from tests.support.checks import check_progress
from tests.support.fakes import FakeScorer, fake_run, make_graph, random_scorer


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(5)
    rows = np.stack([rng.integers(0, n, 90) for n in (12, 2, 12)], axis=1)
    scorer = random_scorer(12, 2, seed=3)
    for head, relation, tail in rows:  # a model that knows something, so that β > 0
        scorer.tails[head, relation, tail] += 1.5
    graph = make_graph(rows[:60], rows[60:], entities=12, relations=2)
    return answer_queries(fake_run(graph, scorer), graph.split("valid"), "train+valid")


def loss(sides, groups, number, beta):
    total = 0.0
    for side, codes in zip(sides, groups, strict=True):
        inside = codes == number
        if inside.any():
            (found,) = softmax(side.some(inside), [np.full(inside.sum(), beta)])
            total -= found.log_true.sum()
    return total


def test_against_scipy(sides):
    n = len(sides[0].triples)
    apart = [np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)]
    one, relations = groupings_of(sides)
    groupings = [one, apart, relations]
    for groups, found in zip(groupings, fit_betas(sides, groupings)[0], strict=True):
        for number, beta in enumerate(found):
            best = minimize_scalar(
                lambda log, g=groups, k=number: loss(sides, g, k, np.exp(log)),
                bounds=(-6, 4),
                method="bounded",
                options={"xatol": 1e-6},
            )
            assert beta == pytest.approx(np.exp(best.x), rel=2e-3)


def groupings_of(sides):
    n = len(sides[0].triples)
    one = [np.zeros(n, dtype=np.int64)] * 2
    return [one, [np.where(s.triples[:, 1] == 1, i, -1) for i, s in enumerate(sides)]]


@pytest.mark.parametrize("steps", [temperatures._STEPS, 1])
def test_softmax_is_near_each_queries_last_group(sides, steps, monkeypatch):
    monkeypatch.setattr(temperatures, "_STEPS", steps)  # 1: none of them is where it should be
    groupings = groupings_of(sides)
    (one, own), near = fit_betas(sides, groupings)
    for side, codes, found in zip(sides, groupings[1], near, strict=True):
        beta = np.where(codes < 0, one[0], own[codes])
        (exact,) = softmax(side, [beta])
        np.testing.assert_allclose(found.normaliser_at(beta), exact.normaliser, atol=1e-4)
        np.testing.assert_array_equal([found.low, found.high], [exact.low, exact.high])


def test_ties_have_beta_one_and_perfect_models_a_large_one():
    graph = make_graph([(0, 0, 1)], [(0, 0, 2), (1, 0, 3)], entities=4)
    valid = graph.split("valid")
    groups = [[np.zeros(len(valid), dtype=np.int64)] * 2]
    tied = answer_queries(fake_run(graph, FakeScorer(torch.zeros(4, 1, 4))), valid, "train+valid")
    assert fit_betas(tied, groups)[0][0].tolist() == [1.0]
    tails = torch.zeros(4, 1, 4)
    tails[valid[:, 0], 0, valid[:, 2]] = 1.0
    perfect = answer_queries(fake_run(graph, FakeScorer(tails)), valid, "train+valid")
    ((beta,),), _ = fit_betas(perfect, groups)
    assert np.isfinite(beta)
    assert beta > 10


@pytest.mark.parametrize("slope", [-1.0, 1.0])
def test_a_search_without_a_minimum_stops_at_its_end(slope):
    search = _Search.around([np.zeros(5, dtype=np.int64)], 2.0, 16.0)
    steps = 0
    while search.is_open.any():
        search.step(np.array([slope]), np.array([1e-3]))
        steps += 1
    assert search.beta.tolist() == [2.0 * 16.0**-slope]
    assert steps == 3


def test_progress(sides):
    groups = [[np.zeros(len(side.triples), dtype=np.int64) for side in sides]]
    check_progress(lambda report: fit_betas(sides, groups, report))
