"""ReliK over the whole graph: against means taken triple by triple."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kgdash.errors import KgdashError
from kgdash.files import row_table
from kgdash.graph.communities import find_communities
from kgdash.ranking import relik_table
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.reliability_map import (
    between,
    reliability_map,
    reliability_steps,
)
from tests.support.checks import check_interval
from tests.support.fakes import fake_run, make_graph, random_scorer


@pytest.fixture(scope="module")
def umls(bundled):
    return reliability_map(bundled("umls-distmult"))


def touching(triples, what, number, groups):
    """Tell which triples count for an entity, a relation or a community."""
    if what == "relation":
        return triples[:, 1] == number
    ends = triples[:, [0, 2]]
    if what == "entity":
        return (ends == number).any(axis=1)
    return (groups[ends] == number).all(axis=1)


@pytest.mark.parametrize("what", ["entity", "relation", "communities"])
def test_means_are_those_of_the_triples(umls, what):
    graph = umls.run.graph
    groups = find_communities(graph, 1.5, 0)
    table = umls.by(what, resolution=1.5)
    assert table["relik"].is_monotonic_increasing
    heads, _, tails = graph.all_triples.T
    inside = groups[heads[groups[heads] == groups[tails]]]
    expected = {"entity": 135, "relation": 46, "communities": len(np.unique(inside))}
    assert len(table) == expected[what]
    ranks = umls.run.ranks("test")
    reciprocal = (1 / ranks["realistic"]).groupby(ranks["side"]).apply(np.array)
    for row in table.iloc[::5].to_dict("records"):
        inside = touching(graph.all_triples, what, row["id"], groups)
        own = umls.relik["relik"].to_numpy()[inside]
        assert row["triples"] == len(own)
        assert row["relik"] == pytest.approx(own.mean())
        assert row["typical"] == pytest.approx(stats.gmean(own))
        assert row["small"] == (len(own) < 30)
        if len(own) >= 10 and np.ptp(own):
            assert row["low"] < row["relik"] < row["high"]
        else:
            assert np.isnan([row["low"], row["high"]]).all()
        tested = touching(graph.splits["test"], what, row["id"], groups)
        mrr = (reciprocal["head"] + reciprocal["tail"])[tested] / 2
        assert row["evaluated"] == tested.sum()
        assert row["mrr"] == pytest.approx(mrr.mean() if len(mrr) else np.nan, nan_ok=True)


def test_intervals_are_scipy_s_and_what_no_triple_showed(umls):
    row = umls.by("relation").iloc[5]
    own = umls.relik.loc[umls.relik["relation"] == row["id"], "relik"].to_numpy()
    mean, unseen = own.mean(), -np.log(0.05) / len(own)
    low = mean - np.sqrt((mean - row["low"]) ** 2 - (unseen * mean) ** 2)
    high = mean + np.sqrt((row["high"] - mean) ** 2 - (unseen * (1 - mean)) ** 2)
    check_interval([low, high], np.mean, own, within=0.1, resamples=2000)


def test_a_community_has_the_relik_of_its_subgraph(umls):
    graph = umls.run.graph
    groups = find_communities(graph)
    row = umls.by("communities").iloc[0]
    members = np.flatnonzero(groups == row["id"])
    part = umls.run.subgraph(int(members[0]), "neighbourhood", 5)
    alike = compare(umls.run, type(part)(graph, int(members[0]), members, "given", {}))
    assert row["relik"] == pytest.approx(alike.means["relik"].value)
    assert row["triples"] == alike.means["relik"].n
    assert row["entities"] == len(members)
    assert row["mrr"] == pytest.approx(alike.means["both_mrr"].value)


def test_between_communities(umls):
    groups = find_communities(umls.run.graph)
    table = between(umls, groups)
    heads, _, tails = umls.run.graph.all_triples.T
    for row in table.itertuples():
        pair = {(row.a, row.b), (row.b, row.a)}
        crossing = [p in pair for p in zip(groups[heads], groups[tails], strict=True)]
        assert row.triples == sum(crossing)
        assert row.relik == pytest.approx(umls.relik["relik"][crossing].mean())
    assert table["triples"].sum() == (groups[heads] != groups[tails]).sum()


def test_loops_count_once_and_isolated_entities_do_not():
    graph = make_graph([(0, 0, 0), (0, 1, 1), (1, 0, 2)], entities=4)
    map_ = reliability_map(fake_run(graph, random_scorer(4, 2)))
    table = map_.by("entity").set_index("id")
    assert table["triples"].to_dict() == {0: 2, 1: 2, 2: 1}
    assert (table["evaluated"] == 0).all()
    assert table["mrr"].isna().all()
    assert table[["low", "high"]].isna().all(axis=None)  # of so few triples


def test_maps_while_it_is_counted(monkeypatch):
    monkeypatch.setattr(relik_table, "_LEAST", 60 * 3 * 70)
    monkeypatch.setattr(row_table, "_LEAST", 1e-9)
    monkeypatch.setattr(row_table, "_TIMES", 0)
    rng = np.random.default_rng(0)
    triples = np.unique(rng.integers(0, (60, 3, 60), (300, 3)), axis=0)
    graph = make_graph(triples[8:], test=triples[:8], entities=60, relations=3)
    run = fake_run(graph, random_scorer(60, 3))
    *before, last = reliability_steps(run)
    assert {map_.method for map_ in before} == {"growing"}
    assert last.method == "exact"
    pd.testing.assert_frame_equal(last.relik, reliability_map(run).relik)
    for map_ in before:
        np.testing.assert_array_equal(map_.reciprocal, last.reciprocal)
        assert map_.relik["relik"].isna().any()
        assert map_.step.low < map_.step.mean < map_.step.high
    (alone,) = reliability_steps(run)
    pd.testing.assert_frame_equal(alone.relik, last.relik)


def test_refusals(umls):
    with pytest.raises(KgdashError, match="unknown way to read the map 'entities'"):
        umls.by("entities")
    with pytest.raises(KgdashError, match="level between 0 and 1; found 2"):
        umls.by("entity", level=2)
    with pytest.raises(KgdashError, match="resolution above 0"):
        umls.by("communities", resolution=0)
    with pytest.raises(KgdashError, match="unknown method"):
        reliability_map(umls.run, "guess")
