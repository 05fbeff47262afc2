"""The scan for reliable regions: chance alone finds few, a planted region is found."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kgdash.errors import KgdashError
from kgdash.graph.communities import describe_members
from kgdash.studies.reliability import region_scan
from kgdash.studies.reliability.region_scan import (
    RegionScan,
    greatest_of_permutations,
    grown_groups,
    scan_regions,
    scan_values,
)
from kgdash.studies.reliability.region_scan_units import entity_units, triple_units
from kgdash.studies.reliability.reliability_map import (
    ReliabilityMap,
    reliability_map,
)
from tests.support.fakes import fake_run, make_graph, random_scorer


@pytest.fixture(scope="module")
def graph():
    """Twelve circles of ten entities, some triples across."""
    rng = np.random.default_rng(1)
    inside = [
        (10 * c + a, int(rng.integers(3)), 10 * c + (a + step) % 10)
        for c in range(12)
        for a in range(10)
        for step in (1, 2, 3)
    ]
    across = [(int(h), 0, int(t)) for h, t in rng.integers(0, 120, (60, 2))]
    return make_graph([*inside, *across], test=inside[::9], entities=120, relations=3)


def relik_of(graph, head_rank, tail_rank):
    table = pd.DataFrame(graph.all_triples, columns=["head", "relation", "tail"])
    relik = 0.5 * (1 / head_rank + 1 / tail_rank)
    return table.assign(head_rank=head_rank, tail_rank=tail_rank, relik=relik)


@pytest.fixture(scope="module")
def random_ranks(graph):
    rng = np.random.default_rng(2)
    return np.ceil(np.exp(rng.normal(3, 1.5, (2, len(graph.all_triples)))))


@pytest.fixture(scope="module")
def make_map(graph):
    run = fake_run(graph, random_scorer(120, 3))

    def make(*ranks):
        return ReliabilityMap(
            run, "exact", relik_of(graph, *ranks), graph.splits["test"][:0], np.zeros(0)
        )

    return make


@pytest.mark.parametrize(
    ("units_of", "null_model"), [(entity_units, "entities"), (triple_units, "triples")]
)
def test_chance_finds_a_region_in_5_percent(graph, random_ranks, units_of, null_model):
    """Where the null hypothesis holds, p ≤ 0.05 comes in about 5% of the seeds."""
    order, rng, found = grown_groups(graph, 30), np.random.default_rng(7), []
    units = units_of(graph, relik_of(graph, *random_ranks))
    for seed in range(120):
        values = units.values.copy()
        for stratum in np.unique(units.strata):
            own = units.strata == stratum
            values[own] = rng.permutation(values[own])
        shuffled = replace(units, values=values)
        z = np.nanmax(
            np.abs(scan_values(order, shuffled, values.astype(np.float32)[:, None], 5)[0])
        )
        baseline = greatest_of_permutations(order, shuffled, 5, 39, seed)
        found.append((1 + (baseline >= z).sum()) / 40)
    low, high = stats.binom.interval(0.999, 120, 0.05)
    assert low <= (np.array(found) <= 0.05).sum() <= high
    assert stats.kstest(np.array(found) - 1 / 80, "uniform").pvalue > 0.001, null_model


@pytest.mark.parametrize("null_model", ["entities", "triples"])
@pytest.mark.parametrize(("kind", "factor"), [("low", 12.0), ("high", 1 / 12)])
def test_a_planted_region_is_found(graph, random_ranks, make_map, null_model, kind, factor):
    planted = np.arange(40, 50)
    head, tail = graph.all_triples[:, 0], graph.all_triples[:, 2]
    inside = np.isin(head, planted) & np.isin(tail, planted)
    ranks = np.maximum(1, np.where(inside, random_ranks * factor, random_ranks))
    found = scan_regions(make_map(*ranks), RegionScan(null_model, 5, 30, permutations=99))
    first, members = found.table.iloc[0], found.members[0]
    assert first["kind"] == kind
    assert first["p"] == 0.01
    shared = len(np.intersect1d(members, planted)) / len(np.union1d(members, planted))
    assert shared >= 0.8
    assert found.table["p"].iloc[1:].min() > 0.05
    assert (first["relik"] < first["outside"]) == (kind == "low")


def test_figures_of_regions(bundled):
    map_ = reliability_map(bundled("umls-transe"))
    graph, relik = map_.run.graph, map_.relik["relik"].to_numpy()
    found = scan_regions(map_, RegionScan(permutations=39))
    again = scan_regions(map_, RegionScan(permutations=39))
    pd.testing.assert_frame_equal(found.table, again.table)
    members = np.concatenate(found.members)
    assert len(members) == len(set(members.tolist()))
    assert found.table["z"].abs().is_monotonic_decreasing
    assert len(found.baseline) == 39
    for row, own in zip(found.table.to_dict("records"), found.members, strict=True):
        heads, tails = np.isin(graph.all_triples[:, 0], own), np.isin(graph.all_triples[:, 2], own)
        inside = heads & tails
        assert (row["entities"], row["triples"]) == (len(own), inside.sum())
        assert 5 <= len(own) <= 67
        assert row["seed_entity"] == own[0]
        assert row["relik"] == pytest.approx(relik[inside].mean())
        assert row["typical"] == pytest.approx(stats.gmean(relik[inside]))
        assert row["outside"] == pytest.approx(relik[~inside].mean())
        alike = [relik[map_.relik["relation"] == r] for r in map_.relik["relation"][inside]]
        assert row["expected"] == pytest.approx(stats.gmean([stats.gmean(each) for each in alike]))
        assert row["p"] == (1 + (found.baseline >= abs(row["z"])).sum()) / 40
        assert (row["z"] < 0) == (row["kind"] == "low")
        about = describe_members(graph, own)
        assert (row["label"], row["relations"]) == (about.label, about.relations)
        assert row["central"] == graph.entities[about.central[0]]
        test = graph.splits["test"]
        tested = np.isin(test[:, [0, 2]], own).all(axis=1)
        assert row["evaluated"] == tested.sum()
        mrr = map_.reciprocal[tested].mean() if tested.any() else np.nan
        assert row["mrr"] == pytest.approx(mrr, nan_ok=True)


def test_z_of_entities(bundled):
    """A region's z: own reliabilities, standardised in tenths by degree, summed up."""
    map_ = reliability_map(bundled("umls-transe"))
    graph, relik = map_.run.graph, map_.relik
    found = scan_regions(map_, RegionScan(permutations=1))
    own = np.array(
        [
            np.log10(
                np.concatenate(
                    [
                        1 / relik.loc[relik["head"] == e, "head_rank"],
                        1 / relik.loc[relik["tail"] == e, "tail_rank"],
                    ]
                )
            ).mean()
            for e in range(graph.num_entities)
        ]
    )
    ends = np.bincount(graph.all_triples[:, [0, 2]].ravel())
    tenth = pd.Series(ends).rank(method="first").sub(1).mul(10).floordiv(len(ends))
    of_tenth = pd.Series(own).groupby(tenth)
    values = ((own - of_tenth.transform("mean")) / of_tenth.transform("std", ddof=0)).to_numpy()
    for row, members in zip(found.table.itertuples(), found.members, strict=True):
        n = len(members)
        expected = values[members].sum() / np.sqrt(n * (1 - n / len(own)))
        assert row.z == pytest.approx(expected, abs=1e-4)


def test_a_graph_without_groups(make_map):
    graph = make_graph([(0, 0, 1), (2, 0, 3)], entities=6)
    map_ = reliability_map(fake_run(graph, random_scorer(6, 1)))
    found = scan_regions(map_, RegionScan(permutations=5))
    assert not len(found.table)
    assert not found.members
    assert found.baseline.tolist() == [0.0] * 5
    assert grown_groups(graph, 4)[:, :3].tolist() == [
        [0, 1, -1],
        [1, 0, -1],
        [2, 3, -1],
        [3, 2, -1],
        [4, -1, -1],
        [5, -1, -1],
    ]


def test_threads_tell_often_where_they_are_where_one_group_takes_long(
    graph, random_ranks, monkeypatch
):
    units = entity_units(graph, relik_of(graph, *random_ranks))
    values = units.values.astype(np.float32)[:, None]
    whole = grown_groups(graph, 7)
    scores = scan_values(whole, units, values, 2)
    taken = []
    for name, place in (("grow_groups", 4), ("scan_groups", 0)):
        kernel = getattr(region_scan, name)

        def counted(*of, kernel=kernel, name=name, place=place):
            taken.append((name, len(of[place])))
            kernel(*of)

        monkeypatch.setattr(region_scan, name, counted)
    monkeypatch.setattr(region_scan, "_STEPS", 120 * 8 * 3)
    assert (grown_groups(graph, 8)[:, :7] == whole).all()
    assert taken == [("grow_groups", 3)] * 40
    taken.clear()
    monkeypatch.setattr(region_scan, "_STEPS", 7)
    for one, other in zip(scan_values(whole, units, values, 2), scores, strict=True):
        np.testing.assert_array_equal(one, other)
    assert taken == [("scan_groups", 1)] * 120


def test_regions_take_no_more_than_the_graph_or_the_memory(bundled, monkeypatch):
    with pytest.raises(KgdashError, match="expected 2 ≤ smallest ≤ largest"):
        scan_regions(reliability_map(bundled("umls-transe")), RegionScan("entities", 10**9, 10**9))
    monkeypatch.setattr(region_scan, "memory_budget", lambda: 2**16)
    graph = make_graph([(e, 0, e + 1) for e in range(299)])
    map_ = reliability_map(fake_run(graph, random_scorer(300, 1)))
    assert scan_regions(map_, RegionScan(permutations=1)).baseline.size == 1
    with pytest.raises(KgdashError, match="holds regions of 100, not of 150"):
        scan_regions(map_, RegionScan(largest=200))


def test_refusals():
    with pytest.raises(KgdashError, match="unknown null model 'relations'"):
        RegionScan("relations")
    for wrong in (
        {"smallest": 1},
        {"smallest": 9, "largest": 8},
        {"permutations": 0},
        {"permutations": 10**9},
        {"most": 0},
        {"seed": -1},
    ):
        with pytest.raises(KgdashError, match="expected 2 ≤ smallest ≤ largest"):
            RegionScan(**wrong)
