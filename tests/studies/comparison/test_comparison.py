"""Runs side by side: against each run's own figures, and positions by sorting."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.grouping import Groups
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.errors import KgdashError
from kgdash.graph.known_triples import RANK_TYPES
from kgdash.ranking.metric_lookup import find_metric, metric_records
from kgdash.ranking.metrics import MetricsTable, metrics
from kgdash.studies.comparison.comparison import (
    by_group,
    check_aligned,
    check_comparable,
    compared_ranks,
    distinct_names,
    mean_positions,
    overall,
    overall_of,
    pair_of,
    reciprocal_ranks,
    stacked_ranks,
    triples_of,
)
from tests.support.checks import check_progress
from tests.support.compared_tables import AB, GRAPH
from tests.support.fakes import fake_run, make_graph, random_scorer

NAMES = ("umls-transe", "umls-transe-seed1", "umls-distmult")
MRR = "inverse_harmonic_mean_rank"


@pytest.fixture(scope="module")
def runs(bundled):
    return [bundled(name) for name in NAMES]


@pytest.fixture(scope="module")
def ranks(runs):
    return compared_ranks(runs)


def position(value, others, increasing):
    """One more than how many are better."""
    return 1 + sum(other > value if increasing else other < value for other in others)


def test_ranks_are_each_run_s_own(runs, ranks):
    assert tuple(ranks) == NAMES
    for run in runs:
        pd.testing.assert_frame_equal(ranks[run.name], run.ranks())
    raw = compared_ranks(runs[:2], "valid", "none")
    pd.testing.assert_frame_equal(raw[NAMES[1]], runs[1].ranks("valid", filter="none"))


def test_progress_runs_to_all_and_may_stop_it(runs):
    check_progress(lambda progress: compared_ranks(runs, progress=progress))


def test_overall(ranks):
    found = overall(ranks)
    own = {name: metrics(table) for name, table in ranks.items()}
    guide = metric_records()
    assert len(found) == (len(guide) - 1) * 3 * 3 * len(NAMES)
    for key, rows in found.groupby(["metric", "side", "rank_type"], sort=False):
        metric, side, rank_type = key
        values = [own[name].value(metric, side, rank_type) for name in rows["run"]]
        assert tuple(rows["run"]) == NAMES
        np.testing.assert_array_equal(rows["value"], values)
        expected = [position(v, values, guide[metric].increasing) for v in values]
        assert rows["position"].tolist() == expected, key


def test_positions_by_hand():
    values = {
        name: MetricsTable(
            pd.DataFrame(
                {("both", kind): dict.fromkeys(metric_records(), value) for kind in RANK_TYPES}
            )
        )
        for name, value in (("a", 2.0), ("b", 5.0), ("c", 2.0), ("d", float("nan")))
    }
    found = overall_of(values).query("rank_type == 'realistic'").set_index("metric")
    assert found.loc[MRR, "position"].tolist() == [2, 1, 2, pd.NA]
    assert found.loc["arithmetic_mean_rank", "position"].tolist() == [1, 3, 1, pd.NA]
    assert "count" not in found.index


@pytest.mark.parametrize(
    ("by", "metric", "rank_type"),
    [
        ("relation", MRR, "realistic"),
        ("cardinality", "arithmetic_mean_rank", "pessimistic"),
        ("head_degree", "hits_at_7", "optimistic"),
        ("pattern", "median_rank", "realistic"),
    ],
)
def test_groups_are_each_run_s_own(runs, ranks, by, metric, rank_type):
    annotated = add_rank_facts(ranks[NAMES[0]], runs[0].graph)
    found = by_group(annotated, ranks, by, metric, rank_type)
    for run in runs:
        own = breakdown(
            add_rank_facts(ranks[run.name], run.graph), by, metric, rank_type, level=None
        )
        rows = found[found["run"] == run.name].reset_index(drop=True)
        columns = ["group", "side", "triples", "small", "value"]
        pd.testing.assert_frame_equal(rows[columns], own[columns])
    for _, rows in found.groupby(["side", "group"]):
        values = rows["value"].round(9).tolist()
        expected = [position(v, values, find_metric(metric).increasing) for v in values]
        assert rows["position"].tolist() == expected


def test_groups_of_one_s_own():
    annotated = add_rank_facts(AB["A"], GRAPH)
    groups = Groups(np.array([0, 5, 1]), np.array([0, 0, 1]), ["first", "second"])
    found = by_group(annotated, AB, groups).set_index(["side", "group", "run"]).sort_index()
    assert found.loc[("both", "first", "A"), "value"] == 1.0
    assert found.loc[("both", "first", "B"), "value"] == (1 / 2 + 1 / 4) / 2
    assert found.loc[("head", "second"), "position"].tolist() == [1, 1]
    assert found.loc[("both", "first"), "triples"].tolist() == [1, 1]


def test_mean_positions_by_hand():
    groups = pd.DataFrame(
        {
            "side": "both",
            "group": list("xxyyzz"),
            "run": list("abababab"[:6]),
            "position": pd.array([1, 2, 1, 1, pd.NA, pd.NA], dtype="Int64"),
        }
    )
    found = mean_positions(groups).set_index("run")
    assert found["groups"].tolist() == [2, 2]
    assert found["best"].tolist() == [2, 1]
    assert found["mean_position"].tolist() == [1.0, 1.5]


def test_mean_positions_are_per_side(runs, ranks):
    found = by_group(add_rank_facts(ranks[NAMES[0]], runs[0].graph), ranks, "relation")
    means = mean_positions(found).set_index(["side", "run"])["mean_position"]
    assert len(means) == 9
    for (side, run), mean in means.items():
        rows = found[(found["side"] == side) & (found["run"] == run)]
        assert mean == pytest.approx(rows["position"].astype(float).mean())


@pytest.mark.parametrize("side", ["head", "tail", "both"])
@pytest.mark.parametrize("rank_type", RANK_TYPES)
def test_the_mean_reciprocal_rank_is_the_mrr(ranks, side, rank_type):
    found = reciprocal_ranks(ranks, side, rank_type).mean(axis=0)
    wanted = [metrics(table).value(MRR, side, rank_type) for table in ranks.values()]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)  # PyKEEN has realistic ranks in float32


def test_reciprocal_ranks_by_hand():
    assert stacked_ranks(AB, "tail")[0].T.tolist() == [[1, 1, 5, 1, 2], [4, 2, 2.5, 1, 2]]
    found = reciprocal_ranks(AB, "both", "pessimistic")
    assert found[2].tolist() == [(1 / 4 + 1 / 5) / 2, (1 + 1 / 3) / 2]
    np.testing.assert_array_equal(triples_of(AB), GRAPH.split("test"))
    np.testing.assert_array_equal(triples_of(AB, "tail"), GRAPH.split("test"))


def test_names_are_told_apart(runs):
    twin = replace(runs[1], name=NAMES[0])
    found = distinct_names([runs[0], twin, runs[2]])
    assert found[2] == NAMES[2]
    assert found[0] == f"{NAMES[0]} ({runs[0].weights_digest[:6]})"
    assert len(set(found)) == 3


def test_number_of_runs(runs):
    with pytest.raises(KgdashError, match="expected 2 to 8 runs to compare; found 1"):
        check_comparable(runs[:1])
    with pytest.raises(KgdashError, match="expected 2 to 8 runs to compare; found 9"):
        check_comparable(runs * 3)
    world = [fake_run(GRAPH, random_scorer(6, 2, seed)) for seed in range(8)]
    check_comparable(world)


def test_the_same_run_twice(runs):
    again = replace(runs[0], name="other-folder")
    with pytest.raises(KgdashError, match="umls-transe and other-folder are the same run"):
        check_comparable([runs[0], runs[1], again])


def test_other_graphs_are_named(runs):
    graph = make_graph([(0, 0, 1)], test=[(1, 0, 0)])
    other = fake_run(graph, random_scorer(2, 1))
    with pytest.raises(KgdashError, match="same graph") as refused:
        compared_ranks([*runs, other])
    message = str(refused.value)
    assert (
        f"{', '.join(NAMES)} on umls (6,529 triples, digest {runs[0].graph.digest[:8]})" in message
    )
    assert f"fake on tiny (2 triples, digest {graph.digest[:8]})" in message
    assert "Leave out those on another graph" in message


def test_the_same_triples_in_another_split_are_another_graph():
    splits = {**GRAPH.splits, "valid": GRAPH.splits["test"], "test": GRAPH.splits["train"]}
    moved = replace(GRAPH, splits=splits)
    with pytest.raises(KgdashError, match="same graph with the same splits"):
        check_comparable(
            [fake_run(g, random_scorer(6, 2, n)) for n, g in enumerate((GRAPH, moved))]
        )


def test_tables_of_other_triples_are_refused():
    moved = AB["B"].assign(tail=AB["B"]["tail"][::-1].to_numpy())
    with pytest.raises(KgdashError, match="those of B differ from those of A"):
        check_aligned({"A": AB["A"], "B": moved})
    with pytest.raises(KgdashError, match="those of B differ"):
        overall({"A": AB["A"], "B": AB["B"][:5]})
    with pytest.raises(KgdashError, match="those of C differ from those of A"):
        reciprocal_ranks({**AB, "C": AB["A"].iloc[[1, 0, *range(2, 10)]].reset_index(drop=True)})


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: reciprocal_ranks(AB, "relation"), "unknown side 'relation'"),
        (lambda: reciprocal_ranks(AB, "both", "median"), "unknown rank type 'median'"),
        (lambda: pair_of(AB, "A", "C"), "unknown run 'C'"),
        (lambda: pair_of(AB, "B", "B"), "two different runs; found B twice"),
        (lambda: find_metric("mrx"), "unknown metric 'mrx'"),
        (lambda: find_metric("hits_at_0"), "whole numbers"),
    ],
)
def test_refusals(ask, message):
    with pytest.raises(KgdashError, match=message):
        ask()


def test_groups_refuse_an_unknown_metric():
    with pytest.raises(KgdashError, match="unknown metric 'mrx'"):
        by_group(add_rank_facts(AB["A"], GRAPH), AB, "relation", "mrx")
