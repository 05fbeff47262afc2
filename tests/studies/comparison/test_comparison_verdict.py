"""The verdict on runs calls best only what the tests carry."""

import numpy as np
import pandas as pd
import pytest

from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.paired_tests import paired_tests, shared_p
from kgdash.studies.comparison.comparison import compared_ranks, reciprocal_ranks
from kgdash.studies.comparison.comparison_verdict import comparison_verdict, shared_tests

MEANS = {"x": 0.5, "y": 0.9, "z": 0.8}


def table_of(p_xy, p_yz, triples=100):
    pairs = {("x", "y"): p_xy, ("x", "z"): 0.001, ("y", "z"): p_yz}
    rows = [(a, b, MEANS[a], MEANS[b], p, triples) for (a, b), p in pairs.items()]
    table = pd.DataFrame(rows, columns=["a", "b", "mean_a", "mean_b", "p_holm", "triples"])
    difference = table["mean_a"] - table["mean_b"]
    return table.assign(low=difference - 0.05, high=difference + 0.05)


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


def test_a_difference_whose_interval_holds_0_is_none():
    """y − z is told by both p, and its interval reaches 0; that of x − y does not."""
    table = table_of(0.01, 0.01).assign(p_shared=0.01)
    said = "**y** has the highest MRR, 0.900, more than chance above x (0.500)"
    assert comparison_verdict(table) == f"{said}, z (0.800)."
    table.loc[2, "low"] = 0.0
    assert comparison_verdict(table) == f"{said}; z (0.800) may be as good."


def test_a_little_better_on_many_triples_is_not_better():
    """Of 20 in 1,000 triples b is far worse; a draw of 40 that lacks them shows it ahead of a."""
    values = np.full((1000, 2), 0.5)
    values[20::2, 1] = 0.51
    values[:20] = 1.0, 0.05
    mean = (values[:, 0] - values[:, 1]).mean()
    assert mean == pytest.approx(0.02 * 0.95 - 0.49 * 0.01)
    drawn = values[500:540]
    tests = paired_tests(drawn, ["a", "b"], Bootstrap(resamples=400))
    units = np.random.default_rng(0).integers(0, 30, (40, 3))
    shared = shared_p(drawn[:, [0]] - drawn[:, [1]], units)
    row = tests.iloc[0]
    assert max(row["p_holm"], shared[0]) < 0.01
    assert row["low"] <= mean <= row["high"]
    said = comparison_verdict(tests.assign(p_shared=shared))
    assert said == "**b** has the highest MRR, 0.505, but is not told apart from a (0.500)."


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
