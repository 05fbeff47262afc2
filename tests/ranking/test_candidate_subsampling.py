"""Expectations among fewer candidates: by enumeration, against PyKEEN, and by drawing."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.ranking.candidate_subsampling import SHARES, expected_metrics
from kgdash.ranking.metrics import metrics

KEYS = (
    "inverse_harmonic_mean_rank",
    "hits_at_10",
    "arithmetic_mean_rank",
    "adjusted_arithmetic_mean_rank_index",
    "adjusted_inverse_harmonic_mean_rank",
    "adjusted_hits_at_k",
)


def table(pairs, side="tail"):
    ranks, candidates = np.array(pairs, dtype=np.int64).T
    return pd.DataFrame(
        {
            "side": side,
            "optimistic": ranks,
            "pessimistic": ranks,
            "realistic": ranks.astype(float),
            "candidates": candidates,
        }
    )


pairs = st.integers(1, 8).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n)))


@given(
    st.lists(pairs, min_size=1, max_size=4), st.integers(1, 4), st.sampled_from([0.01, 0.3, 0.6, 1])
)
def test_every_choice_of_rivals(rows, k, share):
    found = expected_metrics(table(rows), "tail", k=k, shares=[share]).iloc[0]
    reciprocal, hits, mean, left = [], [], [], []
    for rank, count in rows:
        stay = int(np.floor(share * (count - 1) + 0.5))
        kept = [
            1 + sum(c < rank - 1 for c in some) for some in combinations(range(count - 1), stay)
        ]
        left.append(stay + 1)
        reciprocal.append(np.mean([1 / r for r in kept]))
        hits.append(np.mean([r <= k for r in kept]))
        mean.append(np.mean(kept))
    assert found["candidates"] == pytest.approx(np.mean(left))
    assert found["inverse_harmonic_mean_rank"] == pytest.approx(np.mean(reciprocal))
    assert found[f"hits_at_{k}"] == pytest.approx(np.mean(hits))
    assert found["arithmetic_mean_rank"] == pytest.approx(np.mean(mean))
    if max(left) > 1:
        expected = 1 - 2 * (np.sum(mean) - len(rows)) / np.sum(np.array(left) - 1)
        assert found["adjusted_arithmetic_mean_rank_index"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("side", ["head", "tail", "both"])
@pytest.mark.parametrize("rank_type", ["optimistic", "pessimistic"])
def test_all_candidates_are_pykeen_s_metrics(bundled, side, rank_type):
    ranks = bundled("umls-distmult").ranks()
    found = expected_metrics(ranks, side, rank_type, shares=[1.0]).iloc[0]
    expected = metrics(ranks).values(side, rank_type)
    for key in KEYS:
        assert found[key] == pytest.approx(expected[key], rel=1e-9)


def test_what_fewer_candidates_do(bundled):
    """Plain metrics get better and better, AMRI stays."""
    found = expected_metrics(bundled("umls-distmult").ranks())
    assert found["share"].tolist() == list(SHARES)
    for key in ("inverse_harmonic_mean_rank", "hits_at_10"):
        assert found[key].is_monotonic_increasing
        assert found[key].iloc[-1] > found[key].iloc[0] + 0.05
    assert found["arithmetic_mean_rank"].is_monotonic_decreasing
    assert np.ptp(found["adjusted_arithmetic_mean_rank_index"]) < 0.01


def test_drawing_rivals_comes_to_the_same(bundled):
    ranks = bundled("umls-transe").ranks()
    found = expected_metrics(ranks, shares=[0.2]).iloc[0]
    rng = np.random.default_rng(0)
    before, count = ranks["pessimistic"].to_numpy() - 1, ranks["candidates"].to_numpy()
    stay = np.floor(0.2 * (count - 1) + 0.5).astype(int)
    drawn = 1 + rng.hypergeometric(before, count - 1 - before, stay, size=(400, len(count)))
    assert (1 / drawn).mean() == pytest.approx(found["inverse_harmonic_mean_rank"], abs=2e-3)
    assert (drawn <= 10).mean() == pytest.approx(found["hits_at_10"], abs=1e-3)


def test_large_graphs_do_not_overflow():
    found = expected_metrics(table([(1, 10**7), (10**7, 10**7), (4321, 10**7)]), "tail")
    assert np.isfinite(found.to_numpy()).all()
    assert found["inverse_harmonic_mean_rank"].between(1 / 3, 1).all()


def test_a_single_candidate():
    found = expected_metrics(table([(1, 1)]), "tail", shares=[1.0]).iloc[0]
    assert found["inverse_harmonic_mean_rank"] == found["hits_at_10"] == found["candidates"] == 1
    assert np.isnan(found["adjusted_arithmetic_mean_rank_index"])


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"rank_type": "realistic"}, "unknown rank type 'realistic'"),
        ({"side": "left"}, "unknown side 'left'"),
        ({"side": "head"}, "no ranks of side head"),
        ({"k": 0}, "k ≥ 1"),
        ({"shares": [0.0]}, "shares in"),
        ({"shares": [1.5]}, "shares in"),
    ],
)
def test_refusals(choices, told):
    with pytest.raises(KgdashError, match=told):
        expected_metrics(table([(1, 2)]), **choices)
