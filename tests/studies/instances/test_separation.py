import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from kgdash.engine.resampling_kernels import weighted_separation
from kgdash.errors import KgdashError
from kgdash.statistics.bootstrap import Bootstrap, percentile_interval
from kgdash.statistics.multiple_testing import holm
from kgdash.studies.instances.separation import (
    average_precision,
    compare_measures,
    roc_auc,
    separation,
)
from kgdash.studies.instances.separation_bootstrap import resampled
from tests.support.checks import check_interval


def scored(*groups):
    """One row per value: groups are (name, values of true ones, values of false ones)."""
    rows = [
        (name, label, value)
        for name, *classes in groups
        for label, values in zip((True, False), classes, strict=True)
        for value in values
    ]
    table = pd.DataFrame(rows, columns=["group", "label", "relik_max"])
    names = np.arange(len(table)).astype(str)
    return table.assign(
        instance=np.arange(len(table)),
        question=names,
        answer=names,
        distinct=1,
        relik_mean=table["relik_max"] / 2,
    )


def test_worked_by_hand():
    row = separation(scored(("2p", [0.5, 0.7, 0.9], [0.1, 0.5]))).iloc[0]
    # Pairs won: 0.5 beats 0.1 and ties 0.5; 0.7 and 0.9 beat both: 5.5 of 6.
    assert row["roc_auc"] == pytest.approx(5.5 / 6)
    # Squares: 0.04 + 0 + 0.04 and 0.04 + 0.04 over 3 degrees of freedom.
    assert row["cohens_d"] == pytest.approx((0.7 - 0.3) / np.sqrt(0.16 / 3))
    assert row["mean_true"] == pytest.approx(0.7)
    assert row["mean_false"] == pytest.approx(0.3)
    assert row["cliffs_delta"] == pytest.approx(2 * 5.5 / 6 - 1)
    # From the highest: true, true, then one of each: (1 + 1 + 3/4) / 3.
    assert row["average_precision"] == pytest.approx(11 / 12)
    assert row["share_true"] == 0.6
    assert (row["n_true"], row["n_false"]) == (3, 2)


def test_the_aggregate_picks_the_column():
    table = scored(("2p", [0.5, 0.7], [0.1]))
    assert separation(table, aggregate="mean")["mean_true"].iloc[0] == pytest.approx(0.3)


@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_auc_and_average_precision_are_scipy_s_and_scikit_learn_s(true, false):
    expected = stats.mannwhitneyu(true, false, method="asymptotic").statistic
    auc = roc_auc(np.array(true), np.array(false))
    assert auc == pytest.approx(expected / (len(true) * len(false)))
    labels = np.repeat([True, False], [len(true), len(false)])
    found = average_precision(np.array(true), np.array(false))
    assert found == pytest.approx(average_precision_score(labels, [*true, *false]))


def test_values_that_are_no_numbers_have_no_average_precision():
    """The mean score over a path of +∞ and −∞ is none: `queries` ended in a traceback."""
    odd, plain = np.array([1.0, np.nan]), np.array([0.5, np.inf])
    assert np.isnan([average_precision(odd, plain), average_precision(plain, odd)]).all()
    assert np.isnan([roc_auc(odd, plain), roc_auc(plain, odd)]).all()


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 3)), min_size=1))
def test_a_resample_s_figures_are_scikit_learn_s_with_weights(rows):
    value, label, unit = (np.array(column) for column in zip(*sorted(rows), strict=True))
    times, out = np.array([0, 1, 2, 5], dtype=np.int32), np.empty(4)
    weighted_separation(
        value.astype(float), label.astype(np.int32), unit.astype(np.int32), times, out
    )
    weight = times[unit]
    for at, name in ((2, True), (3, False)):
        own = label == name
        mean = np.average(value[own], weights=weight[own]) if weight[own].any() else np.nan
        assert out[at] == pytest.approx(mean, nan_ok=True)
    if weight[label].any() and weight[~label].any():
        assert out[0] == pytest.approx(roc_auc_score(label, value, sample_weight=weight))
        assert out[1] == pytest.approx(average_precision_score(label, value, sample_weight=weight))
    else:
        assert np.isnan(out[:2]).all()


def test_intervals_of_means_are_scipy_s():
    rng = np.random.default_rng(1)
    true = 10.0 ** rng.uniform(-3, 0, size=80)
    row = separation(scored(("x", true, [0.1, 0.2])), bootstrap=Bootstrap(resamples=4000)).iloc[0]
    # Ours draws from both labels together, so that the number of true ones varies by ±1.
    ends = [row["low_true"], row["high_true"]]
    check_interval(ends, np.mean, true, within=0.06, resamples=4000)


def test_intervals_hold_what_they_promise():
    """Of many tables with labels by chance, about 95% of the intervals hold 0.5."""
    rng, labels, held = np.random.default_rng(3), np.repeat([True, False], 60), []
    for _ in range(200):
        values = {"m": 10.0 ** rng.uniform(-6, 0, 120)}
        drawn = resampled(values, labels, np.arange(120), Bootstrap(resamples=400))["m"]["roc_auc"]
        low, high = percentile_interval(drawn, 0.95)
        held.append(low <= 0.5 <= high)
    assert 0.9 < np.mean(held) < 0.985


def test_instances_of_one_question_are_drawn_together():
    # Of each question, the true value is the false one and a little more: as long as pairs stay
    # together, the difference of the means never changes.
    low = np.linspace(0, 1, 40)
    drawn = resampled(
        {"m": np.concatenate([low + 0.01, low])},
        np.repeat([True, False], 40),
        np.tile(np.arange(40), 2),
        Bootstrap(resamples=200),
    )["m"]
    assert np.ptp(drawn["mean_true"]) > 0.1
    assert np.allclose(drawn["mean_true"] - drawn["mean_false"], 0.01)


def test_measures_are_compared_on_the_same_resamples():
    rng = np.random.default_rng(4)
    table = scored(("a", rng.uniform(0.2, 1, 50), rng.uniform(0, 1, 50)), ("b", [0.5], [0.1]))
    # A measure in the same order as ReliK has its AUC in every resample.
    table = table.assign(score_max=np.log(table["relik_max"]), noise_max=rng.random(len(table)))
    table = table.assign(reciprocal_rank_max=table["noise_max"])
    found = compare_measures(table)
    for group in ("a", "all"):
        row = found.difference("score", group)
        assert row.tolist() == [0, 0, 0]
        row = found.difference("reciprocal_rank", group)
        assert row["low"] < row["difference"] < row["high"]
        aucs = [found.by_measure[m].set_index("group") for m in ("relik", "reciprocal_rank")]
        one, two = (table.loc[group, "roc_auc"] for table in aucs)
        assert row["difference"] == pytest.approx(one - two)
    alone = separation(table, "reciprocal_rank")
    pd.testing.assert_frame_equal(found.by_measure["reciprocal_rank"], alone)
    pd.testing.assert_series_equal(
        found.overall("reciprocal_rank"), alone.set_index("group").loc["all"]
    )


def test_resamples_go_once_the_intervals_of_a_group_are_found():
    """Those of 300 groups would take 10 MB for each measure."""
    table = scored(*((f"g{number}", [0.5, 0.7], [0.1, 0.6]) for number in range(300)))
    separation(table.head(8))
    tracemalloc.start()
    assert len(separation(table)) == 301
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


def test_same_seed_same_intervals():
    table = scored(("a", np.linspace(0.3, 1, 20), np.linspace(0, 0.7, 20)))
    one, again, other = (separation(table, bootstrap=Bootstrap(seed=seed)) for seed in (0, 0, 9))
    pd.testing.assert_frame_equal(one, again)
    assert one["auc_low"].iloc[0] != other["auc_low"].iloc[0]


def test_p_values_are_mann_whitney_s_corrected_for_the_number_of_groups():
    rng = np.random.default_rng(5)
    parts = [
        (name, rng.random(20) + shift, rng.random(20))
        for name, shift in zip("abc", (0, 0.2, 1), strict=True)
    ]
    table = separation(scored(*parts, ("one class", [0.1], [])))
    p = [stats.mannwhitneyu(true, false).pvalue for _, true, false in parts]
    assert table["p"].tolist()[:3] == pytest.approx(p)
    assert table["p"].iloc[3:].isna().all(), "all: what several rules predict stands there twice"
    assert table["p_holm"].tolist()[:3] == pytest.approx(holm(np.array(p)).tolist())
    assert table["p_holm"].iloc[3:].isna().all()


@pytest.mark.parametrize(
    ("true", "false", "auc", "effect"),
    [
        ([0.1] * 3, [0.1] * 3, 0.5, np.nan),
        ([0.1] * 3, [0.3] * 3, 0.0, np.nan),
        ([0.2, 0.4], [], np.nan, np.nan),
        ([], [0.2], np.nan, np.nan),
        ([0.2], [0.1], 1.0, np.nan),
    ],
)
def test_degenerate_groups_give_nan_without_a_warning(true, false, auc, effect):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = separation(scored(("x", true, false)))
    for row in table.to_dict("records"):
        assert row["roc_auc"] == pytest.approx(auc, nan_ok=True)
        assert row["cohens_d"] == pytest.approx(effect, nan_ok=True)
        assert np.isnan(row["low_true"]) == (not true or len(true) + len(false) < 2)


def test_nothing_at_all():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = separation(scored())
    assert table["group"].tolist() == ["all"]
    assert table[["n_true", "n_false"]].to_numpy().tolist() == [[0, 0]]
    assert table.drop(columns=["group", "questions", "n_true", "n_false"]).isna().all().all()


def test_order_by_separation_puts_the_undefined_last_and_all_after_it():
    table = scored(
        ("weak", [0.1, 0.3], [0.2, 0.2]),
        ("one class", [0.1], []),
        ("clear", [0.9, 0.8], [0.1, 0.2]),
        ("clearer, larger", [0.9, 0.8, 0.7], [0.1, 0.2]),
    )
    given_order = separation(table)["group"].tolist()
    assert given_order == ["weak", "one class", "clear", "clearer, larger", "all"]
    by_auc = separation(table, order="separation")["group"].tolist()
    assert by_auc == ["clearer, larger", "clear", "weak", "one class", "all"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measure": "relic"}, "did you mean 'relik'"),
        ({"aggregate": "worst"}, "unknown aggregate 'worst'"),
        ({"order": "random"}, "unknown order 'random'"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(KgdashError, match=message):
        separation(scored(("x", [0.1], [0.2])), **arguments)
