"""Valid and test triples that are train triples, against plain sets."""

from hypothesis import given
from hypothesis import strategies as st

from kgdash.graph.held_out import repeated_triples
from tests.support.fakes import make_graph

TRIPLES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2)), unique=True, max_size=6
)


@given(TRIPLES, TRIPLES, TRIPLES)
def test_against_sets(train, valid, test):
    graph = make_graph([(0, 0, 1), (2, 1, 0), *train], valid, test)
    splits = {name: set(map(tuple, graph.splits[name].tolist())) for name in graph.splits}
    pairs = (("valid", "train"), ("test", "train"), ("test", "valid"))
    both = {pair: len(splits[pair[0]] & splits[pair[1]]) for pair in pairs}
    assert repeated_triples(graph) == {pair: count for pair, count in both.items() if count}
