"""Sentences about ranks against counting by hand."""

import numpy as np
import pandas as pd
import pytest

from kgdash.breakdowns.verdicts import groups_verdict, sides_verdict
from kgdash.ranking.metric_lookup import find_metric


def ranks(heads, tails):
    triples = {"head": np.arange(len(heads)), "relation": 0, "tail": 0}
    parts = [
        pd.DataFrame({**triples, "side": side, "realistic": np.array(values, dtype=float)})
        for side, values in (("head", heads), ("tail", tails))
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(
    ("heads", "tails", "told"),
    [
        ([1.0] * 30 + [4.0] * 10, [2.0] * 39 + [11], "tails are harder than heads: MRR 0.490"),
        ([2.0] * 39 + [11], [1.0] * 30 + [4.0] * 10, "heads are harder than tails: MRR 0.490"),
        ([1.0, 2.0] * 20, [2.0, 1.0] * 20, "told apart: MRR 0.750 and 0.750"),
        ([1.5] * 40, [1.5] * 40, "told apart: MRR 0.667 and 0.667"),
    ],
)
def test_sides(heads, tails, told):
    said = sides_verdict(ranks(heads, tails))
    first = np.mean(np.array([heads, tails]) <= 1)
    assert f"first in **{100 * first:.0f}%** of 80 queries" in said
    assert told in said


@pytest.mark.parametrize("unit", ["head", "relation", "tail"])
def test_sides_that_differ_by_a_coin_of_each_unit(unit):
    """Triples of one entity or relation are alike: 47 and 58 of 60 such draws were told apart."""
    rng, told = np.random.default_rng(7), 0
    for number in range(40):
        # Of one size, or one as large as all others, which Student's t takes for sure.
        units = np.repeat(np.arange(20), [20] * 20 if number % 2 else [400, *[20] * 19])
        values = np.where(rng.random(20)[units] < 0.5, [[1.0], [4.0]], [[4.0], [1.0]])
        told += "not told apart" not in sides_verdict(
            ranks(*values).assign(**{unit: np.tile(units, 2)})
        )
    assert told <= 5


def test_few_triples_say_little():
    assert sides_verdict(ranks([1.0] * 29, [9.0] * 29)) == "Only 29 triples, which say little."


#: value and interval, and triples; all together 0.5
GROUPS = pd.DataFrame(
    [
        ("a", 0.2, 0.1, 0.3, 40),
        ("b", 0.4, 0.3, 0.49, 50),
        ("c", 0.5, 0.4, 0.6, 90),
        ("d", 0.9, 0.8, 0.95, 30),
        ("few", 0.01, 0.0, 0.02, 29),
        ("undefined", np.nan, np.nan, np.nan, 99),
    ],
    columns=["group", "value", "low", "high", "triples"],
)


@pytest.mark.parametrize(
    ("metric", "worst", "best"), [("mrr", "a", "d"), ("arithmetic_mean_rank", "d", "a")]
)
def test_groups(metric, worst, best):
    said = groups_verdict(GROUPS, 0.5, find_metric(metric))
    assert f"worst in **{worst}**, " in said
    assert f"best in **{best}**, " in said
    of_large = ", of groups of 30 triples or more. "
    assert of_large in said
    large = GROUPS[GROUPS["group"] != "few"]
    assert of_large not in groups_verdict(large, 0.5, find_metric(metric))
    assert "**a**, 0.200 (0.100 to 0.300)" in said
    assert "Of 4 groups with an interval, 2 lie below all together (0.500)" in said
    assert "whole interval, 1 above; of groups that differ in nothing, some 0.2" in said
    assert "nothing, some 0.4" in groups_verdict(GROUPS, 0.5, find_metric(metric), level=0.9)


def test_groups_of_one_value_are_none_of_them_first():
    """ "Best in" named one of nineteen relations that had a Hits@10 of 1."""
    alike = GROUPS.assign(value=[1.0, 0.4, 1 - 1e-12, 1.0, 1.0, np.nan])
    said = groups_verdict(alike, 0.5, find_metric("mrr"))
    assert (
        "worst in **b**, 0.400 (0.300 to 0.490), and best in **d** and 2 others alike, 1.00, "
        in said
    )
    assert "worst in **a** and 2 others alike, 1.00, and best in **b**" in groups_verdict(
        alike, 0.5, find_metric("arithmetic_mean_rank")
    )
    two = alike[alike["group"] != "c"]
    assert "best in **d** and another alike" in groups_verdict(two, 0.5, find_metric("mrr"))
    said = groups_verdict(alike.assign(value=0.5), 0.5, find_metric("mrr"))
    assert said.startswith("MRR is 0.500 in all 5 groups of 30 triples or more. Of 4")


def test_metrics_without_intervals_and_too_few_groups():
    bare = GROUPS.assign(low=np.nan, high=np.nan)
    said = groups_verdict(bare, 0.5, find_metric("median_rank"))
    assert "**a**, 0.200, of groups of 30" in said
    assert said.endswith("There are no intervals of it here.")
    assert groups_verdict(GROUPS[3:], 0.5, find_metric("mrr")) == (
        "No two groups have 30 triples: none is told from another."
    )
