"""A list of triples knows where one stands, by all three ids."""

import numpy as np

from kgdash.ui.widgets.inspect_link import TripleList, triple_address
from tests.support.fakes import make_graph


def test_the_place_of_a_triple():
    found = TripleList("digest", np.array([[0, 1, 2], [0, 1, 3], [0, 1, 2]]), "some")
    assert found.place((0, 1, 3)) == 1
    assert found.place((0, 1, 2)) == 0
    assert found.place((0, 2, 1)) is None
    assert found.place((0, 1, None)) is None


def test_addresses_are_names():
    graph = make_graph([(0, 0, 1)])
    assert triple_address(graph, np.array([0, 0, 1])) == {
        "head": "e0",
        "relation": "r0",
        "tail": "e1",
    }


def test_a_list_of_rows_has_each_triple_once_in_order():
    found = TripleList.of("digest", np.array([[3, 1, 2], [3, 1, 2], [0, 1, 3], [3, 1, 2]]), "some")
    assert found.triples.tolist() == [[3, 1, 2], [0, 1, 3]]
    assert TripleList.of("digest", np.empty((0, 3)), "none").triples.shape == (0, 3)
