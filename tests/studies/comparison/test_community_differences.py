"""Where one run beats another: against plain loops over triples, where communities are known."""

import time
from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.graph import communities as module
from kgdash.graph.communities import find_communities
from kgdash.ranking.metric import RatioMetric
from kgdash.ranking.ratio_metrics import ratio_intervals
from kgdash.studies.comparison.community_differences import (
    community_differences,
    entity_differences,
)
from kgdash.studies.comparison.comparison import (
    compared_ranks,
    pair_of,
    reciprocal_ranks,
    triples_of,
)
from tests.support.compared_tables import AB, GRAPH, tables
from tests.support.fakes import make_graph

A, B = "umls-transe", "umls-complex"


@pytest.fixture(scope="module")
def ranks(bundled):
    return compared_ranks([bundled(A), bundled(B)])


def cliques(*sizes, bridge=True):
    """Make a graph of cliques, each joined to the next by one triple, and an entity apart."""
    triples, start = [], 0
    for size in sizes:
        triples += [(a, 0, b) for a, b in combinations(range(start, start + size), 2)]
        start += size
        if bridge:
            triples.append((start - 1, 1, start))
    return make_graph(triples, entities=start + 1, relations=2)


def test_cliques_are_communities():
    found = find_communities(cliques(4, 6, 5, bridge=False))
    assert found.tolist() == [2] * 4 + [0] * 6 + [1] * 5 + [3]
    joined = find_communities(cliques(5, 7))
    assert joined[:12].tolist() == [1] * 5 + [0] * 7


def test_all_splits_count_and_loops_do_not():
    graph = make_graph([(0, 0, 1), (2, 0, 2), (3, 0, 4)], [(1, 0, 5)], [(4, 0, 3)])
    found = find_communities(graph)
    assert found[0] == found[1] == found[5] == 0
    assert found[3] == found[4] == 1
    assert found[2] == 2


def test_pairs_weigh_as_many_triples_as_join_them():
    """A path of four; its middle is joined by nine relations, so that it is the region."""
    middle = [(1, r, 2) for r in range(5)] + [(2, r, 1) for r in range(4)]
    found = find_communities(make_graph([(0, 0, 1), (2, 0, 3), *middle]), resolution=1.5)
    assert found[1] == found[2]
    plain = find_communities(make_graph([(0, 0, 1), (2, 0, 3), (1, 0, 2)]), resolution=1.5)
    assert plain[1] != plain[2]


def test_resolution_and_seed(bundled):
    graph = bundled(A).graph
    counts = [find_communities(graph, r).max() + 1 for r in (0.5, 1.0, 3.0)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    np.testing.assert_array_equal(find_communities(graph), find_communities(graph))
    weighted = nx.Graph()
    for a, b in graph.all_triples[:, [0, 2]].tolist():
        if a != b:
            weight = weighted.get_edge_data(a, b, {"weight": 0})["weight"]
            weighted.add_edge(a, b, weight=weight + 1)
    found = find_communities(graph, seed=1)
    parts = [set(np.flatnonzero(found == r).tolist()) for r in range(found.max() + 1)]
    assert nx.community.modularity(weighted, parts) > 0.15
    sizes = np.bincount(found)
    assert (np.diff(sizes) <= 0).all()


def test_resolution_must_be_above_zero():
    with pytest.raises(KgdashError, match="expected a resolution above 0; found 0"):
        find_communities(GRAPH, 0)


def test_kept_by_graph_resolution_and_seed(keep_all, monkeypatch):
    first = find_communities(cliques(4, 5))
    monkeypatch.setattr(module, "_louvain", lambda *_: pytest.fail("searched again"))
    np.testing.assert_array_equal(find_communities(cliques(4, 5)), first)
    for graph, resolution, seed in (
        (cliques(5, 4), 1.0, 0),
        (cliques(4, 5), 1.1, 0),
        (cliques(4, 5), 1.0, 1),
    ):
        with pytest.raises(pytest.fail.Exception, match="searched again"):
            find_communities(graph, resolution, seed)


def test_searching_can_be_cancelled(monkeypatch):
    def slow(graph, **options):
        stopped.wait(5)
        return [set(graph)]

    from threading import Event

    stopped = Event()
    monkeypatch.setattr(nx.community, "louvain_communities", slow)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_communities(GRAPH, progress=stop)
    assert not stopped.is_set()
    stopped.set()


def plain(ranks, a, b, ends_of):
    """Gather (value by a, by b) of every triple under each thing that its ends belong to."""
    pair = {a: ranks[a], b: ranks[b]}
    found = {}
    for (head, _, tail), values in zip(
        triples_of(pair).tolist(), reciprocal_ranks(pair).tolist(), strict=True
    ):
        for end in {ends_of(head), ends_of(tail)}:
            found.setdefault(end, []).append(values)
    return found


def assert_sums(table, key, wanted):
    assert set(table[key]) == set(wanted)
    for row in table.to_dict("records"):
        values = wanted[row[key]]
        assert row["triples"] == len(values)
        assert row["wins"] == sum(a > b for a, b in values)
        assert row["losses"] == sum(a < b for a, b in values)
        assert row["mrr_a"] == pytest.approx(np.mean([a for a, _ in values]))
        assert row["difference"] == pytest.approx(np.mean([a - b for a, b in values]))
        assert row["small"] == (len(values) < 30)
    assert table["difference"].is_monotonic_decreasing


def test_entities_by_counting(ranks):
    assert_sums(entity_differences(pair_of(ranks, A, B)), "entity", plain(ranks, A, B, int))


def test_loops_count_once():
    found = entity_differences(pair_of(AB, "A", "B")).set_index("entity")
    assert found["triples"].to_dict() == {0: 2, 2: 2, 1: 1, 3: 2, 4: 1, 5: 1}
    assert found.loc[4, "difference"] == 0


def test_one_side_only():
    found = entity_differences(pair_of(AB, "A", "B"), "head", "optimistic").set_index("entity")
    assert found.loc[0, "mrr_a"] == (1 + 1 / 2) / 2
    assert found.loc[5, ["wins", "losses"]].tolist() == [0, 0]


def test_communities_by_counting(ranks, bundled):
    graph = bundled(A).graph
    communities = find_communities(graph)
    found = community_differences(pair_of(ranks, A, B), graph, communities)
    wanted = plain(ranks, A, B, lambda entity: int(communities[entity]))
    assert_sums(found, "community", wanted)
    triples = graph.split("test")
    for row in found.to_dict("records"):
        community = row["community"]
        both = sum(communities[h] == communities[t] == community for h, _, t in triples.tolist())
        assert row["inside"] == both
        assert row["entities"] == (communities == community).sum()
        assert row["low"] < row["difference"] < row["high"]
        differences = np.array([a - b for a, b in wanted[community]])
        weight, size = np.ones(len(differences)), np.array([len(differences)])
        ends = ratio_intervals(
            RatioMetric(bounds=(-1, 1)), differences, weight, size, 0.95, [(0, community)]
        )[0]
        assert (row["low"], row["high"]) == pytest.approx(ends)


def test_what_a_community_is_told_by():
    """Entity 2 is an end of three triples inside, entity 1 of one; a loop counts once."""
    facts = [(0, 0, 2), (1, 1, 2), (2, 1, 2), (2, 0, 3), (1, 0, 4)]
    graph = make_graph(facts, test=[(0, 1, 2), (3, 1, 4)], entities=5, relations=2)
    both = {name: AB[name].iloc[[0, 3, 5, 8]].reset_index(drop=True) for name in AB}
    for table in both.values():
        table[["head", "relation", "tail"]] = [*graph.split("test").tolist()] * 2
    communities = np.array([0, 0, 0, 1, 1])
    found = community_differences(pair_of(both, "A", "B"), graph, communities).set_index(
        "community"
    )
    named = found[["name", "central", "relations"]]
    assert named.loc[0].tolist() == ["E2, E0, E1", "e2", "R1, R0"]
    assert named.loc[1].tolist() == ["E3, E4", "e3", "R1"]
    assert found["entities"].to_dict() == {0: 3, 1: 2}
    assert found["inside"].to_dict() == {0: 1, 1: 1}
    assert np.isnan(found["low"]).all()


def test_communities_without_ranked_triples_are_left_out():
    communities = np.array([0, 0, 0, 0, 0, 0, 1])
    graph = replace(GRAPH, entities=(*GRAPH.entities, "e6"))
    graph = replace(graph, entity_labels=graph.entities)
    assert community_differences(pair_of(AB, "A", "B"), graph, communities)[
        "community"
    ].tolist() == [0]


def test_many_communities_are_sorted_once():
    """Looking through all triples for each of 100,000 communities would take a dozen seconds."""
    count = 100_000
    facts = np.stack([np.arange(count), np.zeros(count, int), np.arange(count) + count], axis=1)
    graph = make_graph(facts[:1], test=facts, entities=2 * count, relations=1)
    pair = tables({name: [np.full(count, rank)] * 2 for name, rank in (("A", 1), ("B", 2))}, graph)
    before = time.process_time()
    found = community_differences(pair, graph, np.tile(np.arange(count), 2))
    assert time.process_time() - before < 6
    assert len(found) == count
    assert (found["difference"] == 0.5).all()
