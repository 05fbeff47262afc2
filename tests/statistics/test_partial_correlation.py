"""Partial correlations: closed form, inverse correlation matrix, regression, SciPy, and chance."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from kgdash.errors import KgdashError
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.multiple_testing import holm
from kgdash.statistics.partial_correlation import (
    COEFFICIENTS,
    Controls,
    partial_correlations,
    partial_table,
)
from tests.support.checks import check_interval


def data(rows=60, controls=2, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, controls))
    mixed = rng.normal(size=(controls, 2))
    x, y = (z @ mixed + rng.normal(size=(rows, 2))).T
    return np.exp(x), y, {f"z{i}": column for i, column in enumerate(z.T)}


def one(x, y, controls, coefficient="pearson", **choices):
    taken = Controls(controls, {"all": tuple(controls)})
    return partial_correlations(x, y, taken, coefficient, Bootstrap(**choices))[0]


def ranked(coefficient, *columns):
    return [stats.rankdata(c) if coefficient == "spearman" else c for c in columns]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_controls_are_the_inverse_correlation_matrix(coefficient, count):
    x, y, controls = data(controls=count)
    found = one(x, y, controls, coefficient, resamples=1)
    inverse = np.linalg.inv(np.corrcoef(ranked(coefficient, x, y, *controls.values())))
    assert found.value == pytest.approx(-inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1]))
    assert (found.rows, found.freedom) == (60, 58 - count)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_the_p_value_is_that_of_the_regression(coefficient):
    """The t of x in the regression of y on x and the controls is that of the partial r."""
    import statsmodels.api as sm

    x, y, controls = data(rows=25, controls=2, seed=3)
    columns = ranked(coefficient, x, y, *controls.values())
    design = sm.add_constant(np.column_stack([columns[0], *columns[2:]]))
    assert one(x, y, controls, coefficient, resamples=1).p == pytest.approx(
        sm.OLS(columns[1], design).fit().pvalues[1]
    )


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_without_controls_it_is_scipy_s(coefficient):
    x, y, _ = data()
    found = one(x, y, {}, coefficient)
    function = stats.pearsonr if coefficient == "pearson" else stats.spearmanr
    expected = function(x, y)
    assert found.value == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    check_interval(
        [found.low, found.high], lambda a, b: function(a, b).statistic, x, y, within=0.15
    )


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_resamples_are_regressions_anew(coefficient):
    """One resample, made by hand from the same draw, is the whole interval."""
    x, y, controls = data(rows=12)
    x = np.round(x)  # ties
    found = one(x, y, controls, coefficient, seed=7, resamples=1)
    at = np.random.default_rng(7).integers(0, 12, size=12)
    again = one(
        x[at], y[at], {n: c[at] for n, c in controls.items()}, coefficient, resamples=1
    ).value
    assert [found.low, found.high] == pytest.approx([again, again])


def test_sets_share_the_resamples_and_nothing_else():
    x, y, controls = data()
    sets = [(), ("z1",), ("z0", "z1")]
    named = {" and ".join(names): names for names in sets}
    together = partial_correlations(
        x, y, Controls(controls, named), bootstrap=Bootstrap(resamples=50)
    )
    for names, found in zip(sets, together, strict=True):
        alone = one(x, y, {n: controls[n] for n in names}, "spearman", resamples=50)
        assert list(found) == pytest.approx(list(alone))
    assert [found.freedom for found in together] == [58, 57, 56]


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(COEFFICIENTS))
def test_units_and_signs(seed, coefficient):
    x, y, controls = data(rows=9, controls=1, seed=seed)
    found = one(x, y, controls, coefficient, resamples=5)
    assume(not np.isnan(found.value))  # nine ranks may be those of the control: nothing is left
    assert -1 <= found.value <= 1
    other = one(7 - 3 * x, 1e6 * y, {"z0": -2 * controls["z0"]}, coefficient, resamples=5)
    assert other.value == pytest.approx(-found.value, abs=1e-9)
    # No resample of nine rows need have enough that differ: then there is no interval, for either.
    assert [-other.high, -other.low] == pytest.approx(
        [found.low, found.high], abs=1e-9, nan_ok=True
    )


def test_useless_controls_change_nothing():
    x, y, controls = data(controls=1)
    plain = one(x, y, controls, resamples=20)
    doubled = one(
        x, y, {**controls, "same": 2 * controls["z0"] + 1, "constant": np.ones(60)}, resamples=20
    )
    assert list(doubled) == pytest.approx(list(plain))
    assert doubled.freedom == 57


def test_what_is_explained_away_has_no_correlation():
    x, y, controls = data(controls=1)
    for first in (np.ones(60), 3 * controls["z0"]):
        found = one(first, y, controls)
        assert np.isnan(found[:4]).all()
        assert (found.rows, found.freedom) == (60, 57)
    assert np.isnan(one(x[:3], y[:3], {"z0": controls["z0"][:3]}).value)
    assert one(x[:0], y[:0], {"z0": y[:0]})[4:] == (0, 0)
    y[5] = np.nan
    assert one(x, y, controls, resamples=1).rows == 59


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_nothing_remains_where_there_is_nothing(coefficient):
    """Where x and y hang together by the control alone, p-values are uniform (at 0.1%)."""
    rng = np.random.default_rng(11)
    partial, plain = [], []
    for _ in range(150):
        z = rng.normal(size=30)
        x, y = z + rng.normal(size=30), z + rng.normal(size=30)
        partial.append(one(x, y, {"z": z}, coefficient, resamples=1).p)
        plain.append(one(x, y, {}, coefficient, resamples=1).p)
    assert stats.kstest(partial, "uniform").pvalue > 0.001
    assert stats.kstest(plain, "uniform").pvalue < 1e-6


def test_what_is_explained_in_full_leaves_no_chance():
    found = one(np.array([1.0, 2.0]), np.array([3.0, 5.0]), {}, resamples=1)
    assert np.isnan(found.value)
    for n in range(3, 9):
        found = one(np.arange(n, dtype=float), -2.0 * np.arange(n), {}, resamples=1)
        assert found.value == pytest.approx(-1)
        assert found.p == pytest.approx(0, abs=1e-6)


def test_beside_x_that_is_dealt_anew():
    x, y, controls = data(rows=20)
    y[[2, 7]] = np.nan
    taken = Controls(controls, {"none": (), "one": ("z1",), "all": ("z0", "z1")})
    rng = np.random.default_rng(5)
    drawn = rng.permuted(np.tile(x, (33, 1)), axis=1)
    ways = [[drawn[:9]], [drawn[9:29], drawn[29:]]]
    table = partial_table(x, y, taken, Bootstrap(resamples=2), dealt=ways)
    for row in table.to_dict("records"):
        mine = Controls(controls, {"mine": taken.sets[row["controls"]]})
        p_values = []
        for way in ways:
            values = [
                partial_correlations(each, y, mine, row["coefficient"], Bootstrap(resamples=1))[0]
                for each in np.concatenate(way)
            ]
            reached = sum(abs(found.value) >= abs(row["value"]) for found in values)
            p_values.append((1 + reached) / (1 + len(values)))
        assert row["p_permutation"] == pytest.approx(max(p_values))
    np.testing.assert_array_equal(table["p_holm"], holm(table["p_permutation"].to_numpy()))
    plain = partial_table(x, y, taken, Bootstrap(resamples=2))
    assert plain["p_permutation"].isna().all()
    np.testing.assert_array_equal(plain["p_holm"], holm(plain["p"].to_numpy()))


def test_refusals():
    x, y, controls = data(rows=5)
    with pytest.raises(KgdashError, match="unknown coefficient 'kendall'"):
        one(x, y, controls, "kendall")
    with pytest.raises(KgdashError, match="unknown control 'degree'"):
        Controls(controls, {"degree": ("degree",)})
    with pytest.raises(KgdashError, match=r"one length; found \[4, 5, 5, 5\] rows"):
        one(x[:4], y, controls)
    with pytest.raises(KgdashError, match="level between 0 and 1"):
        one(x, y, controls, level=1)


def test_a_column_that_differs_in_its_last_bit_alone_is_the_same_everywhere():
    same = np.array([(1 / 2 + 1 / 12) / 2, (1 / 3 + 1 / 4) / 2] * 10)
    assert np.ptp(same) > 0
    for coefficient in ("spearman", "pearson"):
        (found,) = partial_correlations(
            np.linspace(0.1, 0.9, 20), same, Controls({}, {"none": ()}), coefficient
        )
        assert np.isnan(found.value)
