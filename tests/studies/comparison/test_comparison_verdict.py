"""The verdict on runs calls best only what the tests carry."""

import pandas as pd
import pytest

from kgdash.studies.comparison.comparison_verdict import comparison_verdict

MEANS = {"x": 0.5, "y": 0.9, "z": 0.8}


def table_of(p_xy, p_yz, triples=100):
    pairs = {("x", "y"): p_xy, ("x", "z"): 0.001, ("y", "z"): p_yz}
    rows = [(a, b, MEANS[a], MEANS[b], p, triples) for (a, b), p in pairs.items()]
    return pd.DataFrame(rows, columns=["a", "b", "mean_a", "mean_b", "p_holm", "triples"])


@pytest.mark.parametrize(
    ("p_xy", "p_yz", "end"),
    [
        (0.01, 0.049, "more than chance above x (0.500), z (0.800)."),
        (0.01, 0.05, "more than chance above x (0.500); z (0.800) may be as good."),
        (0.2, 0.3, "but is not told apart from x (0.500), z (0.800)."),
    ],
)
def test_the_best_and_the_others(p_xy, p_yz, end):
    assert comparison_verdict(table_of(p_xy, p_yz)) == f"**y** has the highest MRR, 0.900, {end}"


def test_few_triples_make_no_claim():
    said = comparison_verdict(table_of(0.01, 0.01, triples=29))
    assert said.endswith("over only 29 triples: too few to call it better.")
