"""Sets cover what they promise: by simulation, and on a bundled run by counting."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from kgdash.errors import KgdashError
from kgdash.studies.probability.answer_scores import SCORES
from kgdash.studies.probability.answer_sets import (
    CONDITIONS,
    AnswerSetSetting,
    answer_sets,
    conformal_quantile,
    find_thresholds,
)


@pytest.mark.parametrize(
    ("n", "epsilon", "place"), [(9, 0.1, 9), (8, 0.1, None), (99, 0.05, 95), (19, 0.05, 19)]
)
def test_quantile(n, epsilon, place):
    values = np.random.default_rng(n).permutation(n) + 1.0
    assert conformal_quantile(values, epsilon) == (place if place else math.inf)


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.2])
def test_coverage_over_2000_exchangeable_draws(epsilon):
    rng, n, draws = np.random.default_rng(1), 57, 2000
    values = rng.exponential(size=(draws, n + 1))
    covered = sum(row[-1] <= conformal_quantile(row[:-1], epsilon) for row in values)
    exact = math.ceil((n + 1) * (1 - epsilon)) / (n + 1)
    low, high = binom.interval(0.9999, draws, exact)
    assert low <= covered <= high
    assert exact >= 1 - epsilon


def test_groups_of_their_own_and_pooled():
    setting = AnswerSetSetting(epsilon=0.2)
    assert setting.fewest == 10
    codes = np.repeat([0, 1, 2, -1], [12, 9, 3, 4])
    values = np.arange(28.0)
    table = find_thresholds(values, codes, setting).set_index("group")
    assert table["queries"].to_dict() == {-1: 16, 0: 12}
    assert table["most"][0] == conformal_quantile(values[:12], 0.2)
    assert table["most"][-1] == conformal_quantile(values[12:], 0.2)


def test_too_few_others_share_the_threshold_of_all():
    table = find_thresholds(
        np.arange(24.0), np.repeat([0, 1], [20, 4]), AnswerSetSetting(epsilon=0.2)
    )
    assert table.set_index("group")["queries"].to_dict() == {-1: 24, 0: 20}


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("groups", ["none", "relation"])
def test_on_a_bundled_run(bundled, score, groups):
    run = bundled("umls-complex")
    found = answer_sets(run, AnswerSetSetting(0.2, score, groups))
    about = found.summary()
    assert about["coverage"] == found.queries["covered"].mean()
    assert about["low"] <= about["coverage"] <= about["high"]
    assert about["coverage"] >= 0.75  # validation filters less than test, so that sets are wide
    assert (found.queries["size"][found.queries["covered"]] >= 1).all()
    assert found.queries["size"].max() <= run.graph.num_entities
    table = found.by_groups("relation")
    assert table["n"].sum() == len(found.queries)
    assert found.coverage_gap(table) == pytest.approx(np.abs(table["coverage"] - 0.8).mean())
    if score == "rank" and groups == "none":
        (most,) = found.thresholds["most"]
        ranks = run.ranks()
        expected = (ranks["realistic"] <= most).to_numpy()
        np.testing.assert_array_equal(found.queries["covered"], expected)


@pytest.mark.parametrize("groups", CONDITIONS)
def test_every_condition(bundled, groups):
    found = answer_sets(bundled("umls-complex"), AnswerSetSetting(0.2, "softmax", groups))
    assert found.thresholds["most"].notna().all()


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 0.0}, {"epsilon": 1.0}, {"score": "magic"}, {"groups": "colour"}]
)
def test_wrong_settings(wrong):
    with pytest.raises(KgdashError):
        AnswerSetSetting(**wrong)
