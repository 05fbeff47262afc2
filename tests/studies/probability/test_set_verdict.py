"""What is said of answer sets follows from their figures."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kgdash.studies.probability.answer_sets import AnswerSets, AnswerSetSetting
from kgdash.studies.probability.conformal import conformal_quantile
from kgdash.studies.probability.query_groups import GROUPINGS
from kgdash.studies.probability.set_verdict import GROUP_NAMES, comparison_verdict, coverage_verdict


def sets_of(covered, valid):
    queries = pd.DataFrame({"covered": covered, "size": np.int32(12)})
    thresholds = pd.DataFrame({"group": [-1], "queries": [valid], "most": [0.5]})
    return AnswerSets(SimpleNamespace(), AnswerSetSetting(0.1), thresholds, queries)


@pytest.mark.parametrize(
    ("covered", "said"),
    [(500, "less often than the 90% promised"), (905, "as promised"), (990, "more often than")],
)
def test_no_word_stronger_than_the_interval(covered, said):
    text = coverage_verdict(sets_of(np.arange(1000) < covered, 1000))
    assert said in text
    assert f"**{covered / 1000:.1%}** of 1,000 test queries" in text
    assert "**12.0** candidates" in text


def test_what_a_threshold_of_few_queries_covers_is_not_told_of_all():
    """Taking the threshold as exact, "less" or "more often" was said in 19 of 30 such draws."""
    rng, told = np.random.default_rng(0), 0
    for _ in range(100):
        valid, test = (np.tile(rng.random(n), 2) for n in (50, 500))  # both of a triple are alike
        told += "than the 90%" in coverage_verdict(
            sets_of(test <= conformal_quantile(valid, 0.1), 100)
        )
    assert told <= 10


def test_as_promised_is_said_of_enough_queries_whose_interval_holds_the_promise():
    """It was said of 3 of 4 queries, and would be of 84.0% (81.6% to 86.2%)."""
    assert ", too few to hold against the 90% promised;" in coverage_verdict(
        sets_of(np.arange(4) < 3, 24)
    )
    text = coverage_verdict(sets_of(np.arange(1000) < 840, 100))
    assert ", no further from the 90% promised than chance in validation brings it;" in text


@pytest.mark.parametrize(
    ("gap", "said"), [(0.01, "mends"), (0.039, "hardly changes"), (0.09, "worsens")]
)
def test_what_groups_mend(gap, said):
    columns = {"condition": ["none", "relik"], "covgap": [0.04, gap], "mean_size": [10.0, 13.0]}
    text = comparison_verdict(pd.DataFrame(columns), "relik")
    assert f"**{said}**" in text
    assert "1.30 times" in text


def test_every_grouping_has_a_name():
    assert GROUP_NAMES.keys() == GROUPINGS.keys()
