"""Sampled ReliK by numbers.md#4-relik: the sample, the estimates, and what the interval
promises."""

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kgdash.errors import KgdashError
from kgdash.graph.known_triples import KnownTriples
from kgdash.ranking import relik_sampled as relik_sampled_module
from kgdash.ranking.relik import relik_values
from kgdash.ranking.relik_exact import relik_exact
from kgdash.ranking.relik_sampled import (
    draw_negatives,
    estimate,
    relik_sampled,
    scores_of,
)
from tests.support.fakes import FakeScorer, array, fake_run, make_graph, random_scorer, worlds

SAMPLED = ("sampled", "sampled-paper", "lower-bound")


def both(scorer, triples, known, samples, seed=0):
    """Return the counts of a sample and the exact values."""
    index = KnownTriples(array(known), scorer.num_entities, scorer.num_relations)
    counts = relik_sampled(scorer, array(triples), index, samples, seed)
    return counts, relik_values(relik_exact(scorer, array(triples), index))


def many(scorer, triples, known, samples, seeds):
    """Return the counts of many samples, one below the other, and the exact values."""
    index = KnownTriples(array(known), scorer.num_entities, scorer.num_relations)
    tables = [relik_sampled(scorer, array(triples), index, samples, seed) for seed in range(seeds)]
    exact = relik_values(relik_exact(scorer, array(triples), index))
    return pd.concat(tables, ignore_index=True), exact


class TestDraw:
    @given(st.data())
    @settings(max_examples=30)
    def test_distinct_and_never_known(self, data):
        size = data.draw(st.integers(1, 30))
        known = sorted(data.draw(st.sets(st.integers(0, size - 1))))
        samples = data.draw(st.integers(1, 40))
        rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
        drawn = draw_negatives(np.array(known, dtype=np.int64), size, samples, rng)
        assert len(drawn) == min(samples, size - len(known))
        assert len(set(drawn.tolist())) == len(drawn)
        assert set(drawn.tolist()) <= set(range(size)) - set(known)

    def test_all_subsets_are_equally_likely(self):
        known, size, rng = np.array([0, 3, 4, 8]), 11, np.random.default_rng(0)
        left = [n for n in range(size) if n not in known]
        subsets = {frozenset(s): 0 for s in combinations(left, 3)}
        for _ in range(50 * len(subsets)):
            subsets[frozenset(draw_negatives(known, size, 3, rng).tolist())] += 1
        assert len(subsets) == comb(7, 3)
        assert stats.chisquare(list(subsets.values())).pvalue > 1e-3

    def test_a_sample_of_all_is_all(self):
        rng = np.random.default_rng(0)
        assert draw_negatives(np.array([1, 2]), 5, 3, rng).tolist() == [0, 3, 4]
        assert len(draw_negatives(np.arange(5), 5, 3, rng)) == 0


@given(worlds(splits=1))
@settings(max_examples=20)
def test_a_sample_of_everything_is_exact(world):
    scorer, (known,), evaluated = world
    counts, exact = both(scorer, evaluated, known, samples=1000)
    for method in SAMPLED:
        values = estimate(counts, method)
        for column in ("relik", "relik_low", "relik_high"):
            assert values[column].tolist() == exact["relik"].tolist()
    for side in ("head", "tail"):
        assert (counts[f"{side}_drawn"] == counts[f"{side}_negatives"]).all()
        assert (counts[f"{side}_sampled"] == counts[f"{side}_population"]).all()
        assert (counts[f"{side}_better"] + 1 == exact[f"{side}_rank"]).all()


@pytest.mark.parametrize(("anchors", "batch"), [(1, 2**18), (2, 3), (100, 7)])
def test_blocks_change_nothing(monkeypatch, anchors, batch):
    scorer = random_scorer(8, 3, inverse=True)
    triples = np.random.default_rng(1).integers(0, (8, 3, 8), size=(25, 3))
    whole, _ = both(scorer, triples, triples[::2], samples=6)
    monkeypatch.setattr(relik_sampled_module, "_ANCHORS", anchors)
    monkeypatch.setattr(relik_sampled_module, "_BATCH", batch)
    blocks, _ = both(scorer, triples, triples[::2], samples=6)
    pd.testing.assert_frame_equal(blocks, whole)


def test_large_samples_are_of_few_anchors_at_once(monkeypatch):
    scorer = random_scorer(200, 8)
    triples = np.random.default_rng(1).integers(0, (200, 8, 200), size=(300, 3))
    whole, _ = both(scorer, triples, triples[:100], samples=1500)
    scored = []

    def noted(scorer, triples, *more):
        scored.append(len(triples))
        return scores_of(scorer, triples, *more)

    monkeypatch.setattr(relik_sampled_module, "scores_of", noted)
    monkeypatch.setenv("KGDASH_MEMORY", "64M")
    blocks, _ = both(scorer, triples, triples[:100], samples=1500)
    assert 50_000 < max(scored) <= 2**26 / 4 / 128
    pd.testing.assert_frame_equal(blocks, whole)


@given(worlds(splits=1), st.integers(1, 6), st.integers(0, 5))
@settings(max_examples=20)
def test_whatever_the_sample(world, samples, seed):
    scorer, (known,), evaluated = world
    counts, exact = both(scorer, evaluated, known, samples, seed)
    lowest = estimate(counts, "lower-bound")
    assert (lowest["relik"] <= exact["relik"]).all()
    # Some negative may be the triple itself; then it is not sampled against itself.
    facts = set(known)
    for side in ("head", "tail"):
        better, sampled, population, drawn, negatives = (
            counts[f"{side}_{name}"].to_numpy()
            for name in ("better", "sampled", "population", "drawn", "negatives")
        )
        assert (drawn == np.minimum(samples, negatives)).all()
        assert population.tolist() == [
            n - (x not in facts) for n, x in zip(negatives, evaluated, strict=True)
        ]
        assert ((better >= 0) & (better <= sampled)).all()
        assert ((sampled >= drawn - 1) & (sampled <= drawn) & (sampled <= population)).all()
        assert (better <= exact[f"{side}_rank"] - 1).all()
    for method in SAMPLED:
        values = estimate(counts, method)
        assert ((values["relik"] > 0) & (values["relik"] <= 1)).all()
        assert (values["relik_low"] <= values["relik_high"]).all()
    corrected = estimate(counts)
    assert (corrected["relik_low"] <= corrected["relik"]).all()
    assert (corrected["relik"] <= corrected["relik_high"]).all()


class TestEstimates:
    """One anchor on each side; the triple's rank is set by hand."""

    def world(self, beaten_by):
        # (0, 0, 0) is known; tails 1..20 of (0, 0) and heads 1..20 of (0, 0) are the negatives.
        scores = torch.zeros(21, 1, 21)
        scores[0, 0, 1 : 1 + beaten_by] = 1
        scores[1 : 1 + beaten_by, 0, 0] = 1
        scores[0, 0, 0] = 0.5
        return FakeScorer(scores), [(0, 0, 0)]

    def test_each_by_its_formula(self):
        counts, _ = both(*self.world(8), [(0, 0, 0)], samples=5, seed=1)
        row = counts.iloc[0]
        assert (row["head_population"], row["head_sampled"]) == (20, 5)
        better = [row["head_better"], row["tail_better"]]
        values = estimate(counts).iloc[0]
        assert values[["head_rank", "tail_rank"]].tolist() == [1 + b * 20 / 5 for b in better]
        for method, expected in (
            ("sampled", 0.5 * sum(1 / (1 + b * 20 / 5) for b in better)),
            # ½ Σ |S| / (rank_S · |N⁻|)
            ("sampled-paper", 0.5 * sum(5 / ((1 + b) * 20) for b in better)),
            # rank ≤ rank_S + |N⁻| − |S|
            ("lower-bound", 0.5 * sum(1 / (1 + b + 20 - 5) for b in better)),
        ):
            assert estimate(counts, method)["relik"].tolist() == pytest.approx([expected])

    def test_the_papers_ceiling(self):
        """A triple that beats all negatives gets |S| / |N⁻|, not 1; the corrected one gets 1."""
        counts, exact = both(*self.world(0), [(0, 0, 0)], samples=5)
        assert exact["relik"].tolist() == [1]
        assert estimate(counts, "sampled-paper")["relik"].tolist() == [5 / 20]
        assert estimate(counts)["relik"].tolist() == [1]
        for beaten_by in (1, 5, 20):
            counts, _ = both(*self.world(beaten_by), [(0, 0, 0)], samples=5)
            assert estimate(counts, "sampled-paper")["relik"].iloc[0] <= 5 / 20

    @pytest.mark.parametrize("method", SAMPLED)
    def test_without_negatives_all_is_one(self, method):
        scorer = FakeScorer(torch.randn(2, 1, 2))
        everything = [(h, 0, t) for h in range(2) for t in range(2)]
        counts, _ = both(scorer, everything, everything, samples=3)
        values = estimate(counts, method)
        assert (values[["relik", "relik_low", "relik_high"]] == 1).all(axis=None)

    def test_the_corrected_rank_is_unbiased(self):
        """For a fact and for a triple that is in N⁻ itself."""
        scorer = random_scorer(12, 2, seed=4)
        triples = [(3, 0, 5), (7, 1, 2)]
        known = [(3, 0, 5), (3, 1, 1), (4, 0, 5)]
        counts, exact = many(scorer, triples, known, samples=6, seeds=250)
        ranks = estimate(counts)[["head_rank", "tail_rank"]].to_numpy().reshape(250, 2, 2)
        error = ranks.std(axis=0) / np.sqrt(len(ranks))
        assert (error > 0).all()
        expected = exact[["head_rank", "tail_rank"]].to_numpy()
        assert (np.abs(ranks.mean(axis=0) - expected) < 4 * error).all()


def test_covers_relik_in_95_of_100_samples():
    scorer = random_scorer(15, 3, seed=1, inverse=True)
    rng = np.random.default_rng(0)
    known = [tuple(x) for x in rng.integers(0, (15, 3, 15), size=(40, 3)).tolist()]
    triples = [*known[:6], (0, 0, 0), (1, 2, 3)]
    counts, exact = many(scorer, triples, known, samples=12, seeds=120)
    found, truth = estimate(counts), np.tile(exact["relik"], 120)
    low, high = found["relik_low"] - 1e-12, found["relik_high"] + 1e-12
    assert ((low <= truth) & (truth <= high)).mean() >= 0.95
    assert (high - low).mean() < 0.5  # [0, 1] would cover everything and say nothing


class TestRun:
    graph = make_graph([(0, 0, 1), (1, 1, 2)], [(2, 0, 0)], [(0, 1, 0), (3, 1, 4)])

    def test_seeds_reproduce(self):
        run = fake_run(self.graph, random_scorer(5, 2))
        tables = [run.relik(method="sampled", samples=4, seed=s) for s in (0, 0, 1, 2, 3)]
        assert tables[0].equals(tables[1])
        assert not all(table.equals(tables[0]) for table in tables[2:])

    def test_three_readings_of_one_sample(self):
        run = fake_run(self.graph, random_scorer(5, 2))
        values = {m: run.relik(method=m, samples=4) for m in SAMPLED}
        columns = ["head", "relation", "tail", "head_rank", "tail_rank", "relik"]
        for table in values.values():
            assert table.columns.tolist() == [*columns, "relik_low", "relik_high"]
        low = [table["relik_low"].tolist() for table in values.values()]
        assert low[0] == low[1] == low[2]
        assert (values["lower-bound"]["relik"] <= values["sampled"]["relik"]).all()

    @pytest.mark.parametrize("samples", [0, -5, 1_000_001])
    @pytest.mark.parametrize("method", SAMPLED)
    def test_a_sample_out_of_range_is_refused(self, samples, method):
        run = fake_run(self.graph, random_scorer(5, 2))
        with pytest.raises(KgdashError, match=f"1 to 1,000,000 sampled .*found {samples:,}"):
            run.relik(method=method, samples=samples)


@pytest.mark.parametrize("name", ["umls-transe", "umls-conve"])
def test_a_bundled_run(bundled, name):
    """Heads of a model with inverse triples are sampled through the inverse relation too."""
    run = bundled(name)
    triples = run.graph.splits["test"][::40]
    exact = run.relik(triples=triples)
    everything = run.relik(triples=triples, method="sampled", samples=10**6)
    # Single triples go through another kernel than rows do; a near tie may fall either way.
    for side in ("head_rank", "tail_rank"):
        difference = (everything[side] - exact[side]).abs()
        assert (difference <= 1 + 1e-3 * exact[side]).all()
    some = run.relik(triples=triples, method="sampled", samples=500)
    inside = (some["relik_low"] <= exact["relik"]) & (exact["relik"] <= some["relik_high"])
    assert inside.mean() >= 0.9
