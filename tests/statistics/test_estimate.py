"""Values are written to three digits, with their intervals."""

import math

import pytest

from kgdash.statistics.estimate import (
    Estimate,
    in_full,
    number,
    numbers,
    p_value,
    percent,
    whole_or_half,
    with_interval,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.75414, "0.754"), (0.0000086, "8.6e-6"), (0.00009637, "9.64e-5"), (1.0, "1.00")),
        *((0.0, "0.00"), (12.345, "12.3"), (math.nan, "–"), (0.001, "0.00100"), (5216, "5,216")),
        *((math.inf, "∞"), (-math.inf, "-∞"), (99.96, "100"), (-99.97, "-100")),
    ],
)
def test_number(value, text):
    assert number(value) == text


def test_numbers_have_as_many_digits_as_tell_them_apart():
    assert numbers([0.12, 0.5, -3]) == ["0.120", "0.500", "-3.00"]
    assert numbers([-35.94, -35.88, 0.5]) == ["-35.94", "-35.88", "0.5"]
    close = [0.1, math.nextafter(0.1, 1)]
    assert [float(text) for text in numbers(close)] == close
    assert numbers([]) == []


@pytest.mark.parametrize(
    ("value", "taken", "text"),
    [
        (2.976, [], "2.976"),
        (0.01, [], "0.0100"),
        (1234.0, [], "1,234"),
        (0.9, ["0.900"], "0.9"),
        (2.976, ["2.98", "2.976"], "2.9760000000000000"),  # what another figure rounds to
        (-1e-8, [], "-1e-8"),
    ],
)
def test_a_figure_in_full_is_no_other(value, taken, text):
    assert in_full(value, taken) == text
    assert float(text.replace(",", "")) == value


def test_no_p_value_is_zero():
    texts = [p_value(p) for p in (0.0, 5e-324, 1e-299, 0.0499, math.nan)]
    assert texts == ["< 1e-300", "< 1e-300", "1e-299", "0.0499", "–"]


def test_an_interval_follows_its_value_where_there_is_one():
    assert with_interval(Estimate(0.5, 0.4, 0.61234, 50)) == "0.500 (0.400 to 0.612)"
    assert with_interval(Estimate(0.5, math.nan, math.nan, 1)) == "0.500"


def test_above_is_wholly_above():
    low, high = Estimate(0.2, 0.1, 0.3, 9), Estimate(0.5, 0.4, 0.6, 9)
    assert high.is_above(low)
    assert not low.is_above(high)
    assert not high.is_above(Estimate(0.4, 0.3, 0.4, 9))
    assert not high.is_above(Estimate(0.1, math.nan, math.nan, 1))


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0%"),
        (0.0004, "< 0.1%"),
        (0.0042, "0.4%"),
        (0.0996, "10%"),
        (0.5, "50%"),
        (0.867, "87%"),
        (0.947, "94.7%"),
        (0.95, "95%"),
        (0.9996, "> 99.9%"),
        (1.0, "100%"),
        (math.nan, "–"),
    ],
)
def test_percent(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("share", "decimals", "text"),
    [
        (0.0, 1, "0%"),
        (0.0004, 1, "< 0.1%"),
        (0.0042, 1, "0.4%"),
        (0.9, 1, "90.0%"),
        (0.99949, 1, "> 99.9%"),
        (0.9996, 2, "99.96%"),
        (0.99996, 2, "> 99.99%"),
        (1.0, 1, "100%"),
        (math.nan, 1, "–"),
        (-0.0521, 1, "-5.2%"),  # what is removed may be negative
        (-0.4, 0, "-40%"),
        (1.25, 1, "125.0%"),
    ],
)
def test_only_all_is_written_as_all(share, decimals, text):
    assert percent(share, decimals) == text


def test_ranks_and_medians_of_counts_are_whole_or_half():
    assert [whole_or_half(value) for value in (4, 1203.5, 0.0)] == ["4", "1,203.5", "0"]
    assert whole_or_half(float("nan")) == "–"
