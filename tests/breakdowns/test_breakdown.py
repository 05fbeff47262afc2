"""Breakdowns: against plain counting and PyKEEN's classes on small and on bundled graphs."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.breakdowns.breakdown import SMALL, breakdown
from kgdash.breakdowns.grouping import GROUPINGS, group_ranks
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.errors import KgdashError
from kgdash.graph.relation_patterns import NOT_IN_TRAIN
from kgdash.graph.restriction import Restriction
from kgdash.ranking import ratio_metrics
from kgdash.ranking.metric import RatioMetric
from kgdash.ranking.metric_lookup import find_metric, metric_calculators, metric_records
from kgdash.ranking.metrics import POOLS, metrics
from kgdash.ranking.ratio_metrics import LARGE, RESAMPLES, ratio_intervals
from tests.support.checks import check_interval
from tests.support.fakes import FakeScorer, fake_run, make_graph

MRR = "inverse_harmonic_mean_rank"


@pytest.fixture(scope="module")
def umls(bundled):
    run = bundled("umls-transe")
    return add_rank_facts(run.ranks(), run.graph)


def table(graph, head_ranks, tail_ranks, others=0, candidates=10):
    """Make a table of ranks of the graph's test triples."""
    test = graph.split("test")
    parts = []
    for side, ranks in (("head", head_ranks), ("tail", tail_ranks)):
        part = pd.DataFrame(test, columns=["head", "relation", "tail"])
        part["side"] = side
        part["optimistic"] = np.array(ranks, dtype=np.int64)
        part["pessimistic"] = part["optimistic"] + others
        part["realistic"] = (part["optimistic"] + part["pessimistic"]) / 2
        part["candidates"] = candidates
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


GRAPH = make_graph(
    train=[(0, 0, 1), (1, 0, 2), (2, 0, 0), (0, 1, 1), (0, 1, 2), (3, 1, 3)],
    valid=[(0, 0, 2)],
    test=[(0, 0, 3), (1, 1, 2), (2, 1, 3)],
    entities=5,
    relations=3,
)


def test_values_by_hand():
    ranks = table(GRAPH, [1, 2, 4], [5, 10, 1])
    found = breakdown(add_rank_facts(ranks, GRAPH), "relation").set_index(["group", "side"])
    assert found["value"].to_dict() == {
        ("R0", "head"): 1.0,
        ("R1", "head"): (1 / 2 + 1 / 4) / 2,
        ("R0", "tail"): 1 / 5,
        ("R1", "tail"): (1 / 10 + 1) / 2,
        ("R0", "both"): (1 + 1 / 5) / 2,
        ("R1", "both"): (1 / 2 + 1 / 4 + 1 / 10 + 1) / 4,
    }
    assert found["count"].tolist() == [1, 2, 1, 2, 2, 4]
    assert found["triples"].tolist() == [1, 2, 1, 2, 1, 2]
    assert found["small"].all()


def test_groups_by_hand():
    found = add_rank_facts(table(GRAPH, [1, 1, 1], [1, 1, 1]), GRAPH)
    # e0 is an end of (0 0 1), (2 0 0), (0 1 1), (0 1 2); e3 of its loop, once.
    assert found["head_degree"].tolist() == ["3–9", "3–9", "3–9"] * 2
    assert found["tail_degree"].tolist() == ["1", "3–9", "1"] * 2
    # (?, r0, e3): e0; (?, r1, e2): e0, e1; (?, r1, e3): e2, e3; (e0, r0, ?): e1, e2, e3; …
    assert found["answers"].tolist() == ["1", "2", "2", "3–9", "1", "1"]
    assert found["frequency"].tolist() == ["3–9"] * 6
    assert found["triple"].tolist() == [0, 1, 2] * 2


def test_answers_are_what_the_default_filter_removes(umls, bundled):
    removed = bundled("umls-transe").graph.num_entities - umls["candidates"].to_numpy()
    for answers, rows in umls.groupby("answers", observed=True):
        low, _, high = str(answers).partition("–")
        assert removed[rows.index].min() + 1 >= int(low)
        assert removed[rows.index].max() + 1 <= int(high or low)


def test_triples_that_are_no_facts_are_their_own_answer():
    graph = make_graph([(0, 0, 1), (0, 0, 2), (1, 1, 1)], entities=4, relations=2)
    run = fake_run(graph, FakeScorer(torch.zeros(4, 2, 4)))
    ranks = run.ranks(triples=np.array([[0, 0, 3], [3, 1, 0]]))
    assert add_rank_facts(ranks, graph)["answers"].tolist() == ["1", "1", "3–9", "1"]


def test_a_relation_without_train_triples():
    graph = make_graph([(0, 0, 1)], test=[(0, 1, 1)])
    found = add_rank_facts(table(graph, [1], [1]), graph)
    assert set(found["cardinality"]) == set(found["pattern"]) == {NOT_IN_TRAIN}
    assert set(found["frequency"]) == {"0"}


def test_equal_labels_are_told_apart():
    graph = make_graph([(0, 0, 1), (0, 1, 1)], test=[(1, 0, 0), (1, 1, 0)])
    object.__setattr__(graph, "relation_labels", ("same", "same"))
    found = breakdown(add_rank_facts(table(graph, [1, 2], [1, 2]), graph), "relation")
    assert found["group"].unique().tolist() == ["same (r0)", "same (r1)"]


@pytest.fixture(scope="module")
def one_group(bundled):
    """Return the ranks of one relation, and all their metrics."""
    run = bundled("umls-distmult")
    rows = add_rank_facts(run.ranks(restriction=Restriction(relations=[25])), run.graph)
    return rows, metrics(rows)


@pytest.mark.parametrize("metric", list(metric_records()))
def test_one_group_is_the_whole(metric, one_group):
    rows, whole = one_group
    found = breakdown(rows, "relation", metric).set_index("side")
    assert found.index.tolist() == ["head", "tail", "both"]
    for side, row in found.iterrows():
        for column, kind in (
            ("value", "realistic"),
            ("optimistic", "optimistic"),
            ("pessimistic", "pessimistic"),
        ):
            expected = whole.value(metric, side, kind)
            assert row[column] == pytest.approx(expected, rel=1e-6, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("by", list(GROUPINGS))
def test_every_group_is_pykeen_s_value_of_its_rows(umls, by):
    for metric in (MRR, "adjusted_arithmetic_mean_rank_index", "median_rank", "hits_at_7"):
        calculator = metric_calculators((7,))[metric]
        found = breakdown(umls, by, metric, "pessimistic", level=None)
        for row in found.to_dict("records"):
            in_pool = umls["side"].isin(POOLS[row["side"]])
            part = umls[(umls[GROUPINGS[by]] == row["group"]) & in_pool]
            assert row["count"] == len(part)
            assert row["triples"] == part["triple"].nunique()
            assert row["small"] == (row["triples"] < SMALL)
            value = calculator(part["pessimistic"].to_numpy(), part["candidates"].to_numpy())
            assert row["value"] == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True)


def test_all_ranks_are_in_one_group_each(umls):
    for by in GROUPINGS:
        counts = breakdown(umls, by, level=None).groupby("side")["count"].sum()
        assert counts.to_dict() == {"head": 661, "tail": 661, "both": 1322}


def test_ties():
    ranks = table(GRAPH, [1, 2, 4], [5, 1, 1])
    ranks.loc[2, "pessimistic"] = 9
    ranks.loc[2, "realistic"] = 6.5
    found = breakdown(add_rank_facts(ranks, GRAPH), "relation").set_index(["group", "side"])
    row = found.loc[("R1", "both")]
    assert (row["tied_share"], row["largest_tie"]) == (1 / 4, 6)
    assert row["optimistic"] == (1 / 2 + 1 / 4 + 1 + 1) / 4
    assert row["pessimistic"] == pytest.approx((1 / 2 + 1 / 9 + 1 + 1) / 4)
    assert row["gap"] == pytest.approx((1 / 4 - 1 / 9) / 4)
    assert found.loc[("R0", "both"), ["gap", "tied_share", "largest_tie"]].tolist() == [0, 0, 1]
    worst = breakdown(add_rank_facts(ranks, GRAPH), "relation", "arithmetic_mean_rank")
    assert worst.set_index(["group", "side"]).loc[("R1", "both"), "gap"] == 5 / 4


# Intervals


def test_the_same_seed_gives_the_same_intervals(umls):
    one, same, other = (breakdown(umls, "relation", seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, same)
    assert not one[["low", "high"]].equals(other[["low", "high"]])
    assert one["value"].equals(other["value"])


def test_intervals_do_not_depend_on_the_other_groups(umls):
    every = breakdown(umls, "cardinality")
    alone = breakdown(umls[umls["cardinality"] == "n-1"], "cardinality")
    pd.testing.assert_frame_equal(
        every[every["group"] == "n-1"].reset_index(drop=True), alone, check_dtype=False
    )


@pytest.mark.parametrize("metric", [k for k in metric_records() if find_metric(k).ratio])
def test_intervals_hold_their_value(umls, metric):
    fewest = find_metric(metric).ratio.fewest
    by = "relation" if fewest == 10 else "cardinality"
    found = breakdown(umls, by, metric)
    sure = found[found["low"].notna()]
    assert len(sure) > (10 if fewest == 10 else 1)
    assert (sure["triples"] >= fewest).all()
    assert (sure["low"] < sure["high"]).all()
    assert (sure["low"] <= sure["value"] + 1e-9).all()
    assert (sure["value"] <= sure["high"] + 1e-9).all()
    narrow = breakdown(umls, by, metric, level=0.5)
    assert (narrow["high"] - narrow["low"]).sum() < (found["high"] - found["low"]).sum()


def test_metrics_without_such_a_form_have_no_interval(umls):
    found = breakdown(umls, "cardinality", "median_rank")
    assert found[["low", "high"]].isna().all(axis=None)
    assert found["value"].notna().all()


def test_no_level_no_interval(umls):
    assert breakdown(umls, "cardinality", level=None)[["low", "high"]].isna().all(axis=None)


def one_interval(form, part, weight, level, seed):
    return tuple(ratio_intervals(form, part, weight, np.array([len(part)]), level, [seed])[0])


def test_resamples_of_some_groups_are_held_at_once(monkeypatch):
    rng, sizes = np.random.default_rng(6), np.array([12, 0, 15, 3000, 1, 11, 20])
    part, weight = rng.random((2, sizes.sum())) + 1
    seeds, form = [(3, group) for group in range(7)], find_metric(MRR).ratio
    whole = ratio_intervals(form, part, weight, sizes, 0.9, seeds)
    shapes, empty = [], np.empty
    monkeypatch.setattr(ratio_metrics, "_HELD", 2)
    monkeypatch.setattr(np, "empty", lambda *a, **k: shapes.append(a[0]) or empty(*a, **k))
    np.testing.assert_array_equal(ratio_intervals(form, part, weight, sizes, 0.9, seeds), whole)
    assert [shape for shape in shapes if shape[1:] == (RESAMPLES,)] == [(2, 1000)] * 3 + [(1, 1000)]


def test_resamples_by_a_loop():
    """Python's whole numbers give SplitMix64 as its authors wrote it down."""
    rng, sizes, level = np.random.default_rng(5), [40, 1, 0, 17], 0.9
    part, weight = rng.random(58), rng.integers(1, 3, 58).astype(float)
    seeds = [(3, group) for group in range(4)]
    found = ratio_intervals(RatioMetric(), part, weight, np.array(sizes), level, seeds)
    start = 0
    for size, seed, ends in zip(sizes, seeds, found, strict=True):
        if size < 2:
            assert np.isnan(ends).all()
        else:
            state = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
            ratios = []
            for _ in range(RESAMPLES):
                drawn = []
                for _ in range(size):
                    state, word = splitmix64(state)
                    drawn.append(start + ((word >> 32) * size >> 32))
                ratios.append(sum(part[i] for i in drawn) / sum(weight[i] for i in drawn))
            assert ends == pytest.approx(np.quantile(ratios, [0.05, 0.95]))
        start += size


def splitmix64(state):
    mask = 2**64 - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    word = state
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & mask
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & mask
    return state, word ^ (word >> 31)


def test_the_first_numbers_of_splitmix64():
    """Of the seed 1234567, as its authors publish them."""
    state, found = 1234567, []
    for _ in range(3):
        state, word = splitmix64(state)
        found.append(word)
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_it_is_near_scipy_s_bootstrap():
    part = np.random.default_rng(2).random(80) ** 3
    ours = one_interval(find_metric(MRR).ratio, part, np.ones(80), 0.95, (7,))
    check_interval(ours, np.mean, part, within=0.15, resamples=4000)


@pytest.mark.parametrize("count", [60, LARGE])
def test_coverage_of_a_known_mean(count):
    """Of 300 samples of a skewed distribution, the 90% interval should hold its mean in 270."""
    form, rng = RatioMetric(), np.random.default_rng(0)
    hits = 0
    for trial in range(300):
        ranks = rng.geometric(0.2, count).astype(float)
        low, high = one_interval(form, ranks, np.ones(count), 0.9, (trial,))
        hits += low <= 5 <= high
    assert 0.83 < hits / 300 < 0.95


def test_both_ranks_of_a_triple_are_drawn_together():
    """Head and tail ranks that balance each other: the mean of both does not vary at all."""
    graph = make_graph([(0, 0, 1)], test=[(e, 0, e + 1) for e in range(1, 400)])
    heads = np.arange(1, 400)
    found = breakdown(
        add_rank_facts(table(graph, heads, 400 - heads, candidates=400), graph),
        "relation",
        "arithmetic_mean_rank",
    ).set_index("side")
    assert found.loc["both", "value"] == 200
    assert found.loc["both", ["low", "high"]].isna().all()
    assert found.loc["head", "high"] - found.loc["head", "low"] > 1


@settings(max_examples=20)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=14), st.integers(0, 3))
def test_any_ranks(ranks, others):
    graph = make_graph([(0, 0, 1)], test=[(e, 0, e + 1) for e in range(1, len(ranks) + 1)])
    rows = add_rank_facts(table(graph, ranks, ranks, others, candidates=12), graph)
    for row in breakdown(rows, "relation").itertuples():
        assert row.value == pytest.approx(np.mean([1 / (r + others / 2) for r in ranks]))
        assert (row.largest_tie, row.tied_share) == (others + 1, float(others > 0))
        assert np.isnan(row.low) == (len(ranks) < 10 or len(set(ranks)) == 1)
        assert np.isnan(row.low) or row.low - 1e-12 <= row.value <= row.high + 1e-12


# The triples of a group


def test_the_triples_of_a_group_best_first(umls):
    found = group_ranks(umls, "cardinality", "n-1", "tail")
    rows = umls[(umls["cardinality"] == "n-1") & (umls["side"] == "tail")]
    assert found["rank"].tolist() == sorted(rows["realistic"])
    assert set(found["side"]) == {"tail"}
    triples = ["head", "relation", "tail"]
    assert sorted(map(tuple, found[triples].to_numpy().tolist())) == sorted(
        map(tuple, rows[triples].to_numpy().tolist())
    )
    assert len(group_ranks(umls, "cardinality", "n-1")) == 2 * len(found)


# Refusals


def test_refusals(umls, bundled):
    run = bundled("umls-transe")
    with pytest.raises(KgdashError, match=r"unknown grouping 'cardinalty'.*'cardinality'"):
        breakdown(umls, "cardinalty")
    with pytest.raises(KgdashError, match="unknown metric 'mrx'"):
        breakdown(umls, "relation", "mrx")
    with pytest.raises(KgdashError, match="whole numbers ≥ 1; found"):
        breakdown(umls, "relation", "hits_at_0")
    with pytest.raises(KgdashError, match="unknown rank type 'median'"):
        breakdown(umls, "relation", rank_type="median")
    with pytest.raises(KgdashError, match=r"level between 0 and 1; found 95"):
        breakdown(umls, "relation", level=95)
    with pytest.raises(KgdashError, match="add_rank_facts"):
        breakdown(run.ranks(), "relation")
    with pytest.raises(KgdashError, match="no ranks"):
        add_rank_facts(run.ranks()[:0], run.graph)
    with pytest.raises(KgdashError, match="no ranks"):
        breakdown(umls[:0], "relation")
    with pytest.raises(KgdashError, match="unknown group '1-2'"):
        group_ranks(umls, "cardinality", "1-2")
    with pytest.raises(KgdashError, match="unknown side 'left'"):
        group_ranks(umls, "cardinality", "n-1", "left")
    with pytest.raises(KgdashError, match="no rank of side relation"):
        group_ranks(umls, "cardinality", "n-1", "relation")


def test_one_side_alone_and_relations(bundled):
    run = bundled("umls-transe")
    rows = add_rank_facts(run.ranks(sides=("tail", "relation")), run.graph)
    found = breakdown(rows, "answers", level=None)
    assert set(found["side"]) == {"tail", "relation"}
    assert found.groupby("side")["count"].sum().to_dict() == {"tail": 661, "relation": 661}
