"""The overview's values are those of the definitions, and its leads the extremes that it says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import kgdash
from kgdash.graph.communities import find_communities
from kgdash.statistics.estimate import Estimate
from kgdash.statistics.jackknife import means_within
from kgdash.studies.overview import overview as overview_module
from kgdash.studies.overview.overview import (
    _by_chance,
    _least_likely,
    _least_reliable,
    chance_of_hits,
    overview,
)
from kgdash.studies.overview.steps import overview_steps
from kgdash.studies.reliability.reliability_map import reliability_map
from tests.support.tiny_runs import altered_run


@pytest.fixture(scope="module")
def run(bundled):
    return bundled("umls-transe")


@pytest.fixture(scope="module")
def found(run):
    return list(overview_steps(run))[-1]


def test_values_by_the_definition(run, found):
    ranks = run.ranks("test")["realistic"]
    assert found.values["mrr"].value == pytest.approx((1 / ranks).mean())
    for k in (1, 10):
        assert found.values[f"hits_at_{k}"].value == pytest.approx((ranks <= k).mean())
    relik = run.relik(triples=run.graph.all_triples)["relik"]
    assert found.values["relik"].value == pytest.approx(relik.mean())
    for name, estimate in found.values.items():
        assert estimate.n == (len(run.graph.all_triples) if name == "relik" else 661)
        assert estimate.low < estimate.value < estimate.high


def test_intervals_are_those_of_resampled_triples(run, found):
    ranks = run.ranks("test")
    sides = [1 / ranks.loc[ranks["side"] == s, "realistic"].to_numpy() for s in ("head", "tail")]
    values = np.mean(sides, axis=0)
    draws = np.random.default_rng(1).integers(0, len(values), (4000, len(values)))
    ends = np.quantile(values[draws].mean(axis=1), [0.025, 0.975])
    estimate = found.values["mrr"]
    np.testing.assert_allclose([estimate.low, estimate.high], ends, atol=0.003)


def test_communities_have_the_mrr_of_their_held_out_triples(run, found):
    groups = find_communities(run.graph)
    for row in found.communities.itertuples():
        ranks = run.ranks("test")
        inside = (groups[ranks["head"]] == row.id) & (groups[ranks["tail"]] == row.id)
        assert row.mrr == pytest.approx((1 / ranks["realistic"][inside]).mean())
        assert row.evaluated == inside.sum() / 2
        assert row.mrr_low < row.mrr < row.mrr_high


def test_leads_are_the_extremes(run, found):
    leads = {lead.kind: lead for lead in found.leads}
    relik = run.relik(triples=run.graph.all_triples)
    least = relik.loc[relik["relik"].idxmin(), ["head", "relation", "tail"]]
    head, relation, tail = leads["triple"].triple
    graph = run.graph
    assert graph.entity_id(head) == least["head"]
    assert graph.relations[least["relation"]] == relation
    assert graph.entity_id(tail) == least["tail"]
    ranks = run.ranks("test")
    ranks["reciprocal"] = 1 / ranks["realistic"]
    by = ranks.groupby("relation")["reciprocal"].agg(["mean", "size"])
    weakest = by[by["size"] >= 60]["mean"].idxmin()
    assert leads["relation"].name == run.graph.relations[weakest]
    assert found.communities["label"][0] in leads["community"].text
    assert "ties" not in leads


def test_sampled_reliability_makes_no_claim_of_where(run):
    found = overview(reliability_map(run, "sampled"))
    assert {lead.kind for lead in found.leads} == {"relation"}
    assert "still being counted" in found.verdict[0]
    assert found.about()["method"] == "sampled"


def test_without_test_triples(tmp_path):
    nothing = {"test": np.zeros((0, 3), dtype=np.int64)}
    run = kgdash.load(str(altered_run(tmp_path / "run", nothing)))
    found = list(overview_steps(run))[-1]
    assert found.values["mrr"].n == 0
    assert "no test triples" in found.verdict[1]


@pytest.mark.parametrize(
    ("relik", "told"), [([0.2, 0.2, 1], "2 known facts alike least"), ([1, 1, 1], "")]
)
def test_facts_that_are_trusted_alike_are_not_told_apart(found, relik, told):
    """Where all had ReliK 1, the first was called the least trusted: wrong, or not learnt?"""
    rows = found.map.relik.head(3).assign(relik=np.array(relik, dtype=np.float64))
    leads = list(_least_likely(replace(found.map, relik=rows)))
    assert [told in lead.text for lead in leads] == ([True] if told else [])


def test_the_least_trusted_fact_is_named_by_no_label_of_another(run, found):
    labels = ("alike",) * run.graph.num_relations
    named = replace(run, graph=replace(run.graph, relation_labels=labels))
    (lead,) = _least_likely(replace(found.map, run=named, relik=found.map.relik.head(3)))
    assert f"alike ({lead.triple[1]})" in lead.text


def test_what_random_orders_give():
    rng = np.random.default_rng(0)
    candidates = rng.integers(5, 30, 20_000)
    hits = rng.integers(1, candidates + 1) <= 10
    found = chance_of_hits(pd.DataFrame({"candidates": candidates}), 10)
    assert found == pytest.approx(hits.mean(), abs=0.01)


def test_a_community_leads_to_the_entity_that_it_is_named_after(run, found):
    groups = find_communities(run.graph)
    for row in found.communities.to_dict("records"):
        entity = run.graph.entities.index(row["central"])
        assert groups[entity] == row["id"]
        assert row["label"].startswith(run.graph.entity_labels[entity])


@pytest.mark.parametrize(
    ("low", "high", "leads"), [(0.02, 0.30, 0), (np.nan, np.nan, 0), (0.02, 0.19, 1)]
)
def test_of_the_least_reliable_community_its_own_interval_decides(low, high, leads):
    rows = [("few", 0.10, low, high, 30), ("many", 0.12, 0.10, 0.14, 900)]
    table = pd.DataFrame(rows, columns=["label", "relik", "low", "high", "triples"])
    found = list(_least_reliable(table.assign(central="e"), Estimate(0.25, 0.2, 0.3, 930)))
    assert len(found) == leads
    assert all("“few”" in lead.text for lead in found)


def test_how_likely_the_extremes_of_large_communities_are_chance(run, found):
    groups, relik = find_communities(run.graph), found.map.relik
    means, errors = means_within(groups, relik[["head", "tail"]].to_numpy(), relik["relik"])
    large = found.communities.loc[found.communities["triples"] >= 30, "id"].to_numpy()
    assert len(large) > 2
    low, high = (large[pick(means[large])] for pick in (np.argmin, np.argmax))
    z = (means[high] - means[low]) / np.sqrt(errors[high] ** 2 + errors[low] ** 2)
    expected = 2 * stats.norm.sf(z) * len(large) * (len(large) - 1) / 2
    assert _by_chance(found.map, found.communities) == pytest.approx(expected)
    few = found.communities[found.communities["triples"] < 30]
    assert np.isnan(_by_chance(found.map, few))


def test_entities_dealt_out_at_random_are_told_apart_by_chance_alone(found, monkeypatch):
    """Held against triples as if these were independent, 25 of 60 such deals were told apart."""
    groups = find_communities(found.map.run.graph)
    told = 0
    for seed in range(60):
        dealt = np.random.default_rng(seed).permutation(groups)
        monkeypatch.setattr(overview_module, "find_communities", lambda graph, dealt=dealt: dealt)
        ends = dealt[found.map.relik[["head", "tail"]].to_numpy()]
        ids, triples = np.unique(ends[ends[:, 0] == ends[:, 1], 0], return_counts=True)
        told += _by_chance(found.map, pd.DataFrame({"id": ids, "triples": triples})) <= 0.05
    assert told <= 6
