"""The records of metrics: each against PyKEEN's class and against ranks drawn at random."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pykeen.metrics.ranking import rank_based_metric_resolver

from kgdash.errors import KgdashError
from kgdash.ranking import metric_lookup as module
from kgdash.ranking.known_metrics import METRICS
from kgdash.ranking.metric_lookup import (
    DEFAULT_KS,
    find_metric,
    leading_first,
    metric_calculators,
    metric_records,
)

RECORDS, CALCULATORS = metric_records((1, 7, 10)), metric_calculators((1, 7, 10))
SPREAD = {"variance", "standard_deviation", "median_absolute_deviation", "count"}


def value(key, ranks, candidates):
    return float(CALCULATORS[key](np.array(ranks), np.array(candidates)))


class TestEveryMetric:
    def test_it_says_what_pykeen_says(self):
        for key, record in RECORDS.items():
            theirs = CALCULATORS[key]
            limits, values = theirs.value_range, record.values
            low, high = limits.lower, limits.upper
            assert record.increasing == theirs.increasing, key
            assert values.left == (-np.inf if low is None else low), key
            assert values.right == (np.inf if high is None else high), key
            assert values.closed_left == (low is not None and limits.lower_inclusive), key
            closed = high not in (None, np.inf) and limits.upper_inclusive
            assert values.closed_right == closed, key

    def test_it_is_found_by_every_name(self):
        for key, record in RECORDS.items():
            for name in (key, *record.synonyms):
                for written in (name, name.upper(), name.replace("_", " "), f" {name} "):
                    assert find_metric(written).key == key
                assert find_metric(name.replace("_at_", "@")).key == key

    def test_it_describes_itself(self):
        for key, record in RECORDS.items():
            assert record.key == key
            assert record.label, key
            assert record.formula, key
            assert record.use.endswith("."), key
            for other in record.adjusted_by:
                assert not RECORDS[other].depends_on_num_entities, key
                assert record.depends_on_num_entities, key

    @given(st.lists(st.integers(1, 60), min_size=2, max_size=20), st.integers(60, 90))
    def test_values_are_in_its_range(self, ranks, candidates):
        for key, record in RECORDS.items():
            found = value(key, ranks, [candidates] * len(ranks))
            rounded = np.round(found, 12)  # AMRI of one perfect rank may be 1 + 2e-16
            assert np.isnan(found) or rounded in record.values, key

    def test_better_ranks_move_it_its_way(self):
        """A model whose ranks are better everywhere must not look worse by any arrow."""
        for seed in range(5):
            rng = np.random.default_rng(seed)
            worse = rng.integers(20, 60, size=50)
            better = worse - rng.integers(5, 20, size=50)
            for key in RECORDS.keys() - SPREAD:
                good, bad = (value(key, ranks, [100] * 50) for ranks in (better, worse))
                first, second = (good, bad) if RECORDS[key].increasing else (bad, good)
                assert np.isnan(good) or first >= second, (key, seed)

    def test_its_ratio_gives_its_value(self):
        ranks, candidates = np.array([1, 3, 8, 30]), np.array([40, 41, 40, 35])
        for key, record in RECORDS.items():
            if (ratio := record.ratio) is not None:
                sums = [p(ranks, candidates).sum() for p in (ratio.numerator, ratio.denominator)]
                expected = value(key, ranks, candidates)
                assert ratio.transform(sums[0] / sums[1]) == pytest.approx(expected), key


def test_what_papers_report_comes_first():
    keys = list(metric_records((1, 10)))
    ordered = leading_first(keys)
    assert sorted(ordered) == sorted(keys)
    assert [find_metric(key).short for key in ordered[:5]] == [
        "MRR",
        "Hits@1",
        "Hits@10",
        "MR",
        "AMRI",
    ]
    assert leading_first(["count", "hits_at_3"]) == ["hits_at_3", "count"]


def test_no_two_metrics_share_a_name_or_a_label():
    names = [name for record in METRICS.values() for name in (record.key, *record.synonyms)]
    assert len(set(names)) == len(names)
    assert not [name for name in names if name != name.casefold()]
    records = metric_records()
    assert len({record.label for record in records.values()}) == len(records)
    shorts = [record.short for record in records.values() if record.short]
    assert len(set(shorts)) == len(shorts)


def test_pykeens_synonyms_are_ours():
    for metric in rank_based_metric_resolver:
        for name in metric.synonyms:
            name = re.sub("(@|_at_)k?$", "@10", name)  # some wait for a k
            assert find_metric(name).key in (metric().key, "hits_at_10")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("mrr", "inverse_harmonic_mean_rank"),
        ("MRR", "inverse_harmonic_mean_rank"),
        ("Mean reciprocal rank", "inverse_harmonic_mean_rank"),
        ("mr", "arithmetic_mean_rank"),
        ("amr", "adjusted_arithmetic_mean_rank"),
        ("amri", "adjusted_arithmetic_mean_rank_index"),
        ("igmr", "inverse_geometric_mean_rank"),
        ("hits@10", "hits_at_10"),
        ("Hits@1", "hits_at_1"),
        ("h@137", "hits_at_137"),
        ("adjusted hits@10", "adjusted_hits_at_k"),
    ],
)
def test_names_as_people_write_them(name, key):
    assert find_metric(name).key == key


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mrrr", r"unknown metric 'mrrr' in kgdash .*did you mean 'mrr'"),
        ("hits@10%", "unknown metric 'hits@10%'"),
        ("hits@" + "1" * 5000, "unknown metric 'hits@111"),
        ("", "unknown metric ''"),
        ("hits@0", r"whole numbers ≥ 1; found \[0\]"),
    ],
)
def test_unknown_names_are_refused(name, message):
    with pytest.raises(KgdashError, match=message):
        find_metric(name)


def test_a_metric_of_pykeens_without_a_record_is_described_all_the_same(monkeypatch):
    limits = SimpleNamespace(lower=None, upper=3, lower_inclusive=True, upper_inclusive=True)
    new = SimpleNamespace(key="trimmed_mean_rank", increasing=False, value_range=limits)
    with monkeypatch.context() as patch:
        patch.setattr(module, "metric_calculators", lambda ks=DEFAULT_KS: {new.key: new})
        metric_records.cache_clear()
        found = find_metric("Trimmed mean rank")
    metric_records.cache_clear()
    assert (found.label, found.title) == ("Trimmed mean rank", "Trimmed mean rank ↓")
    assert found.value_range == "(−∞, 3]"
    assert found.ratio is None


@pytest.mark.parametrize(
    ("key", "label", "arrow", "value_range", "depends"),
    [
        ("inverse_harmonic_mean_rank", "Mean reciprocal rank (MRR)", "↑", "(0, 1]", True),
        ("arithmetic_mean_rank", "Mean rank (MR)", "↓", "[1, ∞)", True),
        ("hits_at_10", "Hits@10", "↑", "[0, 1]", True),
        (
            "adjusted_arithmetic_mean_rank_index",
            "Adjusted mean rank index (AMRI)",
            "↑",
            "[−1, 1]",
            False,
        ),
        ("z_hits_at_k", "Hits@10, z-score", "↑", "(−∞, ∞)", False),
        ("count", "Count", "", "[0, ∞)", False),
    ],
)
def test_directions_and_ranges(key, label, arrow, value_range, depends):
    found = metric_records()[key]
    assert (found.label, found.arrow, found.value_range) == (label, arrow, value_range)
    assert found.depends_on_num_entities == depends
