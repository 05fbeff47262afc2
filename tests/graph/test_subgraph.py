"""Random walks, neighbourhoods and induced triples by numbers.md#5-subgraphs."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.graph import subgraph as subgraphs
from kgdash.graph.subgraph import DIRECTIONS, SubgraphSampling, neighbourhood, random_walk
from tests.support.fakes import array, fake_run, make_graph, random_scorer

#: 0 → 1 → 2 → 3 → 0 and 4 → 3; 5 → 6 apart; 7 alone but for a loop
GRAPH = make_graph(
    [(0, 0, 1), (1, 0, 2), (2, 1, 3), (5, 0, 6), (7, 0, 7)], [(3, 0, 0)], [(4, 1, 3)]
)


def networkx_graph(graph, direction="either"):
    made = nx.Graph() if direction == "either" else nx.DiGraph()
    made.add_nodes_from(range(graph.num_entities))
    for head, _, tail in graph.all_triples.tolist():
        made.add_edge(*((tail, head) if direction == "incoming" else (head, tail)))
    return made


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 9))
    entity = st.integers(0, size - 1)
    triples = draw(st.lists(st.tuples(entity, st.integers(0, 1), entity), min_size=1, max_size=20))
    cut = draw(st.integers(1, len(triples)))
    return make_graph(triples[:cut], triples[cut:], (), size, 2)


class TestWalk:
    def test_starts_at_the_seed_and_stays_in_its_component(self):
        found = random_walk(GRAPH, 0, size=5)
        assert found.entities[0] == 0
        assert sorted(found.entities) == [0, 1, 2, 3, 4]
        assert found.note == ""

    def test_says_how_many_were_reached(self):
        found = random_walk(GRAPH, 5, size=60)
        assert found.entities.tolist() == [5, 6]
        assert found.note == "reached 2 of 60: the seed's component holds no more"

    def test_outgoing_and_incoming_walks_follow_the_arrows(self):
        assert random_walk(GRAPH, 0, size=4, direction="outgoing").entities.tolist() == [0, 1, 2, 3]
        assert random_walk(GRAPH, 4, size=60, direction="incoming").entities.tolist() == [4]

    @given(graphs(), st.sampled_from(DIRECTIONS), st.integers(1, 10), st.data())
    @settings(max_examples=30)
    def test_collects_exactly_what_can_be_reached(self, graph, direction, size, data):
        entity = data.draw(st.integers(0, graph.num_entities - 1))
        found = random_walk(graph, entity, size, direction=direction, seed=3)
        reachable = nx.descendants(networkx_graph(graph, direction), entity) | {entity}
        assert len(found.entities) == len(set(found.entities)) == min(size, len(reachable))
        assert set(found.entities) <= reachable
        assert bool(found.note) == (len(reachable) < size)
        # Each entity was stepped to from one collected before it.
        edges = networkx_graph(graph, direction)
        for place, other in enumerate(found.entities[1:], start=1):
            assert any(edges.has_edge(e, other) for e in found.entities[:place])

    def test_same_seed_same_subgraph(self):
        rng = np.random.default_rng(0)
        graph = make_graph(rng.integers(0, (60, 2, 60), size=(200, 3)))
        walks = [random_walk(graph, 4, 20, seed=s).entities.tolist() for s in (0, 0, 1, 2)]
        assert walks[0] == walks[1]
        assert walks[2] != walks[0] != walks[3] != walks[2]

    @pytest.mark.parametrize("restart", [0.0, 0.2, 0.8])
    def test_visits_as_often_as_the_chain_says(self, restart):
        """Seed 0 with neighbours 1 and 2; 3 hangs on 1.

        Once 1 is visited, let P be the chance that 3 comes before 2, standing on 1, and Q standing
        on 0. A step from 0 leads to 1 or 2 alike (a restart stays): Q = P / 2. From 1 it leads to
        3 with (1 − c) / 2 and to 0 otherwise: P = (1 − c) / 2 + (1 + c) / 2 · Q.
        So P = 2 (1 − c) / (3 − c).
        """
        graph = make_graph([(0, 0, 1), (0, 0, 2), (1, 0, 3)])
        walks = [random_walk(graph, 0, 3, restart, seed=s).entities.tolist() for s in range(800)]
        over_one = [walk[2] for walk in walks if walk[1] == 1]
        assert abs(len(over_one) / len(walks) - 0.5) < 4 * 0.5 / np.sqrt(len(walks))
        expected = 2 * (1 - restart) / (3 - restart)
        error = np.sqrt(expected * (1 - expected) / len(over_one))
        assert abs(np.mean([e == 3 for e in over_one]) - expected) < 4 * error

    def test_parallel_triples_do_not_make_a_neighbour_likelier(self):
        graph = make_graph([(0, r, 1) for r in range(9)] + [(1, 0, 0), (0, 0, 2)])
        second = [random_walk(graph, 0, 2, seed=s).entities[1] for s in range(400)]
        assert abs(np.mean(np.array(second) == 1) - 0.5) < 4 * 0.5 / np.sqrt(400)

    def test_gives_up_when_nothing_new_comes(self, monkeypatch):
        monkeypatch.setattr(subgraphs, "_PATIENCE", 3000)
        found = random_walk(GRAPH, 0, size=5, restart=1 - 1e-12)
        assert found.entities.tolist() == [0]
        assert found.note == "reached 1 of 5: no new entity in 3,000 steps"

    @pytest.mark.parametrize("restart", [-0.1, 1, 1.5, float("nan")])
    def test_restart_bounds(self, restart):
        with pytest.raises(KgdashError, match=r"restart probability in \[0, 1\)"):
            random_walk(GRAPH, 0, restart=restart)


class TestNeighbourhood:
    @given(graphs(), st.sampled_from(DIRECTIONS), st.integers(1, 3), st.data())
    @settings(max_examples=30)
    def test_hop_distances(self, graph, direction, hops, data):
        entity = data.draw(st.integers(0, graph.num_entities - 1))
        found = neighbourhood(graph, entity, 100, hops, direction)
        distance = nx.single_source_shortest_path_length(
            networkx_graph(graph, direction), entity, cutoff=hops
        )
        assert sorted(found.entities) == sorted(distance)
        order = [(distance[e], -graph.degrees[e], e) for e in found.entities]
        assert order == sorted(order)

    def test_cap_keeps_the_nearest_then_those_with_most_triples(self):
        # 0 – 1, 2, 3 (one hop), 4 – 7 hang on 3 and on one another, so have higher degrees.
        triples = [(0, 0, 1), (0, 0, 2), (0, 0, 3), (2, 1, 0)]
        triples += [(3, 0, 4), (4, 0, 5), (4, 1, 5), (4, 0, 6), (6, 0, 3), (4, 0, 7)]
        graph = make_graph(triples)
        assert graph.degrees.tolist() == [4, 1, 2, 3, 5, 2, 2, 1]
        kept = neighbourhood(graph, 0, size=5, hops=2)
        assert kept.entities.tolist() == [0, 3, 2, 1, 4]
        assert kept.note == "6 entities within 2 hops; kept the 5 nearest, then by degree"
        assert neighbourhood(graph, 0, size=3, hops=2).entities.tolist() == [0, 3, 2]

    def test_fewer_than_asked(self):
        found = neighbourhood(GRAPH, 0, size=10, hops=1)
        assert found.note == "reached 3 of 10: no more entities within 1 hop"

    @pytest.mark.parametrize("hops", [0, 4, -1])
    def test_hops(self, hops):
        with pytest.raises(KgdashError, match=f"1, 2 or 3 hops; found {hops}"):
            neighbourhood(GRAPH, 0, hops=hops)


class TestTriples:
    def test_both_ends_inside(self):
        found = neighbourhood(GRAPH, 0, size=60, hops=1)
        assert sorted(found.entities) == [0, 1, 3]
        assert found.triples().tolist() == [[0, 0, 1], [3, 0, 0]]
        assert found.triples(["train"]).tolist() == [[0, 0, 1]]
        assert found.triples(["test"]).tolist() == []
        assert found.triples([]).shape == (0, 3)

    def test_once_though_in_two_splits(self):
        graph = make_graph([(0, 0, 1)], [], [(0, 0, 1)])
        assert neighbourhood(graph, 0).triples().tolist() == [[0, 0, 1]]


@pytest.mark.parametrize("pick", [random_walk, neighbourhood])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": 0}, "size of at least 1 entity; found 0"),
        ({"size": -3}, "at least 1 entity; found -3"),
        ({"entity": 8}, r"entity id 8 is not in \[0, 8\)"),
        ({"entity": -1}, "entity id -1"),
        ({"direction": "up"}, "direction out of either, outgoing, incoming; found up"),
    ],
)
def test_refusals(pick, change, message):
    with pytest.raises(KgdashError, match=message):
        pick(GRAPH, **{"entity": 0, **change})


class TestOfARun:
    run = fake_run(GRAPH, random_scorer(8, 2))

    def test_by_name_label_and_id(self):
        for entity in ("e5", "E5", 5, np.int64(5)):
            assert self.run.subgraph(entity).entities.tolist() == [5, 6]

    def test_parameters_pick_it_again(self):
        for method in ("rwr", "neighbourhood"):
            first = self.run.subgraph("e0", method, size=3, seed=7, hops=2, direction="incoming")
            again = self.run.subgraph(first.seed_entity, first.method, **first.parameters)
            assert first.entities.tolist() == again.entities.tolist()
            assert (first.note, first.parameters) == (again.note, again.parameters)

    @pytest.mark.parametrize("change", [{"count": 0}, {"count": 1_000_001}, {"seed": -1}])
    def test_numbers_out_of_range(self, change):
        with pytest.raises(KgdashError, match="1 to 1,000,000 subgraphs and a seed ≥ 0; found"):
            SubgraphSampling(**change)

    def test_unknown_method(self):
        with pytest.raises(KgdashError, match="unknown method 'walk'"):
            self.run.subgraph("e0", "walk")

    def test_triples_are_this_graphs(self):
        assert self.run.subgraph("e5").triples().tolist() == array([(5, 0, 6)]).tolist()
