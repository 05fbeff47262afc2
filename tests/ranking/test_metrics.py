"""Metrics by numbers.md#2-metrics: PyKEEN's own values for the bundled runs, and what must hold for
any ranks."""

import math
import time

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.ranking import metrics as module
from kgdash.ranking.metric_lookup import metric_records
from kgdash.ranking.metrics import mean_reciprocal_rank, metrics, pooled, tie_summary
from kgdash.runs.bundled import DEMO, bundled_names
from kgdash.runs.description import describe_run
from tests.support.checks import check_values, pykeen_values
from tests.support.endless import GaveUpError, give_up
from tests.support.fakes import FakeScorer, fake_run, make_graph
from tests.support.tiny_runs import MODELS


def table(optimistic, pessimistic=None, candidates=10, side="tail"):
    low = np.array(optimistic, dtype=np.int64)
    high = low if pessimistic is None else np.array(pessimistic, dtype=np.int64)
    return pd.DataFrame(
        {
            "side": side,
            "optimistic": low,
            "realistic": (low + high) / 2,
            "pessimistic": high,
            "candidates": np.broadcast_to(np.int64(candidates), low.shape),
        }
    )


def test_what_nobody_wants_ends_between_two_metrics(monkeypatch):
    """Eight pages' metrics went on in threads for a minute, with 200 MB each, and in line, too."""
    made = []

    def slow(ranks, candidates):
        made.append(1)
        time.sleep(0.01)
        return 1.0

    calculators = {str(number): slow for number in range(1000)}
    monkeypatch.setattr(module, "metric_calculators", lambda ks: calculators)
    with pytest.raises(GaveUpError):
        metrics(table([1, 2]), progress=give_up)
    assert 0 < len(made) < 1000


class TestAgainstPyKEEN:
    def test_the_six_models_are_bundled(self):
        assert set(MODELS) <= set(bundled_names())

    @pytest.mark.parametrize("name", MODELS)
    def test_all_values_of_its_evaluator(self, bundled, name):
        run = bundled(name)
        splits = run.graph.splits
        theirs = pykeen_values(run.scorer.model, splits["test"], [splits["train"], splits["valid"]])
        check_values(metrics(run.ranks()), theirs)

    @pytest.mark.parametrize("name", bundled_names())
    def test_recorded_evaluation_is_what_the_run_gives(self, bundled, name):
        run = bundled(name)
        found = metrics(run.ranks(), ks=(1, 3, 10)).values()
        recorded = run.training["evaluation"]
        assert {"inverse_harmonic_mean_rank", "hits_at_1", "hits_at_10"} <= set(recorded)
        assert {key: found[key] for key in recorded} == pytest.approx(recorded, abs=1e-6)
        assert describe_run(name, DEMO / name)["mrr"] == recorded["inverse_harmonic_mean_rank"]


class TestByHand:
    ranks = pd.concat([table([1, 2, 4], side="head"), table([1, 10], side="tail")])

    def test_values(self):
        values = metrics(self.ranks)
        assert set(values.sides) == {"head", "tail", "both"}
        head = values.values("head")
        assert head["inverse_harmonic_mean_rank"] == pytest.approx((1 + 1 / 2 + 1 / 4) / 3)
        assert head["arithmetic_mean_rank"] == pytest.approx(7 / 3)
        assert head["geometric_mean_rank"] == pytest.approx(2)
        assert [head[f"hits_at_{k}"] for k in (1, 3, 5)] == pytest.approx([1 / 3, 2 / 3, 1])
        assert head["count"] == 3
        # E[MR] = (10 + 1) / 2; AMRI = 1 − 2 Σ(r − 1) / Σ(N − 1)
        assert head["adjusted_arithmetic_mean_rank"] == pytest.approx(7 / 3 / 5.5)
        assert head["adjusted_arithmetic_mean_rank_index"] == pytest.approx(1 - 2 * 4 / 27)

    def test_both_pools_ranks_and_does_not_average_means(self):
        values = metrics(self.ranks)
        both = values.value("mrr")
        assert both == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 + 1 / 10) / 5)
        means = [values.value("mrr", side) for side in ("head", "tail")]
        assert both != pytest.approx(np.mean(means))
        assert values.value("count") == 5

    def test_rank_types_are_their_own_columns(self):
        values = metrics(table([1, 1], [1, 3]))
        kinds = ["optimistic", "realistic", "pessimistic"]
        found = [values.value("mrr", "tail", kind) for kind in kinds]
        assert list(values.nested()["tail"]) == kinds
        assert found == pytest.approx([1, (1 + 1 / 2) / 2, (1 + 1 / 3) / 2])

    def test_relation_side_stands_alone(self):
        values = metrics(pd.concat([self.ranks, table([3], side="relation", candidates=4)]))
        assert values.sides == ["head", "tail", "both", "relation"]
        assert values.value("mr", "relation") == 3
        assert values.value("count") == 5

    def test_one_side_has_no_both(self):
        assert metrics(table([1])).sides == ["tail"]

    def test_a_single_candidate_is_no_failure(self):
        values = metrics(table([1], candidates=1)).values("tail", "realistic")
        assert values["inverse_harmonic_mean_rank"] == 1

    def test_mean_reciprocal_rank(self):
        assert mean_reciprocal_rank(self.ranks, ["head"]) == pytest.approx(7 / 12)
        assert math.isnan(mean_reciprocal_rank(self.ranks, ["relation"]))
        worst = mean_reciprocal_rank(table([1], [4]), ["tail"], "pessimistic")
        assert worst == pytest.approx(1 / 4)


class TestRandomScorer:
    def test_uniform_ranks_have_amri_zero(self):
        for size in (2, 7, 50):
            values = metrics(table(np.arange(1, size + 1), candidates=size)).values(
                "tail", "realistic"
            )
            assert values["adjusted_arithmetic_mean_rank_index"] == pytest.approx(0, abs=1e-7)
            assert values["adjusted_arithmetic_mean_rank"] == pytest.approx(1)

    def test_constant_scores_have_amri_zero(self):
        graph = make_graph([(0, 0, 1), (1, 0, 2)], [], [(2, 0, 3), (0, 0, 2)])
        values = metrics(fake_run(graph, FakeScorer(np.zeros((4, 1, 4)))).ranks())
        for side in ("head", "tail", "both"):
            found = values.value("amri", side)
            assert found == pytest.approx(0, abs=1e-7)


class TestRefusals:
    @pytest.mark.parametrize("ks", [(0,), (1, -3), (1.5,), ()])
    def test_ks(self, ks):
        with pytest.raises(KgdashError, match="k of Hits@k to be whole numbers ≥ 1"):
            metrics(table([1]), ks)

    def test_no_ranks(self):
        with pytest.raises(KgdashError, match="no ranks to take metrics of"):
            metrics(table([]))
        with pytest.raises(KgdashError, match="no ranks"):
            list(pooled(table([])))


def test_any_k_in_any_sequence():
    values = metrics(table([1, 20, 60]), ks=[50, 50, 2]).values("tail", "realistic")
    assert [key for key in values if key.startswith("hits_at")] == ["hits_at_2", "hits_at_50"]
    assert values["hits_at_50"] == pytest.approx(2 / 3)


def test_the_table_refuses_what_it_does_not_have():
    values = metrics(table([1, 2]), ks=(3,))
    assert values.value("hits@3", "tail") == 1
    for arguments, message in (
        (("mrx", "tail"), "unknown metric 'mrx'"),
        (("hits@10", "tail"), "unknown metric 'hits@10' in these metrics"),
        (("mrr",), r"unknown side 'both' in these metrics \(tail\)"),
        (("mrr", "tail", "best"), "unknown rank type 'best'"),
    ):
        with pytest.raises(KgdashError, match=message):
            values.value(*arguments)


class TestTies:
    def test_by_hand(self):
        # Tie groups of 1, 3 and 2 scores.
        found = tie_summary(table([1, 2, 1], [1, 4, 2]))
        assert found["tied_share"] == pytest.approx(2 / 3)
        assert found["largest_tie"] == 3
        assert found["mrr_gap"] == pytest.approx((1 + 1 / 2 + 1) / 3 - (1 + 1 / 4 + 1 / 2) / 3)

    def test_none(self):
        assert tie_summary(table([3, 1])) == {"tied_share": 0, "largest_tie": 1, "mrr_gap": 0}
        assert tie_summary(table([])) == {"tied_share": 0, "largest_tie": 1, "mrr_gap": 0}


def test_every_metric_that_is_computed_has_a_record():
    assert list(metric_records()) == list(metrics(table([1, 2])).values("tail", "realistic"))
