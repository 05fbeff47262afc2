"""Ends of triples are counted as one counts them by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgdash.graph.ends import train_degrees, triple_ends
from tests.support.fakes import make_graph

TRIPLES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1), st.integers(0, 4)), max_size=30)


@given(TRIPLES)
def test_each_triple_is_at_each_of_its_entities_once(rows):
    triples = np.array(rows, dtype=np.int64).reshape(-1, 3)
    found = sorted(zip(*(part.tolist() for part in triple_ends(triples)), strict=True))
    assert found == sorted((end, row) for row, (h, _, t) in enumerate(rows) for end in {h, t})


def test_degrees_count_a_loop_once():
    graph = make_graph([(0, 0, 1), (0, 0, 0), (2, 0, 0)], entities=4)
    assert train_degrees(graph).tolist() == [3, 1, 1, 0]
