"""Which model where: against plain loops over triples, SciPy, and cases worked out by hand."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kgdash.errors import KgdashError
from kgdash.graph.communities import find_communities
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.ranking.rank_setting import RankSetting
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.multiple_testing import holm
from kgdash.studies.comparison.graph_parts import PARTS, Partition, find_parts
from kgdash.studies.comparison.model_selection import (
    _interval_of_means,
    describe_selection,
    pair_correlations,
    pair_differences,
    selection_summary,
    strategies,
)
from kgdash.studies.comparison.part_scores import PartScores, part_scores
from tests.support.fakes import fake_run, make_graph, random_scorer

GRAPH = make_graph(
    train=[(0, 0, 1), (1, 0, 2), (2, 0, 0), (3, 1, 4), (4, 1, 5), (5, 1, 3), (6, 2, 6), (2, 2, 3)],
    test=[(0, 0, 2), (1, 1, 0), (2, 1, 3), (3, 1, 5), (4, 0, 4)],
    entities=8,
    relations=3,
)


@pytest.fixture(scope="module")
def runs():
    made = [fake_run(GRAPH, random_scorer(8, 3, seed)) for seed in range(3)]
    return [replace(run, name=name) for run, name in zip(made, "ABC", strict=True)]


def parts_of(runs, kind):
    return find_parts(runs[0], kind, sampling=SubgraphSampling(6, 4))


def is_inside(parts, number, triple):
    """Tell by the definition whether a triple is in a part."""
    head, relation, tail = triple
    if parts.kind == "relations":
        return relation == number
    if parts.kind == "communities":
        return number in (parts.communities[head], parts.communities[tail])
    return {head, tail} <= set(parts.subgraphs[number].entities.tolist())


@pytest.mark.parametrize("kind", list(PARTS))
def test_membership(runs, kind):
    parts = parts_of(runs, kind)
    triples = GRAPH.all_triples.tolist()
    expected = [
        [is_inside(parts, number, triple) for triple in triples]
        for number in range(len(parts.names))
    ]
    np.testing.assert_array_equal(parts.inside(GRAPH.all_triples).toarray(), expected)
    sizes = {
        "communities": lambda n: (parts.communities == n).sum(),
        "subgraphs": lambda n: len(parts.subgraphs[n].entities),
        "relations": lambda n: len({e for h, r, t in triples if r == n for e in (h, t)}),
    }
    assert parts.entities.tolist() == [sizes[kind](n) for n in range(len(parts.names))]
    assert len(set(parts.names)) == len(parts.names)


def test_names(bundled):
    umls = bundled("umls-distmult")
    walks = find_parts(umls, "subgraphs", sampling=SubgraphSampling(140, 3))
    assert len(set(walks.names)) == 140
    regions = find_communities(umls.graph, 2.0)
    parts = find_parts(umls, "communities", 2.0)
    assert len(parts.names) == regions.max() + 1
    for number, name in enumerate(parts.names):
        for entity in name.split(", "):
            assert regions[umls.graph.entity_id(entity)] == number


@pytest.mark.parametrize("side", ["tail", "both"])
@pytest.mark.parametrize("relik_of", ["all", "evaluated"])
@pytest.mark.parametrize("kind", list(PARTS))
def test_figures_by_plain_loops(runs, kind, relik_of, side):
    parts = parts_of(runs, kind)
    figures = part_scores(runs, parts, RankSetting(side=side), relik_of)
    test = [tuple(t) for t in GRAPH.splits["test"].tolist()]
    every = [tuple(t) for t in GRAPH.all_triples.tolist()] if relik_of == "all" else test
    rows, left_out = figures.table.to_dict("records"), 0
    for number, name in enumerate(parts.names):
        ranked = [t for t in test if is_inside(parts, number, t)]
        if not ranked:
            left_out += 1
            continue
        mine = [t for t in every if is_inside(parts, number, t)]
        found = [rows.pop(0) for _ in runs]
        for run, row in zip(runs, found, strict=True):
            ranks = run.ranks(triples=np.array(ranked))
            ranks = ranks if side == "both" else ranks[ranks["side"] == side]
            assert row["mrr"] == pytest.approx((1 / ranks["realistic"]).mean())
            assert row["relik"] == pytest.approx(run.relik(triples=np.array(mine))["relik"].mean())
            assert (row["part"], row["name"], row["run"]) == (number, name, run.name)
            assert (row["triples"], row["evaluated"]) == (len(mine), len(ranked))
        best = max(row["mrr"] for row in found)
        assert [row["regret"] for row in found] == [best - row["mrr"] for row in found]
        assert [row["best"] for row in found] == [row["mrr"] == best for row in found]
        assert sum(row["picked"] for row in found) == 1
        assert max(found, key=lambda row: row["relik"])["picked"]
    assert not rows
    assert figures.left_out == left_out
    assert kind != "relations" or left_out == 1
    assert figures.overall["best"].sum() == 1


def test_relik_is_computed_of_no_more_than_is_needed(runs, monkeypatch):
    asked = []
    original = type(runs[0]).relik

    def relik(self, split="test", triples=None, **choices):
        asked.append(triples)
        return original(self, split, triples, **choices)

    monkeypatch.setattr(type(runs[0]), "relik", relik)
    part_scores(runs, parts_of(runs, "relations"))
    assert {len(triples) for triples in asked} == {(GRAPH.all_triples[:, 1] != 2).sum()}


def figures(relik, mrr, evaluated=None, names="ABC"):
    """Make figures by hand: ``(parts, runs)`` of ReliK and MRR."""
    relik, mrr = np.array(relik, dtype=float), np.array(mrr, dtype=float)
    count, runs = mrr.shape
    evaluated = np.full(count, 10) if evaluated is None else np.array(evaluated)
    overall = pd.DataFrame({"run": list(names[:runs])})
    overall["relik"], overall["mrr"] = relik.mean(axis=0), mrr.mean(axis=0)
    overall["best"] = np.arange(runs) == mrr.mean(axis=0).argmax()
    best = mrr.max(axis=1, keepdims=True)
    table = pd.DataFrame(
        {
            "part": np.repeat(np.arange(count), runs),
            "name": [f"p{n}" for n in range(count) for _ in range(runs)],
            "evaluated": np.repeat(evaluated, runs),
            "run": overall["run"].tolist() * count,
            "relik": relik.ravel(),
            "mrr": mrr.ravel(),
            "picked": (relik.argmax(axis=1)[:, None] == np.arange(runs)).ravel(),
            "best": (mrr == best).ravel(),
            "regret": (best - mrr).ravel(),
        }
    )
    return PartScores(table, overall, 2)


#: ReliK is right in p0 and p1 (a tie), wrong in p2 and p3; A is best overall, right in p0, p1, p3
HAND = figures(
    relik=[[0.9, 0.1, 0.2], [0.3, 0.4, 0.1], [0.1, 0.5, 0.2], [0.2, 0.3, 0.1]],
    mrr=[[0.8, 0.4, 0.2], [0.6, 0.6, 0.3], [0.5, 0.4, 0.7], [0.9, 0.5, 0.1]],
    evaluated=[10, 20, 30, 40],
)


@pytest.mark.parametrize("name", ["by ReliK", "at random", "the best of each part"])
def test_a_run_named_as_a_way_to_choose_is_a_row_of_its_own(name):
    """It had taken the row: ReliK was right in as many parts as the run of its name."""
    table, overall = (each.replace({"run": {"A": name}}) for each in (HAND.table, HAND.overall))
    named = PartScores(table, overall, HAND.left_out)
    found, expected = strategies(named), strategies(HAND)
    assert found["strategy"].tolist() == ["by ReliK", name, *expected["strategy"][2:]]
    pd.testing.assert_frame_equal(found.drop(columns="strategy"), expected.drop(columns="strategy"))
    assert selection_summary(named) == {**selection_summary(HAND), "overall": name}


def test_strategies_by_hand():
    table = strategies(HAND).set_index("strategy")
    assert table["correct"].to_dict() == pytest.approx(
        {"by ReliK": 2, "A": 3, "B": 1, "C": 1, "at random": 5 / 3, "the best of each part": 4}
    )
    assert table.index[table["overall_best"]].tolist() == ["A"]
    assert table.loc["by ReliK", "regret"] == pytest.approx((0 + 0 + 0.3 + 0.4) / 4)
    assert table.loc["A", "regret"] == pytest.approx(0.2 / 4)
    assert table.loc["at random", "regret"] == pytest.approx(
        (1.0 / 3 + 0.3 / 3 + 0.5 / 3 + 1.2 / 3) / 4
    )
    assert table.loc["by ReliK", "mrr"] == pytest.approx(0.1 * 0.8 + 0.2 * 0.6 + 0.3 * 0.4 + 0.2)
    assert table.loc["the best of each part", "regret"] == 0
    interval = stats.binomtest(2, 4).proportion_ci(0.95)
    assert table.loc["by ReliK", ["low", "high"]].tolist() == pytest.approx(list(interval))
    assert table.loc[["at random", "the best of each part"], "low"].isna().all()


def test_summary_by_hand():
    found = selection_summary(HAND)
    assert (found["correct"], found["parts"], found["left_out"], found["runs"]) == (2, 4, 2, 3)
    assert found["chance"] == pytest.approx((1 + 2 + 1 + 1) / 12)
    assert found["p_chance"] == pytest.approx(stats.binomtest(2, 4, 5 / 12).pvalue)
    mrr = np.random.default_rng(0).random((12, 3))
    assert selection_summary(figures(mrr, mrr))["p_chance"] == pytest.approx(1 / 3**12)
    assert (found["only_relik"], found["only_overall"], found["p_overall"]) == (0, 1, 1)
    assert (found["overall"], found["overall_accuracy"]) == ("A", 0.75)
    assert found["regret_gain"] == pytest.approx(0.05 - 0.175)
    assert (found["mrr_ties"], found["relik_ties"]) == (1, 0)
    orders = zip(HAND.wide("relik"), HAND.wide("mrr"), strict=True)
    assert found["spearman"] == pytest.approx(
        np.mean([stats.spearmanr(a, b).statistic for a, b in orders])
    )
    assert found["kendall_w"] == pytest.approx((found["spearman"] + 1) / 2)


def test_intervals_of_regret_are_scipy_s():
    rng = np.random.default_rng(0)
    made = figures(rng.random((25, 2)), rng.random((25, 2)))
    bootstrap = Bootstrap(resamples=2000, seed=3)
    found = selection_summary(made, bootstrap)
    table = strategies(made, bootstrap).set_index("strategy")
    regret, picked = made.wide("regret"), made.wide("picked")
    by_relik = (regret * picked).sum(axis=1)
    leader = regret[:, made.overall["best"].to_numpy().argmax()]
    for values, ends in (
        (by_relik, table.loc["by ReliK", ["regret_low", "regret_high"]].tolist()),
        (leader - by_relik, [found["regret_gain_low"], found["regret_gain_high"]]),
    ):
        theirs = stats.bootstrap((values,), np.mean, method="percentile", rng=rng)
        low, high = theirs.confidence_interval
        assert ends == pytest.approx([low, high], abs=0.08 * (high - low))
    few = selection_summary(figures(rng.random((2, 2)), rng.random((2, 2))))
    assert np.isnan([few["regret_gain_low"], few["spearman_low"]]).all()


def test_intervals_of_many_parts_take_no_resamples():
    rng = np.random.default_rng(0)
    made = figures(rng.random((20_000, 2)), rng.random((20_000, 2)))
    tracemalloc.start()
    table = strategies(made, Bootstrap(resamples=200, seed=3)).set_index("strategy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**25  # 200 resamples take 64 MB, 2,000 ten times as much
    regret = made.wide("regret")[:, 0]
    means = [rng.choice(regret, len(regret)).mean() for _ in range(2_000)]
    low, high = np.quantile(means, [0.025, 0.975])
    ends = table.loc["A", ["regret_low", "regret_high"]].tolist()
    assert ends == pytest.approx([low, high], abs=0.08 * (high - low))


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(2, 4))
def test_no_way_beats_the_best_of_each_part(seed, parts, runs):
    rng = np.random.default_rng(seed)
    made = figures(rng.random((parts, runs)), rng.integers(1, 5, (parts, runs)) / 4, names="ABCD")
    table = strategies(made, Bootstrap(resamples=10)).set_index("strategy")
    assert (table["regret"] >= 0).all()
    assert (table["correct"] <= parts + 1e-9).all()
    assert table.loc["at random", "correct"] == pytest.approx(table["correct"].iloc[1:-2].mean())
    assert table["mrr"].max() == pytest.approx(table.loc["the best of each part", "mrr"])
    same = figures(made.wide("mrr"), made.wide("mrr"), names="ABCD")
    assert selection_summary(same, Bootstrap(resamples=10))["accuracy"] == 1


def test_equal_relik_goes_to_the_run_that_leads_overall(runs):
    same = [replace(runs[n], scorer=runs[0].scorer, name=name) for n, name in ((0, "A"), (1, "B"))]
    parts = parts_of(runs, "relations")
    found = part_scores([*same, runs[2]], parts)
    assert selection_summary(found)["relik_ties"] > 0
    assert not found.wide("picked")[:, 1].any()
    ahead = np.array([0.1, 0.3])
    from kgdash.studies.comparison.part_scores import _picks

    assert _picks(np.array([[0.5, 0.5], [0.6, 0.5]]), ahead).tolist() == [1, 0]


def test_pairs():
    rng = np.random.default_rng(5)
    made = figures(rng.random((6, 3)), rng.random((6, 3)))
    rows = pair_differences(made)
    found = pair_correlations(rows)
    assert list(zip(found["a"], found["b"], strict=True)) == [("A", "B"), ("A", "C"), ("B", "C")]
    relik, mrr = made.wide("relik"), made.wide("mrr")
    x, y = relik[:, 0] - relik[:, 2], mrr[:, 0] - mrr[:, 2]
    np.testing.assert_array_equal(rows.loc[rows["b"] == "C", "relik_difference"][:6], x)
    row = found.iloc[1]
    assert row["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic)
    assert row["same_sign"] == np.mean(np.sign(x) == np.sign(y))
    exact = stats.permutation_test(
        (x,),
        lambda a: stats.spearmanr(a, y).statistic,
        permutation_type="pairings",
        vectorized=False,
    )
    assert row["p"] == pytest.approx(exact.pvalue)
    np.testing.assert_array_equal(found["p_holm"], holm(found["p"].to_numpy()))
    many = pair_correlations(pair_differences(figures(rng.random((20, 2)), rng.random((20, 2)))))
    assert many["parts"].item() == 20
    flat = pair_correlations(pair_differences(figures(np.ones((4, 2)), rng.random((4, 2)))))
    assert flat[["same_sign", "spearman", "p", "p_holm"]].isna().all(axis=None)


def test_words():
    first, second = describe_selection(selection_summary(HAND), "parts")
    assert "in 2 of 4 parts (50%, 95% interval 6.8% to 93.2%)" in first
    assert "A everywhere does in 75%" in first
    assert "costs 0.175 MRR on average against knowing the best, A everywhere 0.050" in second
    base = selection_summary(HAND) | {"regret_gain": 0.1}
    for low, high, words in (
        (0.05, 0.2, "gains 0.100"),
        (-0.2, -0.1, "loses 0.100"),
        (-0.1, 0.3, "can not be told from chance"),
        (np.nan, np.nan, "too few parts"),
    ):
        ends = {"regret_gain_low": low, "regret_gain_high": high}
        assert words in describe_selection(base | ends, "parts")[1]
        for kind in ("subgraphs", "communities"):
            of_shared = describe_selection(base | ends, kind)[1]
            assert of_shared.endswith(
                f"{kind} share triples, so that nothing more is claimed of them."
            )


def test_refusals(runs):
    parts = parts_of(runs, "relations")
    with pytest.raises(KgdashError, match="unknown kind of parts 'regions'"):
        find_parts(runs[0], "regions")
    with pytest.raises(KgdashError, match="at least 2 entities; found 1"):
        find_parts(runs[0], "subgraphs", sampling=SubgraphSampling(size=1))
    with pytest.raises(KgdashError, match="unknown choice of triples for ReliK 'test'"):
        part_scores(runs, parts, relik_of="test")
    with pytest.raises(KgdashError, match="expected 2 to 8 runs"):
        part_scores(runs[:1], parts)
    alone = Partition("subgraphs", GRAPH, ("E7",), subgraphs=(runs[0].subgraph(7, size=1),))
    with pytest.raises(KgdashError, match="none of the 1 subgraphs holds a test triple"):
        part_scores(runs, alone)


def test_intervals_of_few_parts_stay_where_values_can_be():
    """Agreement of orders in five parts was −0.511 to 1.71; ρ is at most 1."""
    values = np.array([[1.0, 1], [1, -1], [1, 1], [-1, 1], [1, 1]])
    low, high = _interval_of_means(values, Bootstrap())
    half = stats.t.ppf(0.975, 4) * 0.4  # of four ones and a minus one, s is 0.894
    assert low == pytest.approx([0.6 - half] * 2)
    assert high.tolist() == [1.0, 1.0]
