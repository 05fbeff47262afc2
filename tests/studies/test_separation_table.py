import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from kgdash.errors import KgdashError
from kgdash.studies.separation import cohens_d, mean_interval, roc_auc, separation

FIGURES = ["mean_true", "low_true", "high_true", "mean_false", "low_false", "high_false"]


def scored(*groups):
    """One row per value: groups are (name, values of true ones, values of false ones)."""
    rows = [
        (name, label, value)
        for name, *classes in groups
        for label, values in zip((True, False), classes, strict=True)
        for value in values
    ]
    table = pd.DataFrame(rows, columns=["group", "label", "relik_best"])
    return table.assign(instance=np.arange(len(table)), relik_mean=table["relik_best"] / 2)


def test_worked_by_hand():
    row = separation(scored(("2p", [0.5, 0.7, 0.9], [0.1, 0.5]))).iloc[0]
    # Pairs won: 0.5 beats 0.1 and ties 0.5; 0.7 and 0.9 beat both: 5.5 of 6.
    assert row["roc_auc"] == pytest.approx(5.5 / 6)
    # Squares: 0.04 + 0 + 0.04 and 0.04 + 0.04 over 3 degrees of freedom.
    assert row["cohens_d"] == pytest.approx((0.7 - 0.3) / np.sqrt(0.16 / 3))
    # Student's t with 2 degrees of freedom at 97.5 % is 4.30265; the standard error 0.2 / √3.
    assert row["mean_true"] == pytest.approx(0.7)
    assert row["low_true"] == pytest.approx(0.7 - 4.30265 * 0.2 / np.sqrt(3), abs=1e-5)
    assert row["high_true"] == pytest.approx(0.7 + 4.30265 * 0.2 / np.sqrt(3), abs=1e-5)
    assert (row["n_true"], row["n_false"]) == (3, 2)


def test_the_choice_of_chains_picks_the_column():
    table = scored(("2p", [0.5, 0.7], [0.1]))
    assert separation(table, chains="mean")["mean_true"].iloc[0] == pytest.approx(0.3)


@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_auc_is_the_mann_whitney_statistic(true, false):
    expected = stats.mannwhitneyu(true, false, method="asymptotic").statistic
    auc = roc_auc(np.array(true), np.array(false))
    assert auc == pytest.approx(expected / (len(true) * len(false)))
    assert roc_auc(np.array(false), np.array(true)) == pytest.approx(1 - auc)


def test_shuffled_labels_do_not_part():
    rng = np.random.default_rng(0)
    values = 10.0 ** rng.uniform(-6, 0, size=4000)
    row = separation(scored(("x", values[:2000], values[2000:]))).iloc[0]
    assert row["roc_auc"] == pytest.approx(0.5, abs=0.03)
    assert row["cohens_d"] == pytest.approx(0, abs=0.07)


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
        assert np.isnan(row["low_true"]) == (len(true) < 2)
    assert mean_interval(np.full(3, 0.1), 0.95) == (
        pytest.approx(0.1),
        pytest.approx(0.1),
        pytest.approx(0.1),
    )


def test_nothing_at_all():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = separation(scored())
    assert table["group"].tolist() == ["all"]
    assert table[["n_true", "n_false"]].to_numpy().tolist() == [[0, 0]]
    assert table[[*FIGURES, "roc_auc", "cohens_d"]].isna().all().all()


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


def test_cohens_d_of_two_values_each():
    assert cohens_d(np.array([1.0, 3.0]), np.array([0.0, 2.0])) == pytest.approx(1 / np.sqrt(2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measure": "relic"}, "did you mean 'relik'"),
        ({"chains": "worst"}, "unknown choice of chains 'worst'"),
        ({"confidence": 95}, "confidence between 0 and 1; found 95"),
        ({"order": "random"}, "unknown order 'random'"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(KgdashError, match=message):
        separation(scored(("x", [0.1], [0.2])), **arguments)
