"""Estimates of a subgraph are means by hand, and verdicts no stronger than their intervals."""

import math

import numpy as np
import pytest

from kgdash.statistics.estimate import Estimate
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.local_verdict import local_estimates, local_verdict


@pytest.fixture(scope="module")
def run(bundled):
    return bundled("umls-transe")


def test_estimates_are_the_means_with_intervals(run):
    comparison = compare(run, run.subgraph("virus", size=30))
    found = local_estimates(comparison)
    assert set(found) == set(comparison.means)
    for name, estimate in found.items():
        assert estimate.value == pytest.approx(comparison.means[name].value)
        assert estimate.low < estimate.value < estimate.high
    reciprocal = comparison.triples["reciprocal_rank"].dropna().to_numpy()
    draws = np.random.default_rng(3).integers(0, len(reciprocal), (4000, len(reciprocal)))
    ends = np.quantile(reciprocal[draws].mean(axis=1), [0.025, 0.975])
    both = found["both_mrr"]
    np.testing.assert_allclose([both.low, both.high], ends, atol=0.02)
    assert both.n == len(reciprocal)


def test_sampled_has_the_bounds_of_its_triples(run):
    comparison = compare(run, run.subgraph("virus", size=12), method="sampled")
    relik = local_estimates(comparison)["relik"]
    assert (relik.low, relik.high) == tuple(
        comparison.means[end].value for end in ("relik_low", "relik_high")
    )


def estimate(low, high, n=50):
    return Estimate((low + high) / 2, low, high, n)


@pytest.mark.parametrize(
    ("here", "word"),
    [
        (estimate(0.5, 0.6), "above"),
        (estimate(0.1, 0.2), "below"),
        (estimate(0.35, 0.5), "not told apart from"),
        (Estimate(0.9, math.nan, math.nan, 50), "not told apart from"),
    ],
)
def test_against_the_whole_graph(here, word):
    whole = {"relik": estimate(0.3, 0.4), "both_mrr": estimate(0.3, 0.4)}
    said = local_verdict({"relik": here, "both_mrr": here}, whole)
    assert said[0].startswith(f"ReliK here is {word} the whole graph's")
    assert said[1].startswith(f"The MRR is {word} the whole graph's")


def test_small_counts_are_called_small_and_nothing_is_claimed_of_them():
    whole = {"relik": estimate(0.3, 0.4), "both_mrr": estimate(0.3, 0.4)}
    few = {"relik": estimate(0.5, 0.6), "both_mrr": estimate(0.8, 0.9, 29)}
    assert local_verdict(few, whole)[1] == (
        "Only 29 triples are ranked here, too few to say how well."
    )
    few["relik"] = estimate(0.5, 0.6, 29)
    assert local_verdict(few, whole)[0] == (
        "Mean ReliK here is 0.550 (0.500 to 0.600): 29 triples, too few to say more of."
    )
    none = {"relik": estimate(0.5, 0.6), "both_mrr": Estimate(math.nan, math.nan, math.nan, 0)}
    assert local_verdict(none, None) == [
        "Mean ReliK here is 0.550 (0.500 to 0.600).",
        "No triple is ranked here, so there is no MRR.",
    ]
    assert local_verdict(dict(none, relik=none["both_mrr"]), None) == []
