"""What cards rest on, against the definitions of answer sets and probabilities."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import binomtest

from kgdash.graph.communities import find_communities
from kgdash.statistics.estimate import Estimate
from kgdash.studies.probability.answer_sets import (
    AnswerSetSetting,
    answer_sets,
    prepare_answer_sets,
)
from kgdash.studies.probability.conformal import conformal_quantile
from kgdash.studies.trust import basis as module
from kgdash.studies.trust.basis import EPSILON, SCORE, Basis, card_basis, is_at_hand, questions
from tests.support import brute_force


@pytest.fixture(scope="module")
def run(bundled):
    return bundled("umls-complex")


@pytest.fixture(scope="module")
def basis(run):
    return card_basis(run)


def test_coverage_is_that_of_the_answer_sets(run, basis):
    found = answer_sets(run, AnswerSetSetting(EPSILON, SCORE))
    assert basis.placing.most == pytest.approx(found.thresholds["most"].iloc[0])
    communities = find_communities(run.graph)
    queries = found.queries
    anchor = np.where(queries["side"] == "tail", queries["head"], queries["tail"])
    for community in np.unique(communities):
        covered = queries["covered"][communities[anchor] == community]
        here = basis.coverage_of(communities, int(np.flatnonzero(communities == community)[0]))
        assert here.n == len(covered)
        if len(covered):
            assert here.value == pytest.approx(covered.mean())
            ends = binomtest(int(covered.sum()), len(covered)).proportion_ci(0.95, "exact")
            assert (here.low, here.high) == pytest.approx((ends.low, ends.high))
    assert basis.coverage_of(None, None).value == pytest.approx(queries["covered"].mean())


@pytest.mark.parametrize("side", ["head", "tail"])
def test_places_by_definition(run, basis, side):
    known = {tuple(t) for t in run.graph.all_triples.tolist()}
    triples = np.concatenate([run.graph.split("test")[::200], [[3, 5, 9], [0, 1, 2], [0, 1, 3]]])
    queries = questions(run, triples, side, "train+valid+test")
    found = basis.placing.place(queries)
    beta = basis.placing.fitted.beta_of(queries)
    for i, triple in enumerate(map(tuple, triples.tolist())):
        left = [
            c
            for c in brute_force.candidates(triple, side, 135, 46)
            if c == triple or c not in known
        ]
        scores = run.scorer.score_triples(torch.tensor(left), side).double().numpy()
        own = scores[left.index(triple)]
        log_p = beta[i] * (scores - scores.max())
        log_p -= np.log(np.exp(log_p).sum())
        row = found.iloc[i]
        assert row["score"] == pytest.approx(own, rel=1e-5)
        assert row["candidates"] == len(left)
        assert row["rank"] == 1 + (scores > own).sum() + ((scores == own).sum() - 1) / 2
        assert row["ties"] == (scores == own).sum()
        mine = log_p[left.index(triple)]
        assert row["probability"] == pytest.approx(basis.placing.fitted.isotonic(mine), abs=1e-4)
        assert row["in_set"] == (-mine <= basis.placing.most)
        assert abs(row["set_size"] - (-log_p <= basis.placing.most).sum()) <= 1


def test_regions_that_keep_the_promise_are_told_to_miss_it_in_few_draws(run):
    """Taking the threshold as exact, of 50 validation triples 13.7 of 100 such regions were."""
    rng, told = np.random.default_rng(0), 0
    few = SimpleNamespace(graph=SimpleNamespace(splits={"valid": range(50)}))
    for _ in range(400):
        most = conformal_quantile(np.tile(rng.random(50), 2), EPSILON)
        covered = np.tile(rng.random(30) <= most, 2)
        here = Estimate(covered.mean(), np.nan, np.nan, 60)
        told += Basis(few, SimpleNamespace(), pd.DataFrame()).misses(here)
    assert told <= 12
    many = SimpleNamespace(graph=SimpleNamespace(splits={"valid": range(1000)}))
    basis = Basis(many, SimpleNamespace(), pd.DataFrame())
    assert basis.misses(Estimate(0.7, np.nan, np.nan, 60))
    assert not basis.misses(Estimate(1.0, np.nan, np.nan, 600))


def test_what_is_not_prepared_is_not_at_hand(run, monkeypatch):
    assert is_at_hand(run)
    monkeypatch.setattr(module, "_FEW_SCORES", 0)
    assert not is_at_hand(run)
    monkeypatch.setattr("kgdash.files.table_cache._WORTH_KEEPING", -1)
    prepare_answer_sets(run)
    assert is_at_hand(run)  # what is left takes no time, and may not be worth a file
    card_basis(run)
    assert is_at_hand(run)
