"""Local ReliK beside local MRR by numbers.md#6-correlation-study: figures recomputed from the run's
own tables."""

import math

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.files import row_table
from kgdash.graph.subgraph import neighbourhood
from kgdash.ranking import relik_table
from kgdash.studies.reliability.local_comparison import compare, compare_steps, summary
from tests.support.checks import check_progress
from tests.support.fakes import FakeScorer, fake_run, make_graph, random_scorer

#: 0, 1, 2 are close; 3 – 4 are apart and hold no test triple
GRAPH = make_graph(
    [(0, 0, 1), (1, 1, 2), (3, 0, 4), (2, 1, 5)],
    [(2, 0, 0)],
    [(0, 1, 2), (1, 0, 0), (5, 0, 1)],
    entities=7,
    relations=2,
)


@pytest.fixture
def run():
    return fake_run(GRAPH, random_scorer(7, 2, seed=3, inverse=True))


def inside(size=3):
    found = neighbourhood(GRAPH, 0, size=size, hops=1)
    assert sorted(found.entities) == [0, 1, 2]
    return found


def test_figures_of_the_test_triples(run):
    found = compare(run, inside())
    rows = found.triples
    assert rows[["head", "relation", "tail"]].to_numpy().tolist() == [
        [0, 0, 1],
        [0, 1, 2],
        [1, 0, 0],
        [1, 1, 2],
        [2, 0, 0],
    ]
    assert rows["split"].tolist() == ["train", "test", "test", "train", "valid"]
    relik = run.relik(triples=rows[["head", "relation", "tail"]].to_numpy())
    assert rows["relik"].tolist() == relik["relik"].tolist()
    assert rows["relik_head_rank"].tolist() == relik["head_rank"].tolist()
    assert found.means["relik"] == (pytest.approx(relik["relik"].mean()), 5)

    ranks = run.ranks(triples=np.array([(0, 1, 2), (1, 0, 0)]), sides=("head", "tail", "relation"))
    for side in ("head", "tail", "relation"):
        own = ranks.loc[ranks["side"] == side, "realistic"]
        assert found.means[f"{side}_mrr"] == (pytest.approx((1 / own).mean()), 2)
        assert rows.loc[rows["split"] == "test", f"{side}_rank"].tolist() == own.tolist()
        assert rows.loc[rows["split"] != "test", f"{side}_rank"].isna().all()
    pooled = ranks.loc[ranks["side"] != "relation", "realistic"]
    assert found.means["both_mrr"] == (pytest.approx((1 / pooled).mean()), 4)
    first = rows.loc[1]
    expected = 0.5 * (1 / first["head_rank"] + 1 / first["tail_rank"])
    assert first["reciprocal_rank"] == pytest.approx(expected)


def test_all_triples_on_request(run):
    found = compare(run, inside(), evaluated="all")
    assert found.evaluated == "all"
    assert found.means["tail_mrr"].n == 5
    assert found.means["both_mrr"].n == 10
    assert found.triples["tail_rank"].notna().all()


def test_candidates_are_all_entities_not_only_those_inside(run):
    outside = compare(run, inside()).triples["tail_rank"].max()
    run.scorer.tails[:, :, 6] = 99.0  # an entity outside beats every tail
    beaten = compare(fake_run(GRAPH, run.scorer), inside()).triples["tail_rank"]
    assert beaten.min() >= 2
    assert beaten.max() >= outside


@pytest.mark.parametrize(("filter", "rank"), [("train+valid+test", 3.5), ("none", 4.0)])
def test_ranks_are_realistic_and_filtered_as_asked(filter, rank):
    """All scores tie. For (?, r0, e0) there are 7 candidates, of which (e2, r0, e0) is known."""
    run = fake_run(GRAPH, FakeScorer(np.zeros((7, 2, 7))))
    rows = compare(run, inside(), filter=filter).triples.set_index(["head", "relation", "tail"])
    assert rows.loc[(1, 0, 0), "head_rank"] == rank


def test_no_test_triple_inside(run):
    found = compare(run, neighbourhood(GRAPH, 3, size=10))
    assert found.means["relik"].n == 1
    for side in ("head", "tail", "both", "relation"):
        value, count = found.means[f"{side}_mrr"]
        assert math.isnan(value)
        assert count == 0


def test_no_triple_inside(run):
    found = compare(run, neighbourhood(GRAPH, 6))
    assert len(found.triples) == 0
    assert all(math.isnan(value) and count == 0 for value, count in found.means.values())
    assert "relik" in found.triples


def test_sampled_figures_are_the_geometric_middle_of_an_interval(run):
    part = inside()
    found = compare(run, part, method="sampled")
    table = run.relik(triples=part.triples(), method="sampled")
    low, middle, high = (found.means[key].value for key in ("relik_low", "relik", "relik_high"))
    assert [low, high] == [table["relik_low"].mean(), table["relik_high"].mean()]
    assert middle == pytest.approx((low * high) ** 0.5)
    ends = table["relik_low"] * table["relik_high"]
    assert found.triples["relik"].to_numpy() == pytest.approx(ends.to_numpy() ** 0.5)
    assert "relik_low" not in compare(run, part).means


class TestSteps:
    """While ReliK is counted, and when it is, with the same ranks."""

    rng = np.random.default_rng(0)
    rows = np.unique(rng.integers(0, (90, 3, 90), (500, 3)), axis=0)
    graph = make_graph(rows[:450], (), rows[450:], entities=90, relations=3)

    @pytest.fixture
    def run(self, monkeypatch):
        monkeypatch.setattr(relik_table, "_LEAST", 90 * 3 * 70)  # 70 of some 180 anchors
        monkeypatch.setattr(row_table, "_LEAST", 1e-9)
        monkeypatch.setattr(row_table, "_TIMES", 0)
        return fake_run(self.graph, random_scorer(90, 3, seed=3))

    @pytest.fixture
    def part(self):
        return neighbourhood(self.graph, 0, size=90, hops=3)

    @pytest.mark.parametrize("evaluated", ["test", "all"])
    def test_the_last_is_what_compare_says(self, run, part, evaluated):
        *before, last = compare_steps(run, part, evaluated)
        expected = compare(run, part, evaluated)
        pd.testing.assert_frame_equal(last.triples, expected.triples)
        assert (last.means, last.method, last.share) == (expected.means, "exact", 1)
        assert len(before) >= 2
        for step in before:
            assert (step.method, step.evaluated) == ("growing", evaluated)
            there = step.triples["relik"].notna()
            assert 0 < there.sum() < len(there)
            values = last.triples["relik"][there]
            assert step.triples["relik"][there].tolist() == values.tolist()
            for name in ("tail_mrr", "relation_mrr"):
                assert step.means[name] == last.means[name]
            ends = [step.means[name].value for name in ("relik_low", "relik", "relik_high")]
            assert ends == sorted(ends)
            assert step.means["relik"].n == there.sum()
        shares = [step.share for step in before]
        assert shares == sorted(shares)

    def test_what_is_counted_comes_alone(self, run, part):
        *_, last = compare_steps(run, part)
        run.scorer.asked.clear()
        (again,) = compare_steps(run, part)
        pd.testing.assert_frame_equal(again.triples, last.triples)
        assert again.means == last.means
        assert run.scorer.asked == []

    def test_stopped_it_goes_on_where_it_was(self, run, part):
        steps = compare_steps(run, part)
        first = next(steps)
        steps.close()
        second = next(compare_steps(run, part))
        assert second.triples["relik"].notna().sum() >= first.triples["relik"].notna().sum()
        assert run.exact_tables.relik.missing(run.graph.positions(part.triples())).entity.size

    @pytest.mark.parametrize("method", ["sampled", "lower-bound"])
    def test_another_method_is_one_step(self, run, part, method):
        (only,) = compare_steps(run, part, method=method)
        assert only.method == method
        assert only.means == compare(run, part, method=method).means

    def test_no_triple_inside(self):
        small = fake_run(GRAPH, random_scorer(7, 2, seed=3))
        (only,) = compare_steps(small, neighbourhood(GRAPH, 6))
        assert (len(only.triples), only.method) == (0, "exact")

    def test_small_graph_is_one_step(self):
        small = fake_run(GRAPH, random_scorer(7, 2, seed=3))
        assert [step.method for step in compare_steps(small, inside())] == ["exact"]

    def test_progress_runs_to_all_and_may_stop_it(self, run, part):
        check_progress(lambda progress: list(compare_steps(run, part, progress=progress)))


def test_unknown_choice(run):
    with pytest.raises(KgdashError, match=r"evaluated triples 'tests'.*did you mean 'test'"):
        compare(run, inside(), evaluated="tests")


def test_summary_names_things(run):
    found = compare(run, inside())
    made = summary(found, run)
    assert made["seed_entity"] == "e0"
    assert made["entities"][0] == "e0"
    assert made["entity_labels"][0] == "E0"
    assert made["relik"] == found.means["relik"].value
    assert made["mrr"]["tail"] == found.means["tail_mrr"].value
    assert made["counts"]["both_mrr"] == 4
    assert made["triples"][0]["relation"] == "R0"
    assert made["parameters"] == {"size": 3, "hops": 1, "direction": "either"}


def test_bundled_run_agrees_with_its_global_tables(bundled):
    run = bundled("umls-transe")
    everything = neighbourhood(run.graph, 0, size=1000, hops=3)
    assert len(everything.entities) == run.graph.num_entities
    found = compare(run, everything, method="lower-bound")
    ranks = run.ranks()
    assert found.means["both_mrr"].n == len(ranks)
    assert found.means["both_mrr"].value == pytest.approx((1 / ranks["realistic"]).mean())
