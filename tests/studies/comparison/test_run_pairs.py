"""Two runs rank by rank: against plain counting."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from kgdash.errors import KgdashError
from kgdash.ranking.metrics import POOLS
from kgdash.statistics.multiple_testing import holm
from kgdash.studies.comparison.comparison import compared_ranks, pair_of
from kgdash.studies.comparison.run_pairs import (
    rank_grid,
    rank_pairs,
    relation_sign_tests,
    triple_differences,
)
from tests.support.compared_tables import AB, GRAPH, tables

A, B = "umls-transe", "umls-complex"


@pytest.fixture(scope="module")
def ranks(bundled):
    return compared_ranks([bundled(A), bundled(B)])


def plain(ranks, a, b, side, rank_type):
    """List (triple, its mean reciprocal rank by a, by b) of every triple, in the order of rows."""
    found = {}
    for run in (a, b):
        for row in ranks[run].to_dict("records"):
            if row["side"] in POOLS[side]:
                triple = (row["head"], row["relation"], row["tail"])
                found.setdefault(triple, {}).setdefault(run, []).append(1 / row[rank_type])
    return [
        (triple, np.mean(values[a]).item(), np.mean(values[b]).item())
        for triple, values in found.items()
    ]


def test_wins_by_hand():
    found = relation_sign_tests(pair_of(AB, "A", "B")).set_index(["side", "relation"])
    assert found[["triples", "wins", "ties", "losses"]].to_numpy().tolist() == [
        *[[2, 1, 1, 0], [3, 0, 2, 1]],
        *[[2, 1, 1, 0], [3, 1, 1, 1]],
        *[[2, 1, 1, 0], [3, 1, 1, 1]],
    ]
    # One win of one decided: either way is as extreme.
    assert found["p_sign"].tolist() == [1.0] * 6
    assert found.loc[("tail", 0), "mrr_b"] == (1 / 4 + 1 / 2) / 2
    assert found.loc[("tail", 0), "difference"] == (1 + 1 / 2) / 2 - (1 / 4 + 1 / 2) / 2


@pytest.mark.parametrize("rank_type", ["realistic", "optimistic"])
def test_wins_by_counting(ranks, rank_type):
    found = relation_sign_tests(pair_of(ranks, A, B), rank_type)
    for side, rows in found.groupby("side"):
        values = plain(ranks, A, B, side, rank_type)
        assert set(rows["relation"]) == {triple[1] for triple, *_ in values}
        for row in rows.to_dict("records"):
            own = [(a, b) for (_, r, _), a, b in values if r == row["relation"]]
            counts = [
                sum(a > b for a, b in own),
                sum(a == b for a, b in own),
                sum(a < b for a, b in own),
            ]
            assert [row["wins"], row["ties"], row["losses"]] == counts
            assert row["triples"] == len(own)
            decided = counts[0] + counts[2]
            p = binomtest(counts[0], decided).pvalue if decided else 1.0
            assert row["p_sign"] == pytest.approx(p, rel=1e-9)
            assert row["mrr_a"] == pytest.approx(np.mean([a for a, _ in own]))
            assert row["difference"] == pytest.approx(np.mean([a - b for a, b in own]))
        np.testing.assert_array_equal(rows["p_holm"], holm(rows["p_sign"].to_numpy()))
    assert found["p_sign"].min() < 0.01


@pytest.mark.parametrize("side", ["head", "both"])
def test_pairs_of_ranks_by_counting(ranks, side):
    kept = ranks[A]["side"].isin(POOLS[side])
    wanted = Counter(zip(ranks[A]["realistic"][kept], ranks[B]["realistic"][kept], strict=True))
    found = rank_pairs(pair_of(ranks, A, B), side)
    counted = found.set_index(["rank_a", "rank_b"])["count"].to_dict()
    assert counted == dict(wanted)
    assert found.index.tolist() == found.sort_values(["rank_a", "rank_b"]).index.tolist()


@pytest.mark.parametrize("steps", [1, 7, 40])
def test_every_pair_is_in_its_cell(ranks, steps):
    pairs, most = rank_pairs(pair_of(ranks, A, B)), 135
    grid = rank_grid(pairs, most, steps)
    assert grid["count"].sum() == 1322
    for cell in grid.to_dict("records"):
        inside = pairs["rank_a"].between(cell["low_a"], cell["high_a"], "left")
        inside &= pairs["rank_b"].between(cell["low_b"], cell["high_b"], "left")
        assert cell["count"] == pairs.loc[inside, "count"].sum()
    assert grid["low_a"].min() == 1
    assert grid["high_a"].max() <= most + 1


def test_small_ranks_have_cells_of_their_own():
    every = [(a, b) for a in range(1, 6) for b in range(1, 6)]
    pairs = pd.DataFrame(every, columns=["rank_a", "rank_b"]).assign(count=1)
    grid = rank_grid(pairs, 14_505)
    assert len(grid) == 25
    assert (grid["high_a"] == grid["low_a"] + 1).all()


def test_the_grid_holds_the_highest_rank():
    pairs = pd.DataFrame({"rank_a": [14_505.0, 1], "rank_b": [1.0, 14_505], "count": [3, 4]})
    grid = rank_grid(pairs, 14_505)
    assert grid["count"].tolist() == [4, 3]
    assert grid["high_a"].tolist() == [2, 14_506]


def test_a_single_candidate():
    pairs = pd.DataFrame({"rank_a": [1.0], "rank_b": [1.0], "count": [9]})
    assert rank_grid(pairs, 1).to_numpy().tolist() == [[1, 2, 1, 2, 9]]


def test_triples_from_where_a_wins(ranks):
    found = triple_differences(pair_of(ranks, A, B))
    wanted = plain(ranks, A, B, "both", "realistic")
    assert found["difference"].is_monotonic_decreasing
    assert found["difference"].mean() == pytest.approx(np.mean([a - b for _, a, b in wanted]))
    by_triple = {triple: (a, b) for triple, a, b in wanted}
    for row in found.to_dict("records"):
        values = by_triple[row["head"], row["relation"], row["tail"]]
        assert (row["reciprocal_rank_a"], row["reciprocal_rank_b"]) == pytest.approx(values)


def test_equal_triples_keep_their_order():
    same = tables({"A": ([1] * 5, [2] * 5), "B": ([1] * 5, [2] * 5)})
    found = triple_differences(pair_of(same, "A", "B"), "head")
    np.testing.assert_array_equal(found[["head", "relation", "tail"]], GRAPH.split("test"))


@pytest.mark.parametrize("ask", [relation_sign_tests, rank_pairs, triple_differences])
def test_unknown_rank_types_are_refused(ask):
    with pytest.raises(KgdashError, match="unknown rank type 'worst'"):
        ask(AB, rank_type="worst")
