"""Competing runs against the definitions, on models whose scores are entries of a tensor."""

from itertools import combinations

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.studies.agreement.agreement import AgreementSetting, agreement, pairwise
from tests.support import brute_force
from tests.support.fakes import FakeScorer, array, fake_run, make_graph

GRAPH = make_graph(
    train=[(0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 1, 4), (4, 1, 5), (5, 1, 6), (6, 0, 7)],
    valid=[(7, 1, 0), (0, 1, 4)],
    test=[(0, 0, 2), (1, 1, 0), (2, 1, 3), (3, 1, 5), (4, 0, 4), (0, 0, 5)],
    entities=8,
    relations=2,
)


def seeds(count, graph=GRAPH, ties=True):
    """Make runs that share most of their scores, and have learned something."""
    rng = np.random.default_rng(3)
    shape = (graph.num_entities, graph.num_relations, graph.num_entities)
    base = rng.normal(size=shape)
    base[tuple(graph.split("test").T)] += 2
    scores = [base + 0.7 * rng.normal(size=shape) for _ in range(count)]
    return [fake_run(graph, FakeScorer(np.round(s) if ties else s)) for s in scores]


@pytest.mark.parametrize("k", [1, 3])
def test_by_definition(k):
    runs = seeds(4)
    found = agreement(runs, AgreementSetting(k, margin=1))
    known = {tuple(t) for t in GRAPH.all_triples.tolist()}
    triples = [tuple(t) for t in GRAPH.split("test").tolist()]
    asked = [(side, triple) for side in ("head", "tail") for triple in triples]
    ranks = np.array(
        [
            [brute_force.ranks(run.scorer, t, side, known, 8, 2)[1] for run in runs]
            for side, t in asked
        ]
    )
    hits = ranks <= k
    mrr = (1 / ranks).mean(axis=0)
    np.testing.assert_allclose(found.overview["mrr"], mrr)
    best = mrr.argmax()
    np.testing.assert_array_equal(found.hits, hits)
    np.testing.assert_array_equal(found.differs(), hits != hits[:, [best]])
    differs = (hits != hits[:, [best]]).any(axis=1)
    np.testing.assert_array_equal(found.queries["conflict"], differs)
    np.testing.assert_array_equal(found.queries["hits"], hits.sum(axis=1))
    pairs = [hits[:, a] != hits[:, b] for a, b in combinations(range(4), 2)]
    np.testing.assert_allclose(pairwise(found.hits), np.mean(pairs, axis=0))
    columns = ["side", "head", "relation", "tail"]
    assert [
        (s, (h, r, t)) for s, h, r, t in found.queries[columns].itertuples(index=False)
    ] == asked
    for row, (side, triple) in enumerate(asked):
        tops = [_ranked(run, side, triple, known) for run in runs]
        points = {e: sum(1 / top[e] for top in tops) for e in tops[0]}
        own = points[triple[0 if side == "head" else 2]]
        above = sum(p > own + 1e-9 for p in points.values())
        equal = sum(abs(p - own) < 1e-9 for p in points.values()) - 1
        assert found.queries["vote_rank"][row] == above + equal / 2 + 1


def _ranked(run, side, triple, known):
    at = 0 if side == "head" else 2
    left = [
        other
        for other in brute_force.candidates(triple, side, 8, 2)
        if other == triple or other not in known
    ]
    scores = {other[at]: run.scorer(*other, side) for other in left}
    return {
        e: 1 + sum(v > s for v in scores.values()) + (sum(v == s for v in scores.values()) - 1) / 2
        for e, s in scores.items()
    }


def test_who_competes():
    good, other = seeds(2, ties=False)
    poor = fake_run(GRAPH, FakeScorer(-good.scorer.tails))
    found = agreement([poor, good, other], AgreementSetting(margin=0.3))
    assert found.overview["competes"].tolist() == [False, True, True]
    assert len(found.left_out) == 1
    assert list(found.runs.values()) == [good, other]
    assert found.hits.shape == (12, 2)
    assert found.queries["vote_conflict"].isna().all()


def test_all_scores_tied():
    """Nothing is first: no run hits, so none differs, and there is no overlap to speak of."""
    runs = [fake_run(GRAPH, FakeScorer(torch.full((8, 2, 8), value))) for value in (0.0, 1.0)]
    found = agreement(runs, AgreementSetting(k=2))
    assert not found.hits.any()
    assert not found.queries["conflict"].any()
    assert found.queries["overlap"].isna().all()


def test_blocks_do_not_matter(monkeypatch):
    runs = seeds(4)
    found = agreement(runs, AgreementSetting(2, 1)).queries
    monkeypatch.setattr("kgdash.studies.agreement.agreement._BLOCK", 2)
    again = agreement(runs, AgreementSetting(2, 1)).queries
    assert found.equals(again)


def _nan(run):
    scores = run.scorer.tails.clone()
    scores[0, 0, 0] = float("nan")
    return fake_run(GRAPH, FakeScorer(scores))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda a, b: [a], "expected 2 to 8 runs to compare; found 1"),
        (lambda a, b: [a, a], "are the same run"),
        (
            lambda a, b: [a, fake_run(make_graph(array([(0, 0, 1)]), entities=8), b.scorer)],
            "must be on the same graph",
        ),
        (lambda a, b: [a, _nan(b)], "NaN"),
        (
            lambda a, b: [a, fake_run(GRAPH, FakeScorer(-a.scorer.tails))],
            "found no other within 5%",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(KgdashError, match=message):
        agreement(make(*seeds(2, ties=False)))


@pytest.mark.parametrize(
    ("given", "message"),
    [({"k": 0}, "a k from 1"), ({"k": 101}, "a k from 1"), ({"margin": 1.5}, "a margin from 0")],
)
def test_settings_out_of_range(given, message):
    with pytest.raises(KgdashError, match=message):
        AgreementSetting(**given)
