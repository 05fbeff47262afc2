"""The error rate from labels: closed forms, brute force, and coverage by simulation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom

from kgdash.errors import KgdashError
from kgdash.studies.labelling.error_rate import error_rate


def test_one_stratum_is_beta_binomial():
    found = error_rate([200], [40], [3])
    rest = betabinom(160, 3.25, 37.25)
    assert found.value == pytest.approx((3 + rest.mean()) / 200)
    assert found.low == pytest.approx((3 + rest.ppf(0.025)) / 200)
    assert found.high == pytest.approx((3 + rest.ppf(0.975)) / 200)
    assert (found.labelled, found.wrong, found.facts) == (40, 3, 200)


def test_all_judged_is_certain():
    found = error_rate([4, 3], [4, 3], [1, 0])
    assert (found.value, found.low, found.high) == (1 / 7, 1 / 7, 1 / 7)
    assert found.is_narrow
    assert found.text.endswith("±3 points are reached.")


strata = st.integers(1, 6).flatmap(
    lambda size: st.integers(0, size).flatmap(
        lambda judged: st.tuples(st.just(size), st.just(judged), st.integers(0, judged))
    )
)


@settings(max_examples=30)
@given(st.lists(strata, min_size=1, max_size=3), st.sampled_from([0.5, 0.9]))
def test_against_all_combinations(parts, level):
    sizes, labelled, wrong = zip(*parts, strict=True)
    found = error_rate(sizes, labelled, wrong, level)
    chances = combined(parts)
    assert found.value == pytest.approx(chances @ np.arange(len(chances)) / sum(sizes))
    low, high = (round(end * sum(sizes)) for end in (found.low, found.high))
    tail = (1 - level) / 2
    above = 1 - np.cumsum(chances)
    # The low end takes strata without a wrong one as free of errors.
    least = combined([part for part in parts if part[2]])
    below = np.cumsum(least)
    # No more than a tail lies strictly outside, and the ends can not move inwards.
    for outside, moved in (
        (below[low] - least[low], below[low]),
        (above[high], above[high] + chances[high]),
    ):
        assert outside <= tail + 1e-9
        assert moved >= tail - 1e-9


def combined(parts):
    """Return the chance of each number of wrong facts, going through all combinations."""
    chances = np.zeros(sum(size for size, *_ in parts) + 1)
    for rest in product(*(range(size - judged + 1) for size, judged, _ in parts)):
        each = [
            betabinom.pmf(k, size - judged, 0.25 + bad, 0.25 + judged - bad)
            for k, (size, judged, bad) in zip(rest, parts, strict=True)
        ]
        chances[sum(rest) + sum(bad for *_, bad in parts)] += np.prod(each)
    return chances


@pytest.mark.parametrize("labels", [40, 240])
def test_where_errors_are_rare(labels):
    """Of none in five strata, equal tails of the priors' sum never held it."""
    rng = np.random.default_rng(2)
    assert error_rate([1_000] * 5, [labels // 5] * 5, [0] * 5).low == 0
    sizes, errors, held = [1_000] * 5, [20, 0, 0, 0, 0], 0
    for _ in range(100):
        wrong = [rng.hypergeometric(bad, 1_000 - bad, labels // 5) for bad in errors]
        found = error_rate(sizes, [labels // 5] * 5, wrong)
        held += found.low <= 20 / 5_000 <= found.high
    assert held >= 93


def test_intervals_cover_as_often_as_they_say():
    """1,000 graphs of known errors, more among the suspicious, judged 25 a stratum."""
    rng = np.random.default_rng(0)
    sizes, shares = [400] * 4, [0.3, 0.1, 0.05, 0.02]
    covered, kept = 0, {}
    for _ in range(1000):
        errors = [rng.binomial(size, share) for size, share in zip(sizes, shares, strict=True)]
        wrong = tuple(
            int(rng.hypergeometric(bad, size - bad, 25))
            for size, bad in zip(sizes, errors, strict=True)
        )
        if wrong not in kept:
            kept[wrong] = error_rate(sizes, [25] * 4, wrong)
        covered += kept[wrong].low <= sum(errors) / 1600 <= kept[wrong].high
    assert 0.935 <= covered / 1000 <= 0.97


def test_what_it_says():
    assert error_rate([10], [0], [0]).text.startswith("No fact of the random order is judged yet")
    wide = error_rate([10_000], [50], [5])
    assert not wide.is_narrow
    assert wide.text.startswith("5 of 50 judged facts are wrong; estimated error rate 10.4% of 10,")
    assert wide.text.endswith("points: judge on until ±3.")
    assert error_rate([10_000], [1000], [50]).is_narrow


@pytest.mark.parametrize(
    ("sizes", "labelled", "wrong", "level"),
    [([], [], [], 0.9), ([5], [6], [0], 0.9), ([5], [2], [3], 0.9), ([5], [2], [1], 1.0)],
)
def test_refusals(sizes, labelled, wrong, level):
    with pytest.raises(KgdashError, match="error rate: expected strata"):
        error_rate(sizes, labelled, wrong, level)
