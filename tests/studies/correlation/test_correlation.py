"""The correlation study: against the figures of single subgraphs, SciPy, and chance."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from kgdash.errors import KgdashError
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.correlation_bootstrap import Resamples
from kgdash.statistics.multiple_testing import holm
from kgdash.studies.correlation.correlation import (
    correlation_studies,
    correlation_study,
    correlations,
    finite_pairs,
    regression_band,
)
from kgdash.studies.reliability.dealt_relik import dealt_means
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from kgdash.studies.reliability.subgraph_table import draw_subgraphs, score_subgraphs
from tests.support.checks import check_interval

FUNCTIONS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def figures(relik, **tasks):
    return pd.DataFrame({"relik": relik, **tasks})


def test_coefficients_are_scipy_s():
    rng = np.random.default_rng(0)
    x = rng.random(40)
    y = x + rng.normal(size=40) * 0.3
    y[3] = np.nan
    found = correlations(figures(x, tail_mrr=y), ["tail_mrr"]).set_index("coefficient")
    kept = np.isfinite(y)
    for name, function in FUNCTIONS.items():
        row, expected = found.loc[name], function(x[kept], y[kept])
        assert row["value"] == pytest.approx(expected.statistic)
        assert row["p"] == pytest.approx(expected.pvalue)
        assert row["low"] < row["value"] < row["high"]
        assert (row["subgraphs"], row["left_out"]) == (39, 1)
        check_interval(
            [row["low"], row["high"]],
            *(lambda a, b, f=function: f(a, b).statistic, x[kept], y[kept]),
            within=0.15,
        )


def test_two_subgraphs_have_no_coefficient():
    found = correlations(figures([0.1, 0.2], tail_mrr=[0.3, 0.5]), ["tail_mrr"])
    assert found[["value", "p", "low", "high"]].isna().all(axis=None)
    assert found["subgraphs"].tolist() == [2] * 3


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=9))
def test_coefficients_of_resamples_are_scipy_s(points):
    x, y = np.array(points, dtype=float).T
    resamples = Resamples(x, Bootstrap(resamples=5, seed=len(points)))
    for name, function in FUNCTIONS.items():
        for at, found in zip(resamples.drawn, resamples.coefficients(name, y), strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = function(x[at], y[at]).statistic
            assert found == pytest.approx(expected, nan_ok=True)


def test_perfect_and_constant():
    x = np.arange(1.0, 9)
    table = figures(x, tail_mrr=2 * x, head_mrr=np.ones(8))
    found = correlations(table, ["tail_mrr", "head_mrr"], bootstrap=Bootstrap(resamples=50))
    assert found["value"].tolist()[:3] == pytest.approx([1, 1, 1])
    assert found[["value", "p", "low", "high"]][3:].isna().all(axis=None)


def test_sizes(umls):
    sampling, evaluation = SubgraphSampling(12, 20, seed=4), SubgraphEvaluation(seed=4)
    bootstrap = Bootstrap(resamples=40, seed=4)
    tables, found = correlation_study(umls, [8, 20], sampling, evaluation, bootstrap)
    assert found["size"].tolist() == [8] * 51 + [20] * 51
    table = score_subgraphs(umls, draw_subgraphs(umls, sampling), evaluation)
    dealt = dealt_means(umls, draw_subgraphs(umls, sampling), evaluation, seed=4)
    expected = correlations(table, bootstrap=bootstrap, dealt=dealt)
    for whole, part in ((tables, table), (found, expected)):
        rows = whole[whole["size"] == 20].drop(columns="size").reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, part)
    assert tables["seed_entity"][:12].tolist() == tables["seed_entity"][12:].tolist()
    # A size that is said twice counted each subgraph twice, as if there were more.
    again = correlation_study(umls, [20, 20], sampling, evaluation, bootstrap)
    for twice, once in zip(again, (tables, found), strict=True):
        pd.testing.assert_frame_equal(twice, once[once["size"] == 20].reset_index(drop=True))


def test_several_runs_are_each_run_s_study(umls, bundled):
    runs = {"a": umls, "b": bundled("umls-transe")}
    options = ([10], SubgraphSampling(8), SubgraphEvaluation(), Bootstrap(resamples=20))
    whole = correlation_studies(runs, *options)
    for name, run in runs.items():
        for both, one in zip(whole, correlation_study(run, *options), strict=True):
            rows = both[both["run"] == name].drop(columns="run").reset_index(drop=True)
            pd.testing.assert_frame_equal(rows, one)
    seeds = [whole[0].loc[whole[0]["run"] == name, "walk_seed"].tolist() for name in runs]
    assert seeds[0] == seeds[1]


def test_corrected_for_the_number_of_tasks():
    rng = np.random.default_rng(1)
    tasks = {f"{side}_mrr": rng.random(12) for side in ("head", "tail", "both")}
    found = correlations(figures(rng.random(12), **tasks), bootstrap=Bootstrap(resamples=5))
    for _, rows in found.groupby("coefficient"):
        np.testing.assert_array_equal(rows["p_holm"], holm(rows["p"].to_numpy()))
        assert rows["p_permutation"].isna().all()


def test_beside_relik_that_is_dealt_anew():
    rng = np.random.default_rng(3)
    x, y = rng.random((2, 12)).round(1)
    tasks = {"tail_mrr": x + y, "head_mrr": np.where(y > 0.5, y, np.nan), "both_mrr": y}
    ways = [rng.random((40, 12)).round(1), rng.random((9, 12)).round(1)]
    found = correlations(figures(x, **tasks), bootstrap=Bootstrap(resamples=5), dealt=ways)
    for row in found.to_dict("records"):
        task = tasks[row["task"]]
        kept = np.isfinite(task)
        function = FUNCTIONS[row["coefficient"]]
        p_values = []
        for dealt in ways:
            values = np.array([function(each[kept], task[kept]).statistic for each in dealt])
            reached = (np.abs(values) >= abs(row["value"]) - 1e-12).sum()
            p_values.append((1 + reached) / (1 + len(dealt)))
        assert row["p_permutation"] == pytest.approx(max(p_values))
    for _, rows in found.groupby("coefficient"):
        np.testing.assert_array_equal(rows["p_holm"], holm(rows["p_permutation"].to_numpy()))


@pytest.mark.parametrize("log_relik", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-9])
def test_the_band_is_of_the_closed_form(log_relik, scale):
    rng = np.random.default_rng(2)
    x = 10 ** rng.uniform(-3, 0, 30) * scale
    y = rng.random(30)
    band = regression_band(figures(x, tail_mrr=y), "tail_mrr", 0.9, log_relik, points=7)
    assert band["relik"].iloc[[0, -1]].tolist() == pytest.approx([x.min(), x.max()])
    u = np.log10(x) if log_relik else x / scale
    grid = np.log10(band["relik"]) if log_relik else band["relik"] / scale
    line = stats.linregress(u, y)
    residual = y - line.intercept - line.slope * u
    spread = np.sqrt((residual**2).sum() / 28)
    leverage = 1 / 30 + (grid - u.mean()) ** 2 / ((u - u.mean()) ** 2).sum()
    half = stats.t.ppf(0.95, 28) * spread * np.sqrt(leverage)
    mean = line.intercept + line.slope * grid
    for column, expected in (("mean", mean), ("low", mean - half), ("high", mean + half)):
        assert band[column].to_numpy() == pytest.approx(expected.to_numpy())


def test_no_line_through_too_little():
    for relik in ([0.1, np.nan, 0.2], [0.3, 0.3, 0.3]):
        assert regression_band(figures(relik, tail_mrr=[0.1, 0.2, 0.4]), "tail_mrr").empty


def test_refusals():
    with pytest.raises(KgdashError, match="unknown task 'mrr'"):
        correlations(figures([1.0, 2.0], tail_mrr=[1.0, 2.0]), ["mrr"])
    for level in (95, 0):
        with pytest.raises(KgdashError, match=f"level between 0 and 1; found {level}"):
            correlations(figures([1.0, 2.0]), [], bootstrap=Bootstrap(level=level))
        with pytest.raises(KgdashError, match=f"level between 0 and 1; found {level}"):
            regression_band(figures([1.0], tail_mrr=[1.0]), "tail_mrr", level)
    assert correlations(figures([1.0, 2.0])).empty


def test_values_that_differ_in_their_last_bit_are_equal():
    """Means of 1/2 and 1/12, and of 1/3 and 1/4: one task, the same in all subgraphs."""
    same = [(1 / 2 + 1 / 12) / 2, (1 / 3 + 1 / 4) / 2] * 10
    assert same[0] != same[1]
    table = pd.DataFrame({"relik": np.linspace(0.1, 0.9, 20), "mrr": same})
    assert all(np.ptp(values) == 0 for values in finite_pairs(table, "mrr")[1:])
