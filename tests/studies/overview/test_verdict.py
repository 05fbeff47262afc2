"""Verdicts say no more than intervals carry."""

import math

import pandas as pd
import pytest

from kgdash.statistics.estimate import Estimate
from kgdash.studies.overview.verdict import performance_verdict, region_verdict

NOTHING = Estimate(math.nan, math.nan, math.nan, 0)


def communities(*rows):
    """Make a table of rows (label, low, high, triples, mrr low, mrr high, evaluated)."""
    return pd.DataFrame(
        [
            {
                "label": label,
                "relik": (low + high) / 2,
                "low": low,
                "high": high,
                "triples": triples,
                "mrr": (mrr_low + mrr_high) / 2,
                "mrr_low": mrr_low,
                "mrr_high": mrr_high,
                "evaluated": evaluated,
            }
            for label, low, high, triples, mrr_low, mrr_high, evaluated in rows
        ]
    )


GOOD = ("good", 0.4, 0.5, 100, 0.7, 0.8, 40)
BAD = ("bad", 0.1, 0.2, 100, 0.3, 0.4, 40)


def test_performance():
    assert "no test triples" in performance_verdict(NOTHING, NOTHING)
    few = performance_verdict(Estimate(0.5, 0.1, 0.9, 29), Estimate(0.6, 0.2, 0.9, 29))
    assert few == "Only 29 held-out triples, which say little: MRR 0.500 (0.100 to 0.900)."
    many = performance_verdict(Estimate(0.5, 0.4, 0.6, 30), Estimate(0.612, 0.5, 0.7, 30))
    assert many.startswith("Of held-out facts, the true answer is among the ten best in 61%")


def test_guessing_is_told_from_a_tenth_on():
    """Of 14 entities, constant scores have the answer among the ten best in 94.2% of queries."""
    values = Estimate(0.2, 0.1, 0.3, 99), Estimate(0.942, 0.9, 0.98, 99)
    assert "in 94.2% of queries: MRR" in performance_verdict(*values, by_chance=0.09)
    assert "in 94.2% of queries (56% by chance): MRR" in performance_verdict(
        *values, by_chance=0.563
    )


def test_what_train_holds_is_not_held_out():
    """Of 100 test triples 90 were train triples: MRR 0.867, and 0.046 of the others."""
    almost = Estimate(0.9962, 0.99, 1, 100)
    said = performance_verdict(Estimate(0.9, 0.8, 1, 100), almost, 90)
    assert said == (
        "Of test triples, of which 90 are train triples and not held out, the true answer is among "
        "the ten best in 99.6% of queries: MRR 0.900 (0.800 to 1.00)."
    )


def test_regions_that_intervals_tell_apart():
    said = region_verdict(communities(BAD, GOOD))
    assert said.startswith(
        "Trust it most in the community “good”, least in “bad”: mean ReliK 0.450"
    )
    assert said.endswith("Held-out triples agree: MRR 0.750 against 0.350, n = 40 and 40.")
    alike = communities(BAD, GOOD, GOOD)
    assert "most in the community “good” and 1 alike, least in “bad”: mean" in region_verdict(alike)


@pytest.mark.parametrize(
    ("good", "end"),
    [
        ((0.1, 0.2, 40), "say the opposite"),
        ((0.35, 0.8, 40), "do not tell the two apart"),
        ((0.7, 0.8, 29), "Too few held-out triples lie there (n = 29 and 40)"),
        ((math.nan, math.nan, 0), "Too few held-out triples lie there (n = 0 and 40)"),
    ],
)
def test_what_ranks_say_of_them(good, end):
    assert end in region_verdict(communities((*GOOD[:4], *good), BAD))


def test_nothing_is_claimed_that_intervals_do_not_carry():
    """Of intervals that touch it was said that communities do not differ by more than chance."""
    touching = ("good", 0.2, 0.5, 100, 0.7, 0.8, 40)
    said = region_verdict(communities(touching, BAD))
    assert said.startswith("Its 2 communities are not told apart by ReliK (")
    for alike in (0.06, math.nan):
        assert "not told apart" in region_verdict(communities(GOOD, BAD), p_chance=alike)
    small = (*GOOD[:3], 29, *GOOD[4:])
    assert "No two communities have 30 triples" in region_verdict(communities(small, BAD))
    assert "still being counted" in region_verdict(communities(GOOD, BAD), is_exact=False)
