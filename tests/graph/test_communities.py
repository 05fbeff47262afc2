"""Communities are named by what has the most triples inside."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.graph import communities
from kgdash.graph.communities import describe_communities, describe_members, find_communities
from tests.support.endless import Endless, GaveUpError, give_up
from tests.support.fakes import make_graph

#: entity 2 is an end of three triples inside, 1 of two, 0 of one loop and one more; 3 of none
GRAPH = make_graph([(0, 0, 0), (0, 1, 2), (1, 1, 2), (2, 0, 1), (3, 1, 4)], entities=6)


def labelled(*labels):
    return replace(GRAPH, entity_labels=labels)


def test_the_entities_of_most_triples_inside_and_the_most_frequent_relations():
    about = describe_communities(GRAPH, np.array([0, 0, 0, 0, 1, 1]), [1, 0])
    assert list(about) == [1, 0]
    assert about[0].central.tolist() == [2, 0, 1]
    assert (about[0].label, about[0].relations) == ("E2, E0, E1", "R0, R1")
    assert about[1].central.tolist() == [4, 5]
    assert (about[1].label, about[1].relations) == ("E4, E5", "")


@pytest.mark.parametrize("members", [[0, 1, 2, 3], [3, 2, 1, 0]])
def test_members_are_described_as_a_community_is(members):
    about = describe_members(GRAPH, np.array(members))
    expected = describe_communities(GRAPH, np.array([0, 0, 0, 0, 1, 1]), [0])[0]
    assert about.central.tolist() == expected.central.tolist()
    assert (about.label, about.relations) == (expected.label, expected.relations)


@pytest.mark.parametrize(
    ("lengths", "named"), [((20, 18, 18), 3), ((20, 18, 19), 2), ((58, 1, 1), 1), ((90, 1, 1), 1)]
)
def test_a_name_of_at_most_60_characters_but_one_entity_at_least(lengths, named):
    two, zero, one = (letter * length for letter, length in zip("abc", lengths, strict=True))
    about = describe_members(labelled(zero, one, two, "d", "e", "f"), np.arange(4))
    assert about.label == ", ".join([two, zero, one][:named])
    assert about.central.tolist() == [2, 0, 1]


def test_communities_of_entities_with_one_label_are_told_apart():
    """A click on any of five that were called alike showed the first one's answer sets."""
    about = describe_communities(labelled(*["concept"] * 6), np.arange(6) // 3, [0, 1])
    assert [about[number].label for number in (0, 1)] == [
        "concept (e2), concept (e0), concept (e1)",
        "concept (e3), concept (e4), concept (e5)",
    ]


def test_memory_is_not_communities_times_relations():
    graph = make_graph([(2 * i, i, 2 * i + 1) for i in range(2000)])
    tracemalloc.start()
    about = describe_communities(graph, np.arange(4000) // 2, [7, 1999])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (about[7].relations, about[1999].relations) == ("R7", "R1999")
    assert peak < 2**22


@pytest.mark.own_cache
def test_a_graph_whose_search_would_take_too_much_memory_is_refused(monkeypatch):
    graph = make_graph([(0, 0, 1), (1, 0, 2)], entities=30_000)
    monkeypatch.setenv("KGDASH_MEMORY", "64M")
    find_communities(graph)
    more = make_graph([(0, 0, 1), (1, 0, 2)], entities=100_000)
    with pytest.raises(KgdashError, match="give KGDASH_MEMORY a quarter"):
        find_communities(more)


def test_a_search_that_nobody_waits_for_ends(monkeypatch):
    endless = Endless()
    monkeypatch.setattr(communities.nx.community, "louvain_communities", endless)
    with pytest.raises(GaveUpError):
        find_communities(GRAPH, 0.123, progress=give_up)
    assert endless.ended.wait(30)


def test_many_communities_are_described_in_one_look_at_the_entities():
    graph = make_graph([(2 * i, 0, 2 * i + 1) for i in range(20_000)])
    compared = []

    class Counting(np.ndarray):
        def __eq__(self, other):
            compared.append(other)
            return super().__eq__(other)

    about = describe_communities(graph, (np.arange(40_000) // 2).view(Counting), [*range(20_000)])
    assert about[19_999].central.tolist() == [39_998, 39_999]
    assert len(compared) < 10
