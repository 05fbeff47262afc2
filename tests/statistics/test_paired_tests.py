"""Paired tests: against full enumeration, SciPy's own functions, and closed forms."""

import itertools
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kgdash.files.table_cache import cached_table
from kgdash.statistics import paired_tests as module
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.multiple_testing import holm
from kgdash.statistics.paired_tests import (
    EXACT,
    RESAMPLES,
    paired_tests,
    permutation_p,
    shared_p,
)
from tests.support.checks import check_progress

#: reciprocal ranks, so that equal ones are the rule
RECIPROCALS = st.sampled_from([1.0, 1 / 2, 1 / 3, 1 / 4, 2 / 3, 1 / 7])


def reciprocals(triples, runs, seed=0):
    return 1.0 / np.random.default_rng(seed).integers(1, 12, size=(triples, runs))


def enumerated_p(differences):
    """Go through all ways to swap, in plain numbers."""
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(total >= observed - 1e-9 for total in sums) / len(sums)


@settings(max_examples=30)
@given(st.lists(st.tuples(RECIPROCALS, RECIPROCALS), min_size=1, max_size=9))
def test_few_triples_are_enumerated(pairs):
    differences = np.array([a - b for a, b in pairs])[:, None]
    assert permutation_p(differences)[0] == enumerated_p(differences[:, 0].tolist())


def test_exact_up_to_thirteen_that_differ():
    rng = np.random.default_rng(3)
    differences = rng.normal(0.3, 1, size=12)
    padded = np.concatenate([differences, np.zeros(40)])[:, None]
    expected = enumerated_p(differences.tolist())
    assert permutation_p(padded, resamples=9)[0] == expected
    found = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf
    )
    assert expected == pytest.approx(found.pvalue, abs=1e-12)
    at_limit = np.arange(1.0, EXACT + 1)[:, None]
    assert permutation_p(at_limit, resamples=9)[0] == 2 / 2**EXACT
    beyond = np.arange(1.0, EXACT + 2)[:, None]
    assert permutation_p(beyond, resamples=9)[0] >= 1 / 10


def test_random_swaps_agree_with_scipy():
    values = reciprocals(300, 2)
    values[:, 0] += 0.02
    differences = values[:, 0] - values[:, 1]
    found = permutation_p(differences[:, None], 9999, seed=1)[0]
    wanted = stats.permutation_test(
        (differences,),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9999,
        rng=np.random.default_rng(2),
    ).pvalue
    # Two estimates of one probability, of 9,999 draws each: five standard errors.
    assert abs(found - wanted) < 5 * np.sqrt(2 * wanted * (1 - wanted) / 9999)
    assert 0.05 < wanted < 0.6


def test_p_is_never_zero_and_counts_the_swap_that_was_seen():
    differences = np.full((40, 1), 0.5)
    assert permutation_p(differences, resamples=99)[0] == 1 / 100
    mixed = np.concatenate([np.full(20, 0.5), np.full(20, -0.5)])[:, None]
    assert permutation_p(mixed, resamples=99)[0] == 1.0
    p = permutation_p(reciprocals(50, 2) @ [[1.0], [-1.0]], resamples=99)[0]
    assert p * 100 == pytest.approx(round(p * 100))


def test_equal_sums_count_as_extreme():
    """Of 20 differences of ±1 with sum 2, a swap is as extreme unless its sum is 0."""
    differences = np.array([1.0] * 11 + [-1.0] * 9)[:, None] / 3
    m = 9999
    expected = 1 - stats.binom.pmf(10, 20, 0.5)
    error = np.sqrt(expected * (1 - expected) / m)
    assert abs(permutation_p(differences, m)[0] - expected) < 5 * error


def test_runs_that_do_not_differ():
    values = np.repeat(reciprocals(30, 1), 2, axis=1)
    row = paired_tests(values, ["a", "b"], Bootstrap(resamples=50)).iloc[0]
    assert row["difference"] == 0
    assert np.isnan(row[["low", "high"]].astype(float)).all()
    assert (row["p_permutation"], row["p_holm"], row["p_wilcoxon"]) == (1, 1, 1)
    assert (row["wins"], row["ties"], row["losses"]) == (0, 30, 0)
    assert np.isnan(row["effect_size"])


def test_one_triple():
    row = paired_tests(np.array([[1.0, 0.5]]), ["a", "b"], Bootstrap(resamples=50)).iloc[0]
    assert row["difference"] == 0.5
    assert np.isnan(row[["low", "high", "effect_size"]].astype(float)).all()
    assert row["p_permutation"] == 1


def test_every_pair_in_order():
    values, names = reciprocals(60, 4), list("abcd")
    table = paired_tests(values, names, Bootstrap(resamples=200))
    assert list(zip(table["a"], table["b"], strict=True)) == list(combinations(names, 2))
    for (i, j), row in zip(combinations(range(4), 2), table.to_dict("records"), strict=True):
        first, second = values[:, i], values[:, j]
        assert row["triples"] == 60
        assert (row["mean_a"], row["mean_b"]) == pytest.approx((first.mean(), second.mean()))
        assert row["difference"] == pytest.approx(first.mean() - second.mean(), abs=1e-15)
        assert row["low"] <= row["difference"] <= row["high"]
        counts = [sum(first > second), sum(first == second), sum(first < second)]
        assert [row["wins"], row["ties"], row["losses"]] == counts
        # t of the paired t-test is Cohen's d of the differences times √n.
        t = stats.ttest_rel(first, second).statistic
        assert row["effect_size"] == pytest.approx(t / np.sqrt(60))
        assert row["p_wilcoxon"] == stats.wilcoxon(first, second).pvalue
    np.testing.assert_array_equal(table["p_holm"], holm(table["p_permutation"].to_numpy()))


def test_a_pair_does_not_depend_on_the_other_runs():
    values = reciprocals(80, 3)
    numbers = ["difference", "low", "high", "p_permutation", "wins"]
    alone = paired_tests(values[:, [0, 2]], ["a", "c"], Bootstrap(resamples=300))[numbers].iloc[0]
    among = paired_tests(values, ["a", "b", "c"], Bootstrap(resamples=300))[numbers].iloc[1]
    np.testing.assert_allclose(among.to_numpy(float), alone.to_numpy(float), atol=1e-12)


def test_swapped_runs_turn_the_sign():
    values = reciprocals(80, 2)
    first = paired_tests(values, ["a", "b"], Bootstrap(resamples=300)).iloc[0]
    second = paired_tests(values[:, ::-1], ["b", "a"], Bootstrap(resamples=300)).iloc[0]
    ends = [-second["high"], -second["low"]]
    np.testing.assert_allclose(first[["low", "high"]].to_numpy(float), ends, atol=1e-12)
    assert first["p_permutation"] == second["p_permutation"]
    assert (first["wins"], first["losses"]) == (second["losses"], second["wins"])


def rarely_far(count, far):
    """Make two runs: a is better by 0.95 on ``far`` triples, b by 0.01 on half of the others."""
    values = np.full((count, 2), 0.5)
    values[far::2, 1] = 0.51
    values[:far] = 1.0, 0.05
    return values


@pytest.mark.parametrize(
    ("count", "share", "held_before"),
    [
        (30, 0.003, 0.09),
        (50, 0.005, 0.22),
        (100, 0.01, 0.63),
        (300, 0.003, 0.58),
        (300, 0.02, 0.93),
    ],
)
def test_intervals_of_differences_that_are_rarely_large(count, share, held_before):
    """Summed over how many such triples a draw holds: binomial, by closed form."""
    mean = share * 0.95 - (1 - share) * 0.005
    held = held_alone = 0.0
    for far in range(count):
        chance = stats.binom.pmf(far, count, share)
        if chance < 1e-6:
            continue
        values = rarely_far(count, far)
        row = paired_tests(values, ["a", "b"], Bootstrap(resamples=400)).iloc[0]
        held += chance * (row["low"] <= mean <= row["high"])
        draws = np.random.default_rng(1).integers(0, count, (400, count))
        low, high = np.quantile((values[:, 0] - values[:, 1])[draws].mean(axis=1), [0.025, 0.975])
        held_alone += chance * (low <= mean <= high)
    assert held >= 0.95
    assert held_alone == pytest.approx(held_before, abs=0.05)


def test_below_ten_triples_there_is_no_interval():
    """Of three it held the difference in 66 of 100 draws."""
    values = np.random.default_rng(0).random((10, 2))
    for count, has_one in ((9, False), (10, True)):
        row = paired_tests(values[:count], ["a", "b"], Bootstrap(resamples=99)).iloc[0]
        assert (row["low"] < row["difference"] < row["high"]) == has_one
        assert np.isfinite(row["p_permutation"])


@pytest.mark.parametrize("level", [0.95, 0.5])
def test_interval_against_scipy_and_the_normal_limit(level):
    """Of 400 triples up to c/400 may be like none of them, c = −ln(1 − level), up to 1 or −1."""
    values = reciprocals(400, 2, seed=5)
    differences = values[:, 0] - values[:, 1]
    row = paired_tests(values, ["a", "b"], Bootstrap(level=level, resamples=4000)).iloc[0]
    found = row[["low", "high"]].to_numpy(float)
    error = differences.std() / np.sqrt(400)
    wanted = stats.bootstrap(
        (values[:, 0], values[:, 1]),
        lambda a, b, axis: (a - b).mean(axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=4000,
        confidence_level=level,
        rng=np.random.default_rng(9),
    ).confidence_interval
    mean, share = differences.mean(), -np.log(1 - level) / 400
    limit = mean + stats.norm.ppf([(1 - level) / 2, (1 + level) / 2]) * error
    for ends, apart in ((wanted, 0.15), (limit, 0.2)):
        below, above = mean - ends[0], ends[1] - mean
        low = mean - np.sqrt(below**2 + (share * (mean + 1)) ** 2)
        high = mean + np.sqrt(above**2 + (share * (1 - mean)) ** 2)
        np.testing.assert_allclose(found, [low, high], atol=apart * error)


def test_blocks_do_not_change_the_draws(monkeypatch):
    values = reciprocals(60, 3)
    whole = module._paired_tests(values, list("abc"), Bootstrap(resamples=100), lambda *_: None)
    monkeypatch.setattr(module, "_BLOCK", 60 * 9 * 7)
    cut = module._paired_tests(values, list("abc"), Bootstrap(resamples=100), lambda *_: None)
    # Bits are drawn in blocks, whole bytes at a time, so only the bootstrap is bit for bit.
    np.testing.assert_allclose(cut[["low", "high"]], whole[["low", "high"]], atol=1e-15)


def test_seeded():
    values = reciprocals(60, 2)
    draws = [
        module._paired_tests(
            values, ["a", "b"], Bootstrap(resamples=99, seed=seed), lambda *_: None
        ).iloc[0]
        for seed in (0, 0, 1)
    ]
    assert draws[0]["low"] == draws[1]["low"]
    assert draws[0]["p_permutation"] == draws[1]["p_permutation"]
    assert draws[0]["low"] != draws[2]["low"]


def test_progress_and_cancelling():
    resamples = itertools.count(20)  # another number each time: what is kept tells nothing

    def work(progress):
        paired_tests(reciprocals(60, 2), ["a", "b"], Bootstrap(resamples=next(resamples)), progress)

    check_progress(work)


def test_kept_by_content(keep_all, monkeypatch):
    values = reciprocals(20, 2)
    first = paired_tests(values, ["a", "b"], Bootstrap(resamples=30))
    monkeypatch.setattr(module, "_paired_tests", lambda *_: pytest.fail("computed again"))
    np.testing.assert_array_equal(paired_tests(values, ["a", "b"], Bootstrap(resamples=30)), first)
    for change in (
        {"names": ["a", "c"]},
        {"bootstrap": Bootstrap(resamples=31)},
        {"bootstrap": Bootstrap(resamples=30, seed=1)},
        {"bootstrap": Bootstrap(0.9, resamples=30)},
        {"values": values[::-1]},
    ):
        chosen = {
            "values": values,
            "names": ["a", "b"],
            "bootstrap": Bootstrap(resamples=30),
            **change,
        }
        with pytest.raises(pytest.fail.Exception, match="computed again"):
            paired_tests(**chosen)
    assert module.cached_table is cached_table


def test_rows_of_one_unit_are_swapped_together():
    rng = np.random.default_rng(8)
    units, values = rng.integers(0, 8, 60), rng.normal(0.3, 1, (60, 2))
    sums = np.stack([[values[units == u, c].sum() for u in range(8)] for c in range(2)], axis=1)
    signs = np.array(list(itertools.product([-1, 1], repeat=8)))
    expected = [np.mean(np.abs(signs @ s) >= abs(s.sum()) - 1e-9) for s in sums.T]
    few = np.arange(60) % 5
    found = shared_p(values, np.column_stack([units, few]))
    np.testing.assert_allclose(found, expected)
    np.testing.assert_array_equal(shared_p(values, few[:, None]), [np.nan] * 2)
    # Of two columns eight units can tell something, of three no more.
    three = np.column_stack([values, values[:, 0]])
    np.testing.assert_array_equal(shared_p(three, units[:, None]), [np.nan] * 3)
    each = shared_p(values, np.arange(60)[:, None])
    np.testing.assert_array_equal(each, permutation_p(values, RESAMPLES))


def test_who_is_better_by_the_same_on_every_triple_has_an_interval():
    """ "Not told apart" was said of it, p 0.0001; c/n of values that no triple showed may be −1."""
    values = np.stack([np.full(100, 0.75), np.full(100, 0.25), np.full(100, 0.25)], axis=1)
    found = paired_tests(values, ["a", "b", "c"], Bootstrap(resamples=30)).set_index(["a", "b"])
    share = -np.log(0.05) / 100
    assert found.loc[("a", "b"), "low"] == pytest.approx(0.5 - share * 1.5)
    assert found.loc[("a", "b"), "high"] == pytest.approx(0.5 + share * 0.5)
    assert np.isnan(found.loc[("b", "c"), "low"])
