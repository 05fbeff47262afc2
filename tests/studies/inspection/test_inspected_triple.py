"""Triples are found by name or label, with one open side at most."""

import pytest

from kgdash.errors import KgdashError
from kgdash.studies.inspection.inspected_triple import InspectedTriple, find_triple
from tests.support.fakes import make_graph

GRAPH = make_graph([(0, 0, 1), (1, 1, 2)])


def test_names_and_labels_name_the_same():
    assert find_triple(GRAPH, "e0", "r1", "e2") == InspectedTriple(0, 1, 2)
    assert find_triple(GRAPH, "E0", "R1", "E2") == InspectedTriple(0, 1, 2)


@pytest.mark.parametrize(("side", "place"), [("head", 0), ("relation", 1), ("tail", 2)])
def test_one_side_may_be_open(side, place):
    names = ["e0", "r1", "e2"]
    names[place] = "?"
    found = find_triple(GRAPH, *names)
    assert (found.open_side, found.sides) == (side, (side,))
    names[place] = None
    assert found.names(GRAPH) == names
    assert found.labels(GRAPH) == [name and name.upper() for name in names]


def test_a_whole_triple_has_all_sides():
    found = find_triple(GRAPH, "e0", "r1", "e2")
    assert found.open_side is None
    assert set(found.sides) == {"head", "relation", "tail"}
    assert found.row.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("?", "r0", "?"), "at most one open side"),
        (("e9", "r0", "e1"), r"unknown entity 'e9'.*did you mean"),
        (("e0", "e1", "e2"), "unknown relation 'e1'"),
    ],
)
def test_refusals(names, message):
    with pytest.raises(KgdashError, match=message):
        find_triple(GRAPH, *names)
