"""Verdicts say no more than intervals carry."""

import math

import pandas as pd
import pytest

from kgdash.studies.overview.verdict import (
    Estimate,
    performance_verdict,
    region_verdict,
    three_digits,
    with_interval,
)

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


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.75414, "0.754"), (0.0000086, "8.6e-6"), (0.00009637, "9.64e-5"), (1.0, "1")),
        *((0.0, "0"), (12.345, "12.3"), (math.nan, "unknown"), (0.001, "0.001")),
    ],
)
def test_three_digits(value, text):
    assert three_digits(value) == text


def test_an_interval_follows_its_value_where_there_is_one():
    assert with_interval(Estimate(0.5, 0.4, 0.61234, 50)) == "0.5 (0.4 to 0.612)"
    assert with_interval(Estimate(0.5, math.nan, math.nan, 1)) == "0.5"


def test_performance():
    assert "no test triples" in performance_verdict(NOTHING, NOTHING)
    few = performance_verdict(Estimate(0.5, 0.1, 0.9, 29), Estimate(0.6, 0.2, 0.9, 29))
    assert few == "Only 29 held-out triples, which say little: MRR 0.5 (0.1 to 0.9)."
    many = performance_verdict(Estimate(0.5, 0.4, 0.6, 30), Estimate(0.612, 0.5, 0.7, 30))
    assert many.startswith("Of held-out facts, the true answer is among the ten best in 61%")


def test_regions_that_intervals_tell_apart():
    said = region_verdict(communities(BAD, GOOD))
    assert said.startswith("Trust it most around **good**, least around **bad**: mean ReliK 0.45")
    assert said.endswith("Held-out triples agree: MRR 0.75 against 0.35, n = 40 and 40.")


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
    touching = ("good", 0.2, 0.5, 100, 0.7, 0.8, 40)
    assert "do not differ in ReliK by more than chance" in region_verdict(
        communities(touching, BAD)
    )
    small = (*GOOD[:3], 29, *GOOD[4:])
    assert "No two communities have 30 triples" in region_verdict(communities(small, BAD))
    assert "still being counted" in region_verdict(communities(GOOD, BAD), is_exact=False)
