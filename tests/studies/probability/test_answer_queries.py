"""Softmax over candidates less the other known answers, by the definition."""

import numpy as np
import pytest
import torch
from hypothesis import given

from kgdash.errors import KgdashError
from kgdash.studies.probability.answer_queries import answer_queries, softmax
from tests.support import brute_force
from tests.support.fakes import FakeScorer, array, fake_run, make_graph, random_scorer, worlds


def by_definition(scorer, triple, side, known, beta):
    """Return log Z, own and highest score, mean, variance and Σ p² over the candidates."""
    entities, relations = scorer.num_entities, scorer.num_relations
    rivals = [
        c
        for c in brute_force.candidates(triple, side, entities, relations)
        if c == triple or c not in known
    ]
    s = np.array([scorer(*c, side) for c in rivals], dtype=np.float64)
    z = np.exp(beta * (s - s.max()))
    p = z / z.sum()
    mean = (p * s).sum()
    own = scorer(*triple, side)
    normaliser = beta * s.max() + np.log(z.sum())
    return normaliser, own, s.max(), mean, (p * (s - mean) ** 2).sum(), (p**2).sum()


@given(worlds())
def test_against_the_definition(world):
    scorer, (train, valid, test), evaluated = world
    for scores in (scorer.tails, scorer.heads):
        scores.nan_to_num_(posinf=3.0, neginf=-3.0)
    graph = make_graph(train, valid, test, scorer.num_entities, scorer.num_relations)
    rows = array(evaluated)
    known = {tuple(t) for part in (train, valid, test, evaluated) for t in part}
    for side in answer_queries(fake_run(graph, scorer), rows, "train+valid+test"):
        (found,) = softmax(side, [np.full(len(rows), 0.7)])
        for i, triple in enumerate(evaluated):
            theirs = by_definition(scorer, tuple(triple), side.side, known, 0.7)
            ours = [
                float(part[i])
                for part in (
                    found.normaliser,
                    found.own,
                    found.high,
                    found.mean,
                    found.variance,
                    found.squares,
                )
            ]
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
            assert 0 < found.confidence[i] <= 1 + 1e-9
            assert found.log_true[i] <= 1e-6


def test_some_queries_are_as_among_all():
    graph = make_graph([(0, 0, 1), (1, 0, 2), (2, 1, 0)], [(0, 0, 2), (1, 1, 3), (0, 0, 3)])
    run = fake_run(graph, random_scorer(4, 2))
    rows = graph.split("valid")
    for side in answer_queries(run, rows, "train+valid"):
        (whole,) = softmax(side, [np.ones(3)])
        chosen = np.array([True, False, True])
        (part,) = softmax(side.some(chosen), [np.ones(2)])
        np.testing.assert_array_equal(part.normaliser, whole.normaliser[chosen])
        np.testing.assert_array_equal(part.own, whole.own[chosen])


@pytest.mark.parametrize("score", [torch.inf, -torch.inf])
def test_infinite_scores_are_refused(score):
    tails = torch.zeros(3, 1, 3)
    tails[0, 0, 2] = score
    run = fake_run(make_graph([(0, 0, 1)], entities=3), FakeScorer(tails))
    sides = answer_queries(run, array([(0, 0, 1)]), "none")
    with pytest.raises(KgdashError, match="infinite"):
        softmax(sides[1], [np.ones(1)])
