"""The verdict on runs calls best only what the tests carry."""

import numpy as np
import pandas as pd
import pytest

from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.paired_tests import paired_tests
from kgdash.studies.comparison.comparison import compared_ranks, reciprocal_ranks
from kgdash.studies.comparison.comparison_verdict import comparison_verdict, shared_tests

MEANS = {"x": 0.5, "y": 0.9, "z": 0.8}


def table_of(p_xy, p_yz, triples=100):
    pairs = {("x", "y"): p_xy, ("x", "z"): 0.001, ("y", "z"): p_yz}
    rows = [(a, b, MEANS[a], MEANS[b], p, triples) for (a, b), p in pairs.items()]
    return pd.DataFrame(rows, columns=["a", "b", "mean_a", "mean_b", "p_holm", "triples"])


@pytest.mark.parametrize(
    ("p_xy", "p_yz", "shared", "end"),
    [
        (0.01, 0.049, 0.049, "more than chance above x (0.500), z (0.800)."),
        (0.01, 0.049, 0.05, "but is not told apart from x (0.500), z (0.800)."),
        (0.01, 0.05, 0.01, "more than chance above x (0.500); z (0.800) may be as good."),
        (0.2, 0.3, 0.01, "but is not told apart from x (0.500), z (0.800)."),
    ],
)
def test_the_best_and_the_others(p_xy, p_yz, shared, end):
    said = comparison_verdict(table_of(p_xy, p_yz).assign(p_shared=shared))
    assert said == f"**y** has the highest MRR, 0.900, {end}"


@pytest.mark.parametrize("unit", ["head", "relation", "tail"])
def test_runs_that_differ_by_a_coin_of_each_unit(umls, bundled, unit):
    """Triples of one relation are alike: 35 of 60 such draws were told apart, of an entity 14."""
    runs, rng, told = [umls, bundled("umls-conve")], np.random.default_rng(3), 0
    ranks = compared_ranks(runs)
    a, b = ranks.values()
    for _ in range(12):
        swapped = (rng.random(200) < 0.5)[a[unit]]
        names = ["realistic"]
        first, second = a.copy(), b.copy()
        first.loc[swapped, names], second.loc[swapped, names] = b.loc[swapped], a.loc[swapped]
        both = {"a": first, "b": second}
        tests = paired_tests(reciprocal_ranks(both), ["a", "b"], Bootstrap(resamples=400))
        tests = tests.assign(p_shared=shared_tests(both))
        told += "more than chance" in comparison_verdict(tests)
    assert told <= 2


def test_few_triples_make_no_claim():
    said = comparison_verdict(table_of(0.01, 0.01).assign(p_shared=np.nan))
    assert said.endswith("over too few heads, relations and tails to call it better.")
    said = comparison_verdict(table_of(0.01, 0.01, triples=29).assign(p_shared=0))
    assert said.endswith("over only 29 triples: too few to call it better.")
